"""Exports: a warehouse's tables and views, or a star of them, in the files and databases of others.

`export.py` is the whole of it, top to bottom. Each sink is one file: `csv.py`, `duckdb.py`, …
They share `relations.py` (what is exported), `star.py`, `sink.py` (what a sink does) and
`addresses.py`.
"""

from __future__ import annotations

# What people may name, in messages and in the help of the command.
TARGETS = (
    "a directory or FILE.parquet (Parquet), FILE.duckdb, FILE.sqlite, DIR.csv (a directory of CSV "
    "files; with one --table a file), FILE.xlsx, FILE.hyper (Tableau), delta:DIR, "
    "iceberg:CATALOG, postgresql://HOST/DATABASE; or documents of one profile: eee:DIR (Every Eval "
    "Ever), lm-eval:DIR, hf:DIR (Hugging Face)"
)
