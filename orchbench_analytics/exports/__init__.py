"""Exports: a warehouse's tables and views, or a star of them, in the files and databases of others.

`export.py` is the whole of it, top to bottom. A sink is one format: `csv.py`, `duckdb.py`, …; other
modules hold what sinks share.
"""
