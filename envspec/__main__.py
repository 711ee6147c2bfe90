"""`python -m envspec`."""

from envspec.cli.main import main

main()
