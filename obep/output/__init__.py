"""Write occurrences as JSON, RDF and text for people, and read them back."""
