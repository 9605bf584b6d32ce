"""Scoring plans."""
