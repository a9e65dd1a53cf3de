"""The calls of the service: routes, their description, and what each of them does."""
