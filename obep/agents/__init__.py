"""For language models and for first steps: tools that look at a project and change nothing in it."""
