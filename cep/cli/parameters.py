"""The options `--param` and `--magic`: what a run says of its rules, for commands with these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from cep.cli.errors import UserError
from cep.lang import ParameterError
from cep.lang.cursor import LONG_MAX


def _given(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    return given_values(texts)


PARAMETERS = click.option(
    "--param", "parameters", multiple=True, metavar="NAME=VALUE", callback=_given,
    help="A value for a parameter of the rules, in place of theirs. Repeat it.",
)  # fmt: skip
"""The command gets a dictionary of texts."""
MAGIC = click.option(
    "--magic", type=click.IntRange(0, LONG_MAX),
    help="Magic number of positions for which the rules name none (default: 77).",
)  # fmt: skip


def given_values(texts: Iterable[str]) -> dict[str, str]:
    """What `--param NAME=VALUE` says; each parameter once."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            hint = "write NAME=VALUE, for example --param Width=2.5"
            raise UserError(f"--param {text}: says no value", hint)
        if name in found:
            raise UserError(f"--param {name} is given twice", "leave one of them out")
        found[name] = value
    return found


@contextmanager
def parameter_errors() -> Iterator[None]:
    """Around the reading of rules: what is wrong with values is told of the option."""
    try:
        yield
    except ParameterError as problem:
        raise UserError(f"--param: {problem}", problem.hint or None) from None
