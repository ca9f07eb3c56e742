"""What is wrong with a settings file, in the words of whoever wrote it: section, key, remedy."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any, get_args

import msgspec

_PLACE = re.compile(r" - at `(?:key in )?\$\.?(?P<place>[^`]*)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>[^`]*)`")
_MISSING = re.compile(r"Object missing required field `(?P<key>[^`]*)`")
_WORDS = {
    "object": "a table", "array": "a list", "str": "text in quotes", "int": "a whole number",
    "float": "a number", "bool": "true or false", "null": "nothing",
}  # fmt: skip


def told(problem: msgspec.ValidationError, kind: type[msgspec.Struct]) -> str:
    """`rules.fil: no such key; did you mean file?`, of settings of a kind."""
    text = str(problem)
    found = _PLACE.search(text)
    place = found["place"] if found is not None else ""
    what = text[: found.start()] if found is not None else text
    if unknown := _UNKNOWN.match(what):
        keys = keys_of(kind, place)
        close = get_close_matches(unknown["key"], keys, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(keys)}"
        return f"`{_joined(place, unknown['key'])}`: no such {_noun(place)}; {hint}"
    if missing := _MISSING.match(what):
        return f"`{_joined(place, missing['key'])}` is missing, and has no default"
    what = re.sub(r"`(\w+)`", lambda one: _WORDS.get(one[1], one[0]), what)
    return f"`{place}`: {what[:1].lower()}{what[1:]}" if place else what


def keys_of(kind: type[msgspec.Struct], place: str) -> list[str]:
    """The keys of a section; those of the whole file for an empty place."""
    for name in filter(None, re.sub(r"\[[^\]]*\]", "", place).split(".")):
        inner: Any = next((f.type for f in msgspec.structs.fields(kind) if f.name == name), None)
        kinds = [one for one in (inner, *get_args(inner)) if _is_section(one)]
        if not kinds:
            return []
        kind = kinds[0]
    return [field.name for field in msgspec.structs.fields(kind)]


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _joined(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _noun(place: str) -> str:
    return "key" if place else "section or key"
