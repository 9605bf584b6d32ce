"""A small committed sweep of our own making, with its figures under all profiles."""
