"""One .mq5 with everything it includes as one C++ file: a class derived from mql::Program."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mt5bridge.emulator.translate.arithmetic import rewrite_divisions
from mt5bridge.emulator.translate.arrays import rewrite_arrays
from mt5bridge.emulator.translate.classes import enum_names, rewrite_types
from mt5bridge.emulator.translate.emit import Writer
from mt5bridge.emulator.translate.errors import SourceFile
from mt5bridge.emulator.translate.handlers import HANDLERS, Handler
from mt5bridge.emulator.translate.items import Item, ItemKind, split
from mt5bridge.emulator.translate.literals import rewrite_literals
from mt5bridge.emulator.translate.own_members import mark_own_members
from mt5bridge.emulator.translate.pointers import (
    rewrite_objects,
    rewrite_pointer_types,
    type_names,
)
from mt5bridge.emulator.translate.preprocess import Preprocessor
from mt5bridge.emulator.translate.references import mark_members, refuse_values
from mt5bridge.emulator.translate.scan import PLAIN_TYPES, is_operator
from mt5bridge.emulator.translate.statics import keep_statics
from mt5bridge.emulator.translate.strict import check
from mt5bridge.emulator.translate.tokens import Token, TokenKind

_HIDDEN = "mql_input_"
_FOLDERS = ("Experts", "Indicators", "Scripts", "Services")


@dataclass(frozen=True)
class Translation:
    """The C++ of a program, and the files it was made of (the .mq5 first)."""

    name: str
    cpp: str
    files: tuple[SourceFile, ...]


def translate(path: Path, include: Path) -> Translation:
    """Translate a program; `include` is the folder of `#include <...>`.

    Raises TranslationError with place and remedy, FileNotFoundError.
    """
    preprocessor = Preprocessor(include)
    tokens = rewrite(preprocessor.read(path))
    main = preprocessor.files[0]
    program = _Program(path, main, split(tokens), preprocessor.properties)
    return Translation(path.stem, program.cpp(), tuple(preprocessor.files))


def rewrite(tokens: list[Token]) -> list[Token]:
    """All changes of the language, in the order in which they build on each other."""
    check(tokens)
    tokens = rewrite_literals(tokens)
    tokens, pointers = rewrite_pointer_types(tokens, type_names(tokens))
    tokens = keep_statics(rewrite_arrays(tokens))
    rewrite_types(tokens)
    tokens = rewrite_objects(tokens, pointers)
    rewrite_divisions(tokens)
    mark_members(tokens)
    mark_own_members(tokens)
    refuse_values(tokens)
    return tokens


class _Program:
    def __init__(
        self, path: Path, main: SourceFile, items: list[Item], properties: dict[str, str]
    ) -> None:
        self._path, self._main, self._properties = path, main, properties
        self._shared: list[Item] = []
        self._members: list[Item] = []
        for item in items:
            self._sort(item)
        self._check_inputs(items)
        self._handlers = {
            item.name(): handler
            for item in self._members
            if item.part is ItemKind.FUNCTION and (handler := HANDLERS.get(item.name()))
        }
        if not self._handlers:
            raise items[0].first.error(
                f"{main.name} has no event handler", "write OnInit, OnTick, OnStart, ..."
            )

    def _sort(self, item: Item) -> None:
        inside = item.first.file is self._main
        if item.part is ItemKind.VARIABLE and not inside:
            raise item.first.error(
                "a variable outside of classes in an include file",
                "make it const, or a member of a class",
            )
        if item.part is ItemKind.INPUT and not inside:
            raise item.first.error("an input in an include file", "move it into the .mq5")
        if item.part is ItemKind.GROUP or (item.part is ItemKind.PROTOTYPE and inside):
            return
        own = item.part in (ItemKind.FUNCTION, ItemKind.VARIABLE, ItemKind.INPUT)
        (self._members if inside and own else self._shared).append(item)

    def _check_inputs(self, items: list[Item]) -> None:
        kinds = (ItemKind.VARIABLE, ItemKind.INPUT, ItemKind.FUNCTION)
        changing = {item.name() for item in items if item.part in kinds}
        macros = {_macro(item) for item in items if item.part is ItemKind.DEFINE}
        for item in self._members:
            if item.part is ItemKind.INPUT:
                _check_constant(item, changing, macros)

    def cpp(self) -> str:
        writer = Writer()
        space = f"mql::programs::program_{self._path.stem}"
        writer.raw(f'#include "mql5.hpp"\nnamespace {space} {{\nnamespace {{')
        for item in self._shared:
            writer.tokens(item.tokens)
            if item.part is ItemKind.TYPE and (names := enum_names(item.tokens)):
                writer.raw(names)
        writer.raw(self._head())
        for item in self._members:
            writer.tokens(self._member(item))
        writer.raw(self._foot())
        return writer.text()

    def _member(self, item: Item) -> list[Token]:
        drop = {"input", "sinput", "static", "extern"}
        if item.part is ItemKind.FUNCTION:
            return item.tokens
        if item.part is ItemKind.INPUT:
            _make_constant(item)
        return [token for token in item.tokens if token.text not in drop]

    def _head(self) -> str:
        bits = " | ".join(f"mql::{handler.bit}" for handler in self._handlers.values())
        return (
            f"const mql::ProgramInfo mql_facts{{{_quoted(self._path.stem)}, "
            f"{_quoted(self._place())}, mql::ProgramKind::{self._kind()}, {bits}, "
            f"{_quoted(self._properties.get('version', ''))}}};\n"
            "struct mql_base : mql::Program { mql_base() : mql::Program(mql_facts) {} };\n"
            "struct mql_instance final : mql_base {"
        )

    def _kind(self) -> str:
        if "OnStart" in self._handlers:
            return "script"
        return "indicator" if "OnCalculate" in self._handlers else "expert"

    def _place(self) -> str:
        """The name as iCustom and the terminal's navigator have it: Folder\\Name."""
        parts = self._path.resolve().with_suffix("").parts
        for index, part in enumerate(parts):
            if part in _FOLDERS:
                return "\\".join(parts[index + 1 :])
        return parts[-1]

    def _foot(self) -> str:
        lines = [
            self._handlers[item.name()].adapter(item.tokens)
            for item in self._members
            if item.part is ItemKind.FUNCTION and item.name() in self._handlers
        ]
        lines.append("void mql_list_inputs() {")
        lines += [_listed(item) for item in self._members if item.part is ItemKind.INPUT]
        lines.append("}\n};")
        lines.append(
            "std::unique_ptr<mql::Program> mql_make() { "
            "auto program = std::make_unique<mql_instance>(); "
            "program->mql_list_inputs(); return program; }\n"
            "const bool mql_registered = mql::register_program(mql_facts, mql_make);\n}\n}"
        )
        return "\n".join(lines)


def _make_constant(item: Item) -> None:
    """The terminal sets an input; the program sees it by a reference to a constant."""
    name, type_ = item.name(), item.tokens[1].text
    if named := item.named():
        named.before = _HIDDEN
    item.tokens[-1].after += f" const {type_} &{name} = {_HIDDEN}{name};"


def _check_constant(item: Item, changing: set[str], macros: set[str]) -> None:
    """Raise TranslationError if the value of an input is not known before the program runs."""
    for token, following in pairwise(item.tokens[3:]):
        if token.kind is not TokenKind.NAME:
            continue
        called = is_operator(following, "(") and token.text not in (PLAIN_TYPES | macros)
        if called or token.text in changing:
            raise token.error(
                f"the value of an input is no constant: {token.text}",
                "write a constant; set a variable in OnInit",
            )


def _macro(item: Item) -> str:
    """The name that a directive defines."""
    words = item.first.text.lstrip("# ").split(maxsplit=2)
    return words[1].partition("(")[0] if len(words) > 1 else ""


def _listed(item: Item) -> str:
    name, type_ = item.name(), item.tokens[1].text
    comment = _quoted(item.tokens[-1].comment)
    return f"mql::add_input(*this, {_quoted(name)}, {_quoted(type_)}, {comment}, {_HIDDEN}{name});"


def _quoted(text: str) -> str:
    return json.dumps(text)


__all__ = ["Handler", "Translation", "rewrite", "translate"]
