"""Rules about queries over windows and the other languages: one file each."""
