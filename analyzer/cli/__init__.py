"""The command line: one command a file, loaded when it is called."""

from analyzer.cli.app import main

__all__ = ["main"]
