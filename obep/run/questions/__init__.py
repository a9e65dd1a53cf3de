"""`obep why-not`: run a query over its input, and say why an event or a state did not come about."""
