"""What the oracle of states is made of (STATES.md): one file for each thing that the text defines."""
