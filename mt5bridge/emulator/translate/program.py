"""One .mq5 with everything it includes as one C++ file: a namespace, and what calls it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mt5bridge.emulator.translate.arithmetic import rewrite_divisions
from mt5bridge.emulator.translate.arrays import rewrite_arrays
from mt5bridge.emulator.translate.classes import check_statics, enum_names, rewrite_types
from mt5bridge.emulator.translate.emit import Columns, Writer
from mt5bridge.emulator.translate.errors import SourceFile
from mt5bridge.emulator.translate.function_types import rewrite_function_types
from mt5bridge.emulator.translate.handlers import HANDLERS, Handler
from mt5bridge.emulator.translate.interfaces import rewrite_interfaces
from mt5bridge.emulator.translate.items import Item, ItemKind, split
from mt5bridge.emulator.translate.literals import rewrite_literals
from mt5bridge.emulator.translate.own_members import mark_own_members
from mt5bridge.emulator.translate.pointers import (
    rewrite_objects,
    rewrite_pointer_types,
    type_names,
)
from mt5bridge.emulator.translate.preprocess import Preprocessor
from mt5bridge.emulator.translate.prototypes import Prototypes, method_definition
from mt5bridge.emulator.translate.references import mark_members, refuse_values
from mt5bridge.emulator.translate.scan import PLAIN_TYPES, is_operator
from mt5bridge.emulator.translate.statics import keep_statics
from mt5bridge.emulator.translate.strict import check
from mt5bridge.emulator.translate.tokens import Token, TokenKind
from mt5bridge.emulator.translate.type_words import rewrite_typenames
from mt5bridge.emulator.translate.variables import is_computed, write_variables

_FOLDERS = ("Experts", "Indicators", "Scripts", "Services")


@dataclass(frozen=True)
class Translation:
    """The C++ of a program, the files it was made of (the .mq5 first), and where columns went."""

    name: str
    cpp: str
    files: tuple[SourceFile, ...]
    columns: Columns


def translate(path: Path, include: Path, library: Path | None = None) -> Translation:
    """Translate a program; `include` is the folder of `#include <...>`, `library` a second one.

    Raises TranslationError with place and remedy, FileNotFoundError.
    """
    preprocessor = Preprocessor(include, library)
    tokens = rewrite(preprocessor.read(path))
    main = preprocessor.files[0]
    program = _Program(path, main, split(tokens), preprocessor.properties)
    writer = program.written()
    return Translation(path.stem, writer.text(), tuple(preprocessor.files), writer.columns)


def rewrite(tokens: list[Token]) -> list[Token]:
    """All changes of the language, in the order in which they build on each other."""
    rewrite_interfaces(tokens)
    check(tokens)
    tokens = rewrite_literals(tokens)
    types = type_names(tokens)
    tokens, pointers = rewrite_pointer_types(tokens, types)
    tokens = rewrite_function_types(keep_statics(rewrite_arrays(tokens)))
    rewrite_typenames(tokens, types)
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
        self._path, self._items, self._properties = path, items, properties
        self._check_inputs()
        self._handlers = {
            item.name(): handler
            for item in items
            if item.part is ItemKind.FUNCTION and (handler := HANDLERS.get(item.name()))
        }
        if not self._handlers:
            raise items[0].first.error(
                f"{main.name} has no event handler", "write OnInit, OnTick, OnStart, ..."
            )

    def _check_inputs(self) -> None:
        kinds = (ItemKind.VARIABLE, ItemKind.INPUT, ItemKind.FUNCTION)
        self._changing = {item.name() for item in self._items if item.part in kinds}
        self._macros = {_macro(item) for item in self._items if item.part is ItemKind.DEFINE}
        for item in self._items:
            if item.part is ItemKind.INPUT:
                _check_constant(item, self._changing, self._macros)

    def written(self) -> Writer:
        check_statics(self._items)
        writer = Writer()
        writer.raw(f'#include "mql5.hpp"\nnamespace {self._space()} {{\nnamespace {{')
        writer.raw(f"mql::Places mql_places;\n{_types_ahead(self._items)}")
        prototypes = Prototypes(self._items)
        for number, item in enumerate(self._items):
            self._write(writer, prototypes, item, number)
        writer.raw(self._head())
        writer.raw(self._foot())
        return writer

    def _write(self, writer: Writer, prototypes: Prototypes, item: Item, number: int) -> None:
        if item.part is ItemKind.GROUP:
            return
        if item.part is ItemKind.PROTOTYPE:
            prototypes.prototype(writer, item)
            return
        prototypes.declare_for(writer, item)
        if self._is_variable(item):
            write_variables(writer, item, number)
            return
        if item.part is ItemKind.FUNCTION:
            writer.tokens(prototypes.definition(item))
        elif item.part is ItemKind.METHOD:
            writer.tokens(method_definition(item))
        else:
            writer.tokens(item.tokens)
        if item.part is ItemKind.TYPE and (names := enum_names(item.tokens)):
            writer.raw(names)

    def _is_variable(self, item: Item) -> bool:
        if item.part is ItemKind.CONSTANT:
            return is_computed(item, self._changing, self._macros)
        return item.part in (ItemKind.VARIABLE, ItemKind.INPUT)

    def _space(self) -> str:
        name = re.sub(r"\W", "_", self._path.stem, flags=re.ASCII)
        return f"mql::programs::program_{name}"

    def _head(self) -> str:
        bits = " | ".join(f"mql::{handler.bit}" for handler in self._handlers.values())
        return (
            f"const mql::ProgramInfo mql_facts{{{_quoted(self._path.stem)}, "
            f"{_quoted(self._place())}, mql::ProgramKind::{self._kind()}, {bits}, "
            f"{_quoted(self._properties.get('version', ''))}}};\n"
            "struct mql_instance final : mql::Program {\n"
            "mql_instance() : mql::Program(mql_facts, mql_places) {}"
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
            for item in self._items
            if item.part is ItemKind.FUNCTION and item.name() in self._handlers
        ]
        lines.append("void mql_list_inputs() {")
        lines += [
            _listed(item, number)
            for number, item in enumerate(self._items)
            if item.part is ItemKind.INPUT
        ]
        lines.append("}\n};")
        lines.append(
            "std::unique_ptr<mql::Program> mql_make() { "
            "auto program = std::make_unique<mql_instance>(); "
            "const mql::Residence here(*program); "
            "program->mql_list_inputs(); return program; }\n"
            "const bool mql_registered = mql::register_program(mql_facts, mql_make);\n}\n}"
        )
        return "\n".join(lines)


def _types_ahead(items: list[Item]) -> str:
    """The names of all types, since a function's prototype may come before them."""
    found = []
    for item in items:
        named = item.part is ItemKind.TYPE and len(item.tokens) > 1
        if not named or item.tokens[1].kind is not TokenKind.NAME:
            continue
        word, name = item.first.text, item.tokens[1].text
        if word in ("class", "struct", "union", "enum"):
            found.append(f"{word} {name}{' : int' if word == 'enum' else ''};")
    return "\n".join(found)


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


def _listed(item: Item, number: int) -> str:
    name, type_ = item.name(), item.tokens[1].text
    told = ", ".join(map(_quoted, (name, type_, item.tokens[-1].comment)))
    return f"mql::add_input(*this, {told}, mql_slot_{number}.value.{name});"


def _quoted(text: str) -> str:
    return json.dumps(text)


__all__ = ["Handler", "Translation", "rewrite", "translate"]
