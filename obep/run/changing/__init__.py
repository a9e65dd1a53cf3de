"""Another query in a run that goes on."""
