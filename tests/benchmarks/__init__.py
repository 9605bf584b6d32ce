"""Benchmarks: `make bench` runs them and prints each figure beside its bound."""
