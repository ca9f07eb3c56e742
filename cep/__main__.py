"""`python -m cep` is `mt5cep`."""

from cep.cli import main

if __name__ == "__main__":
    main(prog_name="mt5cep")
