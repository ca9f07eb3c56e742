"""House rules for MQL5 and C++: sizes, plain text, the part of MQL5 that is used, no dead files."""

from __future__ import annotations

import re
import statistics

import pytest

from tests.tidy.native import MQL5, Native, blanked, blocks, native_files
from tests.tidy.sources import ROOT
from tests.tidy.test_tidy import report

FILE_LINES_MAX, FUNCTION_LINES_MAX = 600, 60
FILE_LINES_MEDIAN = 200
LANGUAGE_TESTS = "tests/emulator/language/"
# What MetaEditor does not accept, what our translator does not, and what we do without.
FORBIDDEN = {
    r"->": "a dot stands behind pointers too",
    r"\b(?:auto|nullptr|goto|namespace|template\s*<\s*class|decltype|constexpr)\b": "not MQL5",
    r"#\s*import\b": "no DLL",
    r"\bArraySetAsSeries\b": "arrays are counted from the oldest element",
    r"\boperator\s*[-+*/=<>!\[(]": "no operators of our own",
    r"\[\s*[&=]?\s*\]\s*\(": "no lambdas",
    r"\bSleep\s*\(": "nothing waits in the terminal's thread",
}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
MAY = {
    "Sleep": ("mql5/Scripts/", "mql5/Include/Mt5Bridge/Ending.mqh", "tests/"),
    "ArraySetAsSeries": ("tests/emulator/",),
}


def mql5_files() -> list[Native]:
    return [file for file in native_files() if file.is_mql5]


def test_there_are_files_to_check() -> None:
    assert len(mql5_files()) > 20
    assert len(native_files()) > 2 * 20


def test_file_sizes() -> None:
    lines = {file.place: file.text.count("\n") for file in native_files()}
    report(f"{place}: {count} lines" for place, count in lines.items() if count > FILE_LINES_MAX)
    assert statistics.median(lines.values()) <= FILE_LINES_MEDIAN


def test_function_sizes() -> None:
    report(
        f"{file.place}:{line}: a block of {count} lines"
        for file in native_files()
        for line, count in file.functions()
        if count > FUNCTION_LINES_MAX
    )


def test_plain_text() -> None:
    problems = {
        "a tab": re.compile(r"\t"),
        "blanks at the end of a line": re.compile(r"[ \t]+$", re.MULTILINE),
        "a carriage return": re.compile(r"\r"),
        "a character that is not ASCII": re.compile(r"[^\x00-\x7F]"),
        "no line feed at the end": re.compile(r"[^\n]\Z"),
    }
    report(
        f"{file.place}:{file.text.count(chr(10), 0, found.start()) + 1}: {problem}"
        for file in native_files()
        for problem, pattern in problems.items()
        for found in [pattern.search(file.text)]
        if found
    )


def test_every_file_says_what_it_is() -> None:
    report(
        f"{file.place}: the first line is no comment that says what the file is"
        for file in native_files()
        if not re.match(r"//\|? ?\S.{8,}", file.text)
    )


def test_no_unfinished_work() -> None:
    # Spelled in two halves so that the rule does not find itself.
    marks = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
    report(
        f"{file.place}: {found.group()}"
        for file in native_files()
        for found in marks.finditer(file.text)
    )


def forbidden(file: Native) -> list[str]:
    return [
        f"{file.place}:{file.code.count(chr(10), 0, found.start()) + 1}: {found.group()}: {reason}"
        for pattern, reason in FORBIDDEN.items()
        for found in re.finditer(pattern, file.code)
        if not file.place.startswith(MAY.get(found.group().rstrip(" ("), ()))
    ]


def test_only_the_agreed_part_of_mql5() -> None:
    report(problem for file in mql5_files() for problem in forbidden(file))


def test_no_standard_library() -> None:
    report(
        f"{file.place}: includes {name}, which is not ours"
        for file in mql5_files()
        for bracket, name in INCLUDE.findall(file.text)
        if bracket == "<" and not name.startswith("Mt5Bridge")
    )


def test_include_files_are_guarded_and_used() -> None:
    names = {
        name.replace("\\", "/").split("/")[-1]
        for file in mql5_files()
        for _, name in INCLUDE.findall(file.text)
    }
    for file in mql5_files():
        if file.path.suffix != ".mqh":
            continue
        guard = re.search(r"^#ifndef (\w+)\s+#define (\w+)$", file.text, re.MULTILINE)
        assert guard, f"{file.place}: no include guard"
        assert guard.group(1) == guard.group(2), f"{file.place}: the guard has two names"
        assert file.path.name in names, f"{file.place}: nothing includes it"


def test_headers_are_guarded_and_used() -> None:
    headers = [file for file in native_files() if file.path.suffix == ".hpp"]
    texts = "\n".join(file.text for file in native_files() if not file.is_mql5)
    for file in headers:
        guarded = re.search(r"^#pragma once|^#ifndef (\w+)\n#define \1$", file.text, re.MULTILINE)
        assert guarded, f"{file.place}: no include guard"
        named = f"/{file.path.name}" in texts or f'"{file.path.name}"' in texts
        assert named or file.path.name == "mql5.hpp", f"{file.place}: nothing includes it"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("p->x = 1;", True),
        ("p.x = 1;", False),
        ("// p->x", False),
        ('Print("->");', False),
        ("auto x = 1;", True),
        ('#import "a.dll"', True),
        ("bool operator==(const A &a) { return(true); }", True),
        ("Sleep(5);", True),
    ],
)
def test_the_rule_for_mql5_itself(code: str, found: bool) -> None:
    assert bool(forbidden(Native(ROOT / "mql5" / "a.mqh", code, blanked(code)))) is found


def test_the_measure_of_functions_itself() -> None:
    code = "class A {\n A() : m(1)\n {\n  if(x) {\n }\n }\n};\nint f() const {\n return(1);\n}\n"
    assert list(blocks(code)) == [(4, 2), (3, 4), (8, 3)]


def test_the_suffixes_are_those_of_the_terminal() -> None:
    assert MQL5 == (".mq5", ".mqh")
