"""History as a test: what a query would have found, and how another version of it differs."""
