"""Exports: a warehouse's tables and views, or a star of them, in the files and databases of others.

`export.py` is the whole of it, top to bottom. Each sink is one file: `csv.py`, `duckdb.py`, …
They share `relations.py` (what is exported), `star.py`, `sink.py` (what a sink does) and
`addresses.py`.
"""
