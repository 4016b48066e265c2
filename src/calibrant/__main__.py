"""Lets ``python -m calibrant`` stand for the command line."""

from calibrant.cli import main

main()
