"""What a warehouse answers: rows, scores, and which differences are real."""
