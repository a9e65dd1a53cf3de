"""`python -m obep` is `obep`."""

from obep.cli.main import main

main()
