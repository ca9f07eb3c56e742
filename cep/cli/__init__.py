"""The command line, `mt5cep`: one file per command, each loaded when it is called."""

from cep.cli.application import main

__all__ = ["main"]
