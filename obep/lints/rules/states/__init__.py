"""The rules about states and groups, one file each. They need no ontology, as those of `rules.query`."""
