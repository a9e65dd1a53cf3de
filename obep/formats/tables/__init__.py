"""Tables in memory as records and items."""
