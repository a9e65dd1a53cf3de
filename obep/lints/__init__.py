"""Rules about queries, ontologies, configuration and streams, and how they are run."""
