"""Turning flattened answers into scores under a profile."""
