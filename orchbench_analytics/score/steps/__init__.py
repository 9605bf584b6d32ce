"""Scoring sub-agent steps."""
