"""What is wrong with a settings file, in the words of whoever wrote it: section, key, remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Literal, get_args, get_origin

import msgspec

_PLACE = re.compile(r" - at `(?:key in )?\$\.?(?P<place>[^`]*)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>[^`]*)`")
_MISSING = re.compile(r"Object missing required field `(?P<key>[^`]*)`")
_WORDS = {
    "object": "a table", "array": "a list", "str": "text in quotes", "int": "a whole number",
    "float": "a number", "bool": "true or false", "null": "nothing",
}  # fmt: skip


def told(problem: msgspec.ValidationError, kind: type[msgspec.Struct], under: str = "") -> str:
    """`rules.fil: no such key; did you mean file?`, of settings of a kind that stand `under` a
    place of a file.
    """
    text = str(problem)
    found = _PLACE.search(text)
    inner = found["place"] if found is not None else ""
    place = _joined(under, inner) if inner else under
    what = text[: found.start()] if found is not None else text
    if unknown := _UNKNOWN.match(what):
        keys = keys_of(kind, inner)
        close = get_close_matches(unknown["key"], keys, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(keys)}"
        return f"`{_joined(place, unknown['key'])}`: no such {_noun(place)}; {hint}"
    if missing := _MISSING.match(what):
        return f"`{_joined(place, missing['key'])}` is missing, and has no default"
    what = re.sub(r"`(\w+)`", lambda one: _WORDS.get(one[1], one[0]), what)
    if what.startswith("Invalid enum value") and (choices := _choices(kind, inner)):
        what += f"; there are {', '.join(choices)}"
    return f"`{place}`: {what[:1].lower()}{what[1:]}" if place else what


def _choices(kind: type[msgspec.Struct], place: str) -> list[str]:
    """The texts that a key of a section may have."""
    *outer, key = _names(place) or [""]
    section = _section_at(kind, outer)
    fields = () if section is None else msgspec.structs.fields(section)
    return [text for field in fields if field.name == key for text in _texts(field.type)]


def _texts(kind: Any) -> list[str]:
    """What a `Literal` has, wherever in a type it stands."""
    if get_origin(kind) is Literal:
        return [one for one in get_args(kind) if isinstance(one, str)]
    return [text for inner in get_args(kind) for text in _texts(inner)]


def keys_of(kind: type[msgspec.Struct], place: str) -> list[str]:
    """The keys of a section; those of the whole file for an empty place."""
    section = _section_at(kind, _names(place))
    return [] if section is None else [field.name for field in msgspec.structs.fields(section)]


def _names(place: str) -> list[str]:
    """The keys that lead to a place, without those that a user has made up."""
    return [name for name in re.sub(r"\[[^\]]*\]", "", place).split(".") if name]


def _section_at(kind: type[msgspec.Struct], names: Iterable[str]) -> type[msgspec.Struct] | None:
    for name in names:
        inner: Any = next((f.type for f in msgspec.structs.fields(kind) if f.name == name), None)
        kinds = [one for one in (inner, *get_args(inner)) if _is_section(one)]
        if not kinds:
            return None
        kind = kinds[0]
    return kind


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _joined(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _noun(place: str) -> str:
    return "key" if place else "section or key"
