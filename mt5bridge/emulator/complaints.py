"""What the C++ compiler says of a program, as its author would hear it from MetaEditor.

`File.mq5(line,column): text`, of the author's files alone: errors first, then what MetaEditor warns
about. Types have MQL5's names, and what has an MQL5 wording gets it; the rest is g++'s text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mt5bridge.emulator.missing import missing
from mt5bridge.emulator.translate import Translation
from mt5bridge.emulator.translate.references import RULE as REFERENCE

_LINE = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+):\s+(?P<text>.*)$")
_AT_LINE = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>)\s+(?P<text>.*)$")
_WARNING = re.compile(r" \[-W(?:error=)?[\w+=-]+\]$")
_MOST = 30
_BODY = "must have a body"

# How C++ names what MQL5 calls otherwise, in the order of replacement.
_TYPES = [
    (r" ?\{aka '?[^'{}]*'?\}", ""),
    (r"mql::programs::program_\w+::", ""),
    (r"\{anonymous\}::|<unnamed>::|\(anonymous namespace\)::", ""),
    (r"mql::distinct<mql::(\w+)_tag, [^>]*>", r"\1"),
    (r"mql::ptr<(const )?([\w:]+)>", r"\1\2 *"),
    (r"mql::array(?:_ref)?<([^<>]*)>", r"\1[]"),
    (r"mql::fixed<([^<>]*), (\d+)>", r"\1[\2]"),
    (r"mql::function<([^<>]*)>", r"\1"),
    (r"mql::null_t", "NULL"),
    (r"std::u16string|mql::string&?", "string"),
    (r"(?:const )?char16_t ?(?:\[\d+\]|\*)", "string"),
    (r"mql::", ""),
    (r"long unsigned int", "ulong"),
    (r"long int", "long"),
    (r"short unsigned int", "ushort"),
    (r"short int", "short"),
    (r"unsigned int", "uint"),
    (r"unsigned char", "uchar"),
]
# g++'s words, and MQL5's.
_WORDS = [
    (r"'([^']+)' was not declared in this scope.*", r"'\1' - undeclared identifier"),
    (r"'([^']+)' has not been declared.*", r"'\1' - undeclared identifier"),
    (r"'([^']+)' does not name a type.*", r"'\1' - undeclared type"),
    (r"'(?:class |struct |const )*([^']+)' has no member named '(\w+)'.*",
     r"'\2' - undeclared member of \1"),
    (r"too (?:few|many) arguments to function '[^'(]*?(\w+)\(.*", r"'\1' - wrong parameters count"),
    (r"(?:cannot convert|invalid conversion from) "
     r"'(?:const )?(?:bool|u?(?:char|short|int|long)|float|double)' to '(?:const char\*|string)'.*",
     "implicit conversion from 'number' to 'string'"),
    (r"cannot convert '(?:const )?string' to '(?:u?char|u?short|u?int|u?long|float|double)'.*",
     "implicit conversion from 'string' to 'number'"),
    (r"cannot convert '([^']+)' to '([^']+)'.*", r"cannot convert '\1' to '\2'"),
    (r"invalid conversion from '([^']+)' to '([^']+)'.*", r"cannot convert '\1' to '\2'"),
    (r"conversion from '([^']+)' to non-scalar type '([^']+)' requested",
     r"cannot convert '\1' to '\2'"),
    (r"conversion from '([^']+)' to '([^']+)'.* may change .*",
     r"possible loss of data due to type conversion from '\1' to '\2'"),
    (r"void value not ignored.*|invalid use of void expression.*",
     "expression of 'void' type is illegal"),
    (r"variable or field '(\w+)' declared void", r"'\1' - a variable of type 'void'"),
    (r"(?:assignment|increment|decrement) of (?:read-only|member) \w+ '(?:[^']*::)?(\w+)'.*",
     r"'\1' - constant cannot be modified"),
    (r"unused variable '(\w+)'", r"variable '\1' not used"),
    (r"variable '(\w+)' set but not used", r"variable '\1' is set and not used"),
    (r"(?:redefinition|redeclaration) of '[^']*?(\w+)(?:\(.*\).*)?'",
     r"identifier '\1' already used"),
    (r"conflicting declaration '[^']*?(\w+)'", r"identifier '\1' already used"),
    (r"declaration of '[^']*?(\w+)' shadows a (global|previous|member).*",
     r"declaration of '\1' hides a \2 one"),
    (r"declaration of '[^']*?(\w+)' shadows.*", r"declaration of '\1' hides another"),
    (r"expected (?:',' or )?';' before '?([^']+)'?(?: token)?", r"'\1' - semicolon expected"),
    (r"expected '(.)' (?:before|after|at) .*", r"'\1' expected"),
    (r"expected .* before '([^']+)'(?: token)?", r"'\1' - unexpected token"),
    (r"ignoring return value of '.*', declared with attribute 'nodiscard': '(.*)'", r"\1"),
    (r"invalid initialization of non-const reference .*|cannot bind non-const lvalue reference.*",
     "parameter passed as reference, variable expected"),
    (r"no return statement in function returning non-void|control reaches end of non-void.*",
     "not all control paths return a value"),
    (r"'([^']+)' (?:is|may be) used uninitialized.*",
     r"possible use of uninitialized variable '\1'"),
    (r"'[^']*?(\w+)(?:\(.*\).*)?' is (private|protected) within this context",
     r"'\1' - cannot access \2 member"),
    (r"(?:cannot declare variable|invalid new-expression of|cannot allocate an object of) .*"
     r"abstract (?:class )?type '(\w+)'.*", r"'\1' - cannot instantiate abstract class"),
    (r"no match for 'operator(\W+)' \(operand types are '([^']+)' and '([^']+)'\)",
     r"'\1' - illegal operation use of '\2' and '\3'"),
    (r"no match for call to .*", "a call of what is no function"),
    (r"'[^']*?(\w+)\([^']*' used but never defined", r"function '\1' must have a body"),
    (r"suggest parentheses around '&&' within '\|\|'.*",
     "check operator precedence for possible error; use parentheses to clarify it"),
    (r"comparison of integer expressions of different signedness: '(.*)' and '(.*)'",
     r"sign mismatch of '\1' and '\2'"),
    (r"suggest parentheses around assignment used as truth value",
     "an assignment as a condition: write ==, or a second pair of brackets"),
    (r".*'[^']*?(\w+)\([^']*' is unavailable: (.*)", r"'\1' - \2"),
    (r"no matching function for call to '[^']*?([~\w]+)(?:<[^']*>)?\(.*\).*",
     r"'\1' - no one of the overloads can be applied to the function call"),
    (r"call of overloaded '(\w+)\(.*' is ambiguous",
     r"'\1' - ambiguous call to overloaded function"),
    (r"static assertion failed: (.*)", r"\1"),
    (r"use of deleted function '[^']*?(\w+)\(.*", r"'\1' - not part of the emulated terminal"),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error or warning at a place of the author's files."""

    file: str
    line: int
    column: int
    text: str
    is_warning: bool

    def __str__(self) -> str:
        column = f",{self.column}" if self.column else ""
        kind = "warning: " if self.is_warning else ""
        return f"{self.file}({self.line}{column}): {kind}{self.text}"


def told(stderr: str, program: Translation) -> str:
    """The complaints about its files, one a line; g++'s whole text if there are none."""
    files = frozenset(file.name for file in program.files)
    complaints = _complaints(stderr.splitlines(), files)
    found = list(dict.fromkeys(_placed(one, program) for one in complaints))
    refused = {one.text.split()[0] for one in found if REFERENCE in one.text}
    found = [one for one in found if not (one.text.endswith(_BODY) and _name(one) in refused)]
    order = [file.name for file in program.files]
    found.sort(key=lambda one: (one.is_warning, order.index(one.file), one.line, one.column))
    if not found:
        return stderr.strip()
    rest = len(found) - _MOST
    lines = [str(one) for one in found[:_MOST]]
    return "\n".join([*lines, f"and {rest} more"] if rest > 0 else lines)


def _name(complaint: Complaint) -> str:
    """Of a function without a body: C++ takes the overload that refuses values for one."""
    return complaint.text.split()[1]


def _placed(one: Complaint, program: Translation) -> Complaint:
    """With the column of the source."""
    known = program.columns.get((one.file, one.line), ())
    columns = [own for made, own in known if made <= one.column]
    return replace(one, column=columns[-1]) if columns else one


def _complaints(lines: Sequence[str], files: frozenset[str]) -> Iterator[Complaint]:
    """An error in the shim is one of the place that led there, which g++ names before it."""
    led: re.Match[str] | None = None
    for number, line in enumerate(lines):
        match = _LINE.match(line) or _AT_LINE.match(line)
        if match is None:
            if line.startswith("In file included"):
                led = None
            continue
        is_ours = match["file"] in files
        text = match["text"]
        if is_ours and text.startswith("required from"):
            led = match
        if not text.startswith("error: "):
            continue
        place = match if is_ours else led
        if place is not None:
            notes = _notes(lines[number + 1 :])
            yield _complaint(place, text.removeprefix("error: "), notes)
        led = None


def _notes(lines: Sequence[str]) -> list[str]:
    """What g++ adds to an error."""
    found = []
    for line in lines:
        match = _LINE.match(line)
        if match is not None and match["text"].startswith("error: "):
            break
        if match is not None and match["text"].startswith("note: "):
            found.append(match["text"].removeprefix("note: ").strip())
    return found


def _complaint(place: re.Match[str], text: str, notes: Sequence[str]) -> Complaint:
    is_warning = _WARNING.search(text) is not None
    words = _in_mql5(_WARNING.sub("", text))
    words = _more_precise(words, list(map(_plain, notes)))
    return Complaint(
        place["file"], int(place["line"]), int(place["column"] or 0), words, is_warning
    )


def _plain(text: str) -> str:
    for pattern, words in _TYPES:
        text = re.sub(pattern, words, text)
    return text


def _in_mql5(text: str) -> str:
    text = _plain(text)
    for pattern, words in _WORDS:
        match = re.fullmatch(pattern, text)
        if match:
            said = match.expand(words)
            name = re.match(r"'(\w+)' - undeclared", said)
            known = missing(name.group(1)) if name else ""
            near = re.search(r"did you mean '(\w+)'", text)
            return said + (f" ({known})" if known else _near(near))
    return text


def _near(match: re.Match[str] | None) -> str:
    return f"; did you mean '{match.group(1)}'?" if match else ""


def _more_precise(words: str, notes: Sequence[str]) -> str:
    """Why a call fits no function, where there is one reason."""
    name = re.match(r"'([~\w]+)' - no one of the overloads", words)
    if name is None:
        return words
    counts = [one for one in notes if re.match(r"candidate expects .* provided", one)]
    conversions = [
        match
        for one in notes
        if (match := re.search(r"no known conversion for argument \d+ from '(.*)' to '(.*)'", one))
    ]
    if counts and not conversions:
        return f"'{name.group(1)}' - wrong parameters count"
    if len(conversions) == 1 and not counts:
        source, target = conversions[0].groups()
        return f"'{name.group(1)}' - cannot convert '{source}' to '{target}'"
    return words
