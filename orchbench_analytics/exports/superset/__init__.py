"""A bundle for Apache Superset: a database, datasets with their metrics, charts, one dashboard.

It is made from the star and from `metrics.py`; the rows stay in the database that Superset asks.
"""
