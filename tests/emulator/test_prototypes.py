"""Programs see MQL5's functions as the MQL5 Reference declares them: `prototypes.txt`.

Number of arguments, types and constness are compared by the compiler, in one file made of the
table, so that a call which MetaEditor would refuse does not compile here either.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from mt5bridge.emulator.build import _COMMON, SHIM, compiler
from tests.emulator.market import needs_compiler

TABLE = Path(__file__).with_name("prototypes.txt")
API = (
    *(SHIM / folder / "api.hpp" for folder in ("terminal", "broker")),
    *(SHIM / "terminal" / f"{name}_api.hpp" for name in ("bars", "objects")),
    *(SHIM / "language" / f"{name}.hpp" for name in
      "arrays calendar crypt errors files globals maths print strings".split()),
)  # fmt: skip
# Not in the table: what takes or gives any pointer, and what is there to be refused.
OTHERS = {"GetPointer", "CheckPointer", "EnumToString", "ArrayPrint"}
_PROTOTYPE = re.compile(r"(\w+) (\w+)\((.*)\)")
_PARAMETER = re.compile(r"(const )?(\w+) (&?)\w+(\[\])?(?: = (.+))?")
_DECLARED = re.compile(
    r"^(?:(?:inline )?[\w:<>]+ |MQL_COPY\()(i?[A-Z]\w+)(?:\((?:[^;{]*?\)) *(?:;|\{)|, \w+\)$)",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a prototype."""

    type: str
    is_const: bool
    is_reference: bool
    is_array: bool
    is_optional: bool

    @property
    def takes_literals(self) -> bool:
        """`const string &` of a built-in: everybody calls StringCompare with a literal."""
        return self.is_const and self.type == "string"

    def argument(self, *, const: bool = False, value: bool = False) -> str:
        """A C++ type whose value is given for it: a variable, a const variable or a value."""
        type_ = {"void": "double" if self.is_array or not self.is_reference else "Sample"}.get(
            self.type, self.type
        )
        type_ = f"array<{type_}>" if self.is_array else type_
        if const or (self.is_const and not value):
            return f"const {type_}&"
        return type_ if value or not self.is_reference else f"{type_}&"

    def exact(self) -> str:
        """The type of the shim's parameter."""
        const = "const " if self.is_const else ""
        if self.is_array:
            return f"array_ref<{const}{self.type}>"
        if self.is_reference:
            return f"{const}{self.type}&"
        return "const string&" if self.type == "string" else self.type


@dataclass(frozen=True)
class Prototype:
    """One line of the table."""

    result: str
    name: str
    parameters: tuple[Parameter, ...]
    is_variadic: bool

    @property
    def counts(self) -> range:
        """How many arguments may be given; one more than the fixed ones where any number may."""
        needed = sum(not one.is_optional for one in self.parameters)
        return range(needed, len(self.parameters) + 1 + self.is_variadic)

    def given(self, count: int) -> str:
        return ", ".join([*self._arguments(), "double"][:count])

    def _arguments(self) -> list[str]:
        return [one.argument() for one in self.parameters]

    def wrong(self) -> list[str]:
        """Arguments that must be refused: const or a value where a variable is wanted."""
        found = []
        for at, one in enumerate(self.parameters):
            if not one.is_reference:
                continue
            swapped = [] if one.is_const else [one.argument(const=True)]
            if not one.is_array and not one.takes_literals:
                swapped.append(one.argument(value=True))
            rest = self._arguments()
            found += [", ".join([*rest[:at], other, *rest[at + 1 :]]) for other in swapped]
        return found


def table() -> list[Prototype]:
    """The prototypes of the table."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [_prototype(line) for line in lines if line and not line.startswith("#")]


def _prototype(line: str) -> Prototype:
    match = _PROTOTYPE.fullmatch(line)
    assert match, line
    texts = [text for text in match[3].split(", ") if text]
    parameters = []
    for text in texts:
        if text == "...":
            continue
        found = _PARAMETER.fullmatch(text)
        assert found, text
        const, type_, reference, array, default = found.groups()
        parameters.append(
            Parameter(type_, bool(const), bool(reference), bool(array), default is not None)
        )
    return Prototype(match[1], match[2], tuple(parameters), "..." in texts)


def assertions(prototypes: list[Prototype]) -> str:
    """A C++ file that compiles if and only if the shim is as the table says."""
    by_name: dict[str, list[Prototype]] = defaultdict(list)
    for one in prototypes:
        by_name[one.name].append(one)
    lines = ['#include "mql5.hpp"', "namespace mql {", "struct Sample { int member; };"]
    for name, overloads in by_name.items():
        lines.append(
            f"template <class... A> concept takes_{name} = "
            f"requires(A&&... a) {{ {name}(static_cast<A&&>(a)...); }};"
        )
        counts = {count for one in overloads for count in one.counts}
        for one in overloads:
            lines += _lines(one, counts)
    return "\n".join([*lines, "}"])


def _lines(one: Prototype, counts: set[int]) -> list[str]:
    lines = [f"static_assert(takes_{one.name}<{one.given(count)}>);" for count in one.counts]
    lines += [f"static_assert(!takes_{one.name}<{wrong}>);" for wrong in one.wrong()]
    if not one.is_variadic:
        others = {one.counts[0] - 1, one.counts[-1] + 1} - counts - {-1}
        more = [one.given(count) for count in others]
        lines += [f"static_assert(!takes_{one.name}<{given.strip(', ')}>);" for given in more]
    if not any(parameter.type == "void" for parameter in one.parameters) and not one.is_variadic:
        types = ", ".join(parameter.exact() for parameter in one.parameters)
        if one.name not in ("ArrayBsearch", "ArrayInitialize"):  # for elements of any type
            lines.append(
                f"static_assert(static_cast<{one.result} (*)({types})>(&{one.name}) != nullptr);"
            )
    return lines


def compiled(text: str, folder: Path) -> str:
    """What the compiler says; empty if all is well."""
    path = folder / "assertions.cpp"
    path.write_text(text)
    command = [compiler(), *_COMMON, "-Wno-address", "-Wno-nonnull-compare", "-fsyntax-only"]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    return done.stderr


@needs_compiler
def test_functions_are_as_the_reference_declares_them(tmp_path: Path) -> None:
    assert compiled(assertions(table()), tmp_path) == ""


@needs_compiler
def test_other_prototypes_are_noticed(tmp_path: Path) -> None:
    """Constness, a default, a result's type, the number of arguments: one fault in each line."""
    wrong = (
        "bool OrderSend(MqlTradeRequest &request, const MqlTradeResult &result)",
        "int SocketRead(int socket, uchar &buffer[], uint size, uint timeout = 0)",
        "long StringLen(string text)",
        "bool SymbolSelect(string name)",
    )
    said = compiled(assertions([_prototype(line) for line in wrong]), tmp_path)
    assert [one.split("(")[0].split()[1] in said for one in wrong] == [True] * len(wrong)


def test_every_function_of_the_shim_is_in_the_table() -> None:
    declared = {name for path in API for name in _DECLARED.findall(path.read_text())} - OTHERS
    deleted = {name for name in declared if name.startswith("SocketTls")}
    assert len(declared) > 200
    assert declared - deleted == {one.name for one in table()}
