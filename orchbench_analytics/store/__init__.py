"""The warehouse on disk."""
