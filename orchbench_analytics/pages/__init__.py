"""What the report shows: data in columns, plan pictures, and the page that unpacks them."""
