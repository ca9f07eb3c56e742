"""Includes and conditions: one stream of tokens out of a program's files."""

from __future__ import annotations

import re
from pathlib import Path

from mt5bridge.emulator.translate.errors import SourceFile
from mt5bridge.emulator.translate.tokens import Token, TokenKind, tokenize

_DIRECTIVE = re.compile(r"#\s*(\w+)\s*(.*)", re.DOTALL)
_INCLUDE = re.compile(r'[<"]([^>"]+)[>"]')
_DEFINED = ("__MQL__", "__MQL5__")


class Preprocessor:
    """Reads a program with everything it includes.

    `include` is the folder that `<...>` names are in, `library` another one for those that are not.
    """

    def __init__(self, include: Path, library: Path | None = None) -> None:
        self._include = include.resolve()
        self._library = library.resolve() if library else None
        self._defined = set(_DEFINED)
        self.files: list[SourceFile] = []
        self.properties: dict[str, str] = {}

    def read(self, path: Path) -> list[Token]:
        """All tokens that count; `#define` directives stay among them."""
        path = path.resolve()
        is_library = self._library is not None and path.is_relative_to(self._library)
        text = path.read_text(encoding="utf-8-sig")
        file = SourceFile(path, self._name(path), text, is_library)
        self.files.append(file)
        tokens: list[Token] = []
        active = [True]
        opened: list[Token] = []
        for token in tokenize(file):
            if token.kind is not TokenKind.DIRECTIVE:
                if all(active):
                    tokens.append(token)
                continue
            word, rest = self._split(token)
            if word in ("ifdef", "ifndef"):
                active.append((rest.split()[0] in self._defined) == (word == "ifdef"))
                opened.append(token)
            elif word in ("else", "endif"):
                self._turn(token, word, active, opened)
            elif all(active):
                tokens += self._directive(token, word, rest)
        if opened:
            raise opened[-1].error("a condition without its end", "close it with #endif")
        return tokens

    def _name(self, path: Path) -> str:
        roots = [one.parent for one in (self._include, self._library) if one]
        inside = [root for root in roots if path.is_relative_to(root)]
        return path.relative_to(inside[0]).as_posix() if inside else path.name

    @staticmethod
    def _split(token: Token) -> tuple[str, str]:
        match = _DIRECTIVE.match(re.sub(r"\s*//[^\n\"]*$", "", token.text))
        if match is None:
            raise token.error("a directive without a name", "write #include, #define, ...")
        return match.group(1), match.group(2).strip()

    @staticmethod
    def _turn(token: Token, word: str, active: list[bool], opened: list[Token]) -> None:
        if not opened:
            raise token.error(f"#{word} without a condition", "open it with #ifdef or #ifndef")
        if word == "else":
            active[-1] = not active[-1]
        else:
            active.pop()
            opened.pop()

    def _directive(self, token: Token, word: str, rest: str) -> list[Token]:
        if word == "include":
            return self._included(token, rest)
        if word == "property":
            name, _, value = rest.partition(" ")
            self.properties[name] = value.strip().strip('"')
            return []
        if word == "define":
            self._defined.add(re.split(r"\W", rest)[0])
            return [token]
        if word == "undef":
            self._defined.discard(rest)
            return [token]
        if word == "import":
            raise token.error("#import is refused", "use no DLL and no compiled library")
        raise token.error(f"#{word} is not translated", "use #include, #define, #ifdef, #property")

    def _place(self, relative: str, *, is_common: bool, beside: Path) -> tuple[Path, Path]:
        """The folder that an include means, and the file."""
        folders = [self._include, self._library] if is_common else [beside.parent]
        places = [(folder, (folder / relative).resolve()) for folder in folders if folder]
        return next((place for place in places if place[1].is_file()), places[0])

    def _included(self, token: Token, rest: str) -> list[Token]:
        match = _INCLUDE.match(rest)
        if match is None:
            raise token.error("an include without a file", "write #include <Folder\\File.mqh>")
        relative = match.group(1).replace("\\", "/")
        folder, path = self._place(relative, is_common=rest.startswith("<"), beside=token.file.path)
        if not path.is_file():
            remedy = "check name and folder"
            if rest.startswith("<"):
                remedy = (
                    'write #include "File.mqh" for one beside yours; MetaQuotes\' library lies in '
                    "your terminal's folder MQL5/Include: name that with --include"
                )
            raise token.error(f"there is no {relative} in {folder.name}", remedy)
        if any(file.path == path for file in self.files):
            return []  # everything is included once; its guard would hide it now
        return self.read(path)
