"""Tables and views for other tools."""
