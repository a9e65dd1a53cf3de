"""Sources: where items come from."""
