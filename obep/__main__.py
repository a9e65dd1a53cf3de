"""`python -m obep` is `obep`."""

from obep.cli import main

main()
