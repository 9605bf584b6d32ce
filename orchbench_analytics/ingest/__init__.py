"""From result files to flat tables."""
