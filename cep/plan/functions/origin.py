"""Where a function of the user stands, and what a change of it is known by."""

from __future__ import annotations

import hashlib
import inspect
import linecache
import marshal
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from cep.plan.signatures import Signature

DIGEST_LETTERS = 16
MARSHAL_VERSION = 2
"""Without references, which depend on what else the process holds."""
PLAIN = (type(None), bool, int, float, str, bytes)


class FunctionError(ValueError):
    """A function, or a file of functions, that cannot be used; `hint` is the remedy."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)


@dataclass(frozen=True, slots=True)
class Origin:
    """The file of a function and its whole text: what a function calls there is part of it."""

    place: str
    text: str


def origin_of(defined: Any) -> Origin:
    """Where a function or class comes from; without a file (`python -c`), its code is its text."""
    bare = inspect.unwrap(defined)
    try:
        place = inspect.getsourcefile(bare) or inspect.getfile(bare)
    except (OSError, TypeError):
        place = "this program"
    text = "".join(linecache.getlines(place))
    return Origin(place, text or "".join(map(_code_text, _codes(bare))))


def digest_of(signature: Signature, origin: Origin, defined: Any) -> str:
    """Another one for another signature or another text, or for other values it was made with."""
    bare = inspect.unwrap(defined)
    parts = (
        signature.name,
        repr((signature.parameters, signature.result, signature.added)),
        origin.text,
        getattr(bare, "__qualname__", type(bare).__qualname__),
        *_enclosed(bare),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGEST_LETTERS]


def _enclosed(bare: Any) -> Iterator[str]:
    """What tells functions apart that one line of a file makes: values from around them."""
    code = getattr(bare, "__code__", None)
    if not isinstance(code, CodeType):
        return
    yield str(code.co_firstlineno)
    for name, cell in zip(code.co_freevars, bare.__closure__ or (), strict=True):
        try:
            held = cell.cell_contents
        except ValueError:  # not filled yet
            held = None
        yield f"{name}={held!r}" if isinstance(held, PLAIN) else f"{name}: {type(held).__name__}"


def _codes(bare: Any) -> Iterator[CodeType]:
    """The code of a function, or of the methods of a class."""
    for one in vars(bare).values() if inspect.isclass(bare) else (bare,):
        code = getattr(one, "__code__", None)
        if isinstance(code, CodeType):
            yield code


def _code_text(code: CodeType) -> str:
    return marshal.dumps(code, MARSHAL_VERSION).hex()
