"""What several rules need to know about a query or a stream."""
