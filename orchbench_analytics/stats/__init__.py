"""Which differences are real: intervals, ranks, comparisons and consistency over runs."""
