"""The views of `sql/`, and queries over them."""
