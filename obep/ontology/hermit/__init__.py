"""The reasoner: Java, the OWL API, and what is asked of HermiT."""
