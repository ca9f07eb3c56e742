"""`docs/functions.md` from the tables of the plan: `python -m tests.docs.functions_page`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cep.plan.functions import AGGREGATORS, SCALARS, STREAM_FUNCTIONS
from cep.plan.signatures import Parameter, Signature
from cep.plan.types import Type
from cep.plan.windows import WINDOWS
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "functions.md"


class Part(NamedTuple):
    """A heading, what it says, and the functions below it."""

    title: str
    text: str
    signatures: tuple[Signature, ...]


def parts() -> tuple[Part, ...]:
    """The page in order."""
    scalars = [one.signature for one in SCALARS]
    following = tuple(s.signature for s in AGGREGATORS if s.remembers == "arrivals")
    held = tuple(s.signature for s in AGGREGATORS if s.remembers != "arrivals")
    return (
        Part(
            "Windows",
            "Behind a stream as `#window.name(..)`, or in `define window`.",
            tuple(one.signature for one in WINDOWS),
        ),
        Part(
            "Aggregators",
            "In `select` and `having`, over the rows in the window, of the row's group. Nulls are\n"
            "skipped, but `count` counts them.",
            held,
        ),
        Part(
            "Indicators",
            "Aggregators that follow the rows as they arrive, of the row's group: what leaves a\n"
            "window changes nothing.",
            following,
        ),
        Part(
            "Stream functions",
            "Behind a stream as `#name(..)`: they add attributes to each row.",
            STREAM_FUNCTIONS,
        ),
        Part("Functions", "In any expression.", _named(scalars, "")),
        Part("Functions of numbers", "", _named(scalars, "math")),
        Part("Functions of strings", "", _named(scalars, "str")),
        Part("Functions of times", "", _named(scalars, "time")),
    )


def _named(signatures: Iterable[Signature], namespace: str) -> tuple[Signature, ...]:
    return tuple(s for s in signatures if s.name.rpartition(":")[0] == namespace)


def text() -> str:
    """The page."""
    head = (
        "# Windows, functions and aggregators\n\n"
        "What may be called in [rules](rule-language.md). Names may be written in any case; an\n"
        "argument in `[ ]` may be left out, `..` stands for more of the kind. A constant must be\n"
        "written as one; other arguments are expressions. [Functions of your\n"
        "own](own-functions.md) are written in Python.\n"
    )
    return head + "".join(_part(part) for part in parts())


def _part(part: Part) -> str:
    """A heading with its table."""
    added = any(signature.added for signature in part.signatures)
    rows = "".join(_row(signature, added=added) for signature in part.signatures)
    columns = "| | meaning | adds |\n|---|---|---|\n" if added else "| | meaning |\n|---|---|\n"
    said = f"{part.text}\n\n" if part.text else ""
    return f"\n## {part.title}\n\n{said}{columns}{rows}"


def _row(signature: Signature, *, added: bool) -> str:
    cells = [_written(signature), signature.doc + _constants(signature)]
    if added:
        cells.append(", ".join(f"`{name}` {type_}" for name, type_ in signature.added))
    return f"| {' | '.join(cells)} |\n"


def _written(signature: Signature) -> str:
    """`name(a[, b])`, or each overload."""
    if signature.overloads:
        forms = [", ".join(form) for form in signature.overloads]
        return ", ".join(f"`{signature.name}({form})`" for form in forms)
    shown = ""
    for position, parameter in enumerate(signature.parameters):
        shown += _argument(parameter, ", " if position else "")
    return f"`{signature.name}({shown})`"


def _argument(parameter: Parameter, comma: str) -> str:
    shown = comma + parameter.name + (f"{comma or ', '}.." if parameter.repeated else "")
    return f"[{shown}]" if parameter.default is not None else shown


def _constants(signature: Signature) -> str:
    """What the table of arguments cannot say in the name: constants, their choices, attributes."""
    said = [
        f"`{parameter.name}` is {_article(parameter)}"
        for parameter in signature.parameters
        if parameter.kind != "value" and _says_more(parameter)
    ]
    return f"; {', '.join(said)}" if said else ""


def _says_more(parameter: Parameter) -> bool:
    return bool(parameter.choices) or parameter.kind not in ("constant", parameter.name)


def _article(parameter: Parameter) -> str:
    if parameter.choices:
        return parameter.wanted
    types = " or ".join(dict.fromkeys(str(type_) for type_ in parameter.types))
    if set(parameter.types) >= {Type.STRING, Type.BOOL, Type.DOUBLE}:
        types = ""
    noun = f"{types} {parameter.kind}".strip()
    return f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
