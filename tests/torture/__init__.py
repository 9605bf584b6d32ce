"""A long campaign against a warehouse: `python -m tests.torture --minutes 30`."""
