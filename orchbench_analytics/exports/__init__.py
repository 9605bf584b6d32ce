"""Exports: a warehouse's tables and views, or a star of them, in the files and databases of others.

`export` is the whole of it, top to bottom; every other room is a sink or something sinks share.
"""
