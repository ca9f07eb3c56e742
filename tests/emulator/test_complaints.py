"""What the compiler finds is told of the author's lines and in MQL5's words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mt5bridge.emulator import build as building
from mt5bridge.emulator.build import BuildError, build
from mt5bridge.emulator.complaints import told
from mt5bridge.emulator.missing import missing
from mt5bridge.emulator.translate import translate
from tests.emulator.market import needs_compiler

HEAD = """class Base { int m_own; public: virtual int Get() = 0; };
class Item { int m_own; public: int Get(int a) { return(a); } };
enum Kind { FIRST };
struct Pair { int a; };
void Nothing(void) { }
int Two(int a, string b) { return(a + StringLen(b)); }
void Change(int &a) { a = 1; }
const int LIMIT = 1;
input double Lots = 0.1;
void Deep(void)
  {
"""
# A statement in braces, its column where the complaint points, and its words.
ERRORS = [
    ("Print(unknown_one);", 7, "'unknown_one' - undeclared identifier"),
    ("int h = iMACD(_Symbol);", 9, "'iMACD' - undeclared identifier (of the indicators iMA, iRSI, "
     "iATR and iCustom are part of the emulated terminal)"),
    ("color c = clrRedd;", 11, "'clrRedd' - undeclared identifier (no web colour of the reference; "
     "write C'255,128,0')"),
    ("Print(SymbolInfoDouble(_Symbol, SYMBOL_BIDD));", 33,
     "'SYMBOL_BIDD' - undeclared identifier; did you mean 'SYMBOL_BID'?"),
    ("Unknown u;", 1, "'Unknown' - undeclared identifier"),
    ("Print(Two(1));", 10, "'Two' - wrong parameters count"),
    ("Print(Two(1, \"a\", 2));", 10, "'Two' - wrong parameters count"),
    ("Print(MathSqrt(1, 2));", 15, "'MathSqrt' - wrong parameters count"),
    ("Print(Two(\"x\", \"b\"));", 11, "implicit conversion from 'string' to 'number'"),
    ("string s = 5;", 12, "implicit conversion from 'number' to 'string'"),
    ("Kind k = 5;", 10, "cannot convert 'int' to 'Kind'"),
    ("datetime t = TimeCurrent() + \"x\";", 28, "cannot convert 'string' to 'datetime'"),
    ("int v = Nothing();", 16, "expression of 'void' type is illegal"),
    ("Base b;", 6, "'Base' - cannot instantiate abstract class"),
    ("Item i; Print(i.m_own);", 17, "'m_own' - cannot access private member"),
    ("MqlTick t; t.foo = 1;", 14, "'foo' - undeclared member of MqlTick"),
    ("LIMIT = 2;", 7, "'LIMIT' - constant cannot be modified"),
    ("Lots = 2;", 6, "'Lots' - constant cannot be modified"),
    ("int x = 1; double x = 2;", 19, "identifier 'x' already used"),
    ("Pair p, q; p = p + q;", 18, "'+' - illegal operation use of 'Pair' and 'Pair'"),
    ("Change(1);", 7, "'Change' - a reference parameter takes a variable; put the value (or the "
     "member of a const object, or of what a function returns) into a variable first"),
    ("Item *p = new Item; p.Get(\"a\");", 27, "implicit conversion from 'string' to 'number'"),
    ("Pair p[]; ArrayPrint(p);", 21, "'ArrayPrint' - arrays of numbers and texts with one "
     "dimension can be printed here"),
    ("Pair p; Print(typename(p));", 25, "typename of a plain type only"),
    ("int n = 1\n  Print(n);", 3, "'Print' - semicolon expected"),
]  # fmt: skip
WARNINGS = [
    ("int unused = 1;", 5, "variable 'unused' not used"),
    ("double d = 1.5; int n = d; Print(n);", 25,
     "possible loss of data due to type conversion from 'double' to 'int'"),
    ("int a = 1; if(a = 2) Print(a);", 17,
     "an assignment as a condition: write ==, or a second pair of brackets"),
    ("MqlTradeRequest r = {}; MqlTradeResult s = {}; OrderSend(r, s);", 57,
     "check what OrderSend returns"),
    ("int a = 1; if(a > 0) { int a = 2; Print(a); }", 28,
     "declaration of 'a' hides a previous one"),
]  # fmt: skip


def said(folder: Path, cases: list[tuple[str, int, str]]) -> list[str]:
    """The lines of the error of a program with all of these bodies."""
    body = "\n".join(f"{{\n{statement}\n}}" for statement, _, _ in cases)
    path = folder / "Odd.mq5"
    path.write_text(f"{HEAD}{body}\n  }}\nvoid OnStart() {{ Deep(); }}\n", encoding="utf-8")
    with pytest.raises(BuildError) as caught:
        build([path])
    return str(caught.value).splitlines()


def expected(cases: list[tuple[str, int, str]], kind: str = "") -> dict[str, str]:
    """By statement the line that tells of it."""
    line, found = HEAD.count("\n") + 1, {}
    for statement, column, words in cases:
        at = line + 1 + statement.count("\n")
        found[statement] = f"Odd.mq5({at},{column}): {kind}{words}"
        line = at + 2
    return found


@needs_compiler
def test_errors_are_told_in_mql5s_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "File.mq5(line,column): text", all of the author's lines, errors before warnings."""
    monkeypatch.setattr(building, "shim_parts", dict)
    lines = said(tmp_path, ERRORS)
    assert {one: one in lines for one in expected(ERRORS).values()} == dict.fromkeys(
        expected(ERRORS).values(), True
    ), "\n".join(lines)
    assert all(line.startswith(("Odd.mq5(", "and ")) for line in lines)
    warned = [": warning: " in line for line in lines if line.startswith("Odd")]
    assert warned == sorted(warned)


@needs_compiler
def test_warnings_are_told_in_mql5s_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "shim_parts", dict)
    lines = said(tmp_path, WARNINGS)
    assert sorted(lines) == sorted(expected(WARNINGS, "warning: ").values())


def test_what_is_of_no_file_of_the_author_is_told_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "P.mq5"
    path.write_text("void OnStart() {}\n")
    program = translate(path, tmp_path / "Include")
    assert told("ld: no memory\n", program) == "ld: no memory"
    led = "In file included from x:\nP.mq5:1:3:   required from here\n"
    deep = f"{led}shim.hpp:9:1: error: odd mql::string\n"
    assert told(deep, program) == "P.mq5(1,1): odd string"


def test_many_complaints_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "P.mq5"
    path.write_text("void OnStart() {}\n")
    text = "".join(f"P.mq5:{line}:1: error: odd\n" for line in range(1, 41))
    lines = told(text, translate(path, tmp_path / "Include")).splitlines()
    assert len(lines) == 31
    assert lines[-1] == "and 10 more"


def test_each_family_that_is_missing_has_a_reason() -> None:
    names = "iMACD SetIndexBuffer DRAW_LINE TextOut WebRequest TesterStatistics DatabaseOpen"
    assert all(missing(name) for name in names.split())
    assert not missing("OrderSend")
    assert not re.search("[A-Z]{5}", missing("iMACD"))
