"""What g++ takes and MetaEditor would not is refused with line and rule; its neighbour passes.

Each pair is one rule of MQL5: a line that breaks it, and a line beside it that does not.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mt5bridge.emulator import build as building
from mt5bridge.emulator.translate import TranslationError, translate
from tests.emulator.market import needs_compiler

START = "void OnStart()\n  {\n   %s\n  }\n"
TYPES = (
    "struct Pair { int a; string b; };\n"
    "class Item { public: int n; Pair pair; Pair Both() { Pair p; p = pair; return(p); } };\n"
)
# What is declared outside of functions: wrong, right, and what the message says.
DECLARED = [
    ("void F(Pair p) { }", "void F(Pair &p) { }", "p is passed by value"),
    ("void F(const Item i) { }", "void F(const Item &i) { }", "i is passed by value"),
    ("void F(int a, MqlTick t) { }", "void F(int a, MqlTick &t) { }", "t is passed by value"),
    ("void F(int &a = g) { }", "void F(int a = 1) { }", "a reference with a default value"),
    ("Pair *p;", "Item *p;", "a pointer to Pair"),
    ("int *p;", "int p;", "a pointer to int"),
    ("void F(double *p) { }", "void F(double &p) { }", "a pointer to double"),
    ("class B : public Item, public C { };", "class B : public Item { };", "more than one base"),
    ("enum E : uchar { A };", "enum E { A };", "an enumeration with a type"),
    ("struct S { int a : 3; };", "struct S { int a; };", "a member of some bits"),
    ("template<class T> T F(T a) { return(a); }", "template<typename T> T F(T a) { return(a); }",
     "a template parameter that is no type"),
    ("template<int N> int F() { return(N); }", "int F() { return(1); }",
     "a template parameter that is no type"),
    ("template<typename T = int> T F(T a) { return(a); }", "int F(int a) { return(a); }",
     "a template parameter with more than a name"),
    ("template<> int F<int>(int a) { return(a); }", "int F(int a) { return(a); }",
     "a template's specialization"),
    ("bool operator==(const Pair &p, const Pair &q) { return(true); }",
     "struct Q { int a; bool operator==(const Q &q) { return(a == q.a); } };",
     "an operator outside of classes"),
    ("struct Q { int a; operator int() { return(a); } };",
     "struct Q { int a; int Int() { return(a); } };", "operator int cannot be overloaded"),
    ("struct Q { int operator()(int a) { return(a); } };",
     "struct Q { int operator[](int a) { return(a); } };", "operator ( cannot be overloaded"),
    ("typedef int Number;", "typedef int (*Number)(int);", "typedef of a type"),
    ("int (*g_call)(int);", "typedef int (*Call)(int);", "a pointer to a function"),
    ("void F(int a, ...) { }", "void F(int a) { }", "MQL5 has no ..."),
]  # fmt: skip
# The same of statements.
STATED = [
    ("int a = 2; do a--; while(a > 0);", "int a = 2; do { a--; } while(a > 0);", "do without"),
    ("int a = 010;", "int a = 0x10; Print(a, 0, 0.5);", "a number that begins with 0"),
    ("if(int a = Bars()) Print(a);", "int a = 1; if(a > 0) Print(a);", "a declaration in a cond"),
    ("switch(1) { case 1 ... 3: break; }", "switch(1) { case 1: case 2: break; }", "has no ..."),
    ("int a = 1 ?: 2;", "int a = true ? 1 : 2; Print(a);", "?: without its middle"),
    ("int a = ({ 1; });", "int a = (1); Print(a);", "statements as a value"),
    ("Print([](int a) { return(a); });", "int a[2]; a[0] = 1; Print(a[0]);", "without a name"),
    ("Item *all = new Item[3];", "Item *one = new Item; delete one;", "new of an array"),
    ("int a = __builtin_ctz(4);", "Print(__LINE__, __FILE__);", "belongs to the C++ compiler"),
]
# What needs types, so that the compiler finds it: reference parameters take variables.
FUNCTIONS = TYPES + (
    "void Change(int &a) { a = 1; }\n"
    "int Look(const int &a) { return(a); }\n"
    "int Wide(const long &a, const string &b) { return((int)a + StringLen(b)); }\n"
    "int Size(const Pair &p, int more = 1) { return(p.a + more); }\n"
    "int Read(const Item &i) { return(i.n); }\n"
    "Pair Made() { Pair p; p.a = 1; p.b = NULL; return(p); }\n"
    "class Box\n  {\n   Item *m_item;\npublic:\n   Box() { m_item = new Item; }\n"
    "   ~Box() { delete m_item; }\n   Item *At() { return(m_item); }\n"
    "   int Take(const Pair &p) { return(p.a); }\n  };\n"
)
# What a const method may hand on of its own object, or of one that it is derived from.
BASE = FUNCTIONS + "class Base { protected: Pair pair; };\n"
OWN = "class Own%d : public Base { Pair m_pair; int m_a; int m_all[]; public: %s };"
METHODS = [
    ("int F() const { return(Size(m_pair)); }", "int F() { return(Size(m_pair)); }"),
    ("int F() const { return(Size(pair, 2)); }", "int F() { return(Size(pair, 2)); }"),
    ("int F() const { return(Look(m_a)); }", "int F() const { int a = m_a; return(Look(a)); }"),
    ("int G(int a) const { return(a); } int F() const { return(G(Look(m_a))); }",
     "int G(int a) const { return(a); } int F() const { return(G(m_a)); }"),
    ("int F() const; }; int Own4::F() const { return(Size(m_pair)); } class Next4 {",
     "int F() const; }; int Own4::F() const { return(ArraySize(m_all)); } class Next4 {"),
]  # fmt: skip
REFERENCES = [
    ("Change(1);", "int a = 0; Change(a);"),
    ("const int a = 1; Change(a);", "int a = 1; Change(a);"),
    ("Print(Look(1));", "int a = 1; Print(Look(a));"),
    ("int a = 1; Print(Look(a + 1));", "int a = 1; int b = a + 1; Print(Look(b));"),
    ("int a = 1; string b; Print(Wide(a, b));", "long a = 1; string b; Print(Wide(a, b));"),
    ("long a = 1; Print(Wide(a, IntegerToString(2)));", "long a = 1; string b = IntegerToString(2);"
     " Print(Wide(a, b));"),
    ("Print(Wide(1, IntegerToString(2)));", "long a = 1; string b = \"\"; Print(Wide(a, b));"),
    ("Print(Size(Made()));", "Pair p = Made(); Print(Size(p));"),
    ("Item i; Print(Size(i.Both(), 2));", "Item i; Print(Size(i.pair, 2));"),
    ("Box b; Print(Read(b.At()));", "Box b; Item *i = b.At(); Print(Read(i));"),
    ("Box b; Print(Size(b.At().pair));", "Box b; Item *i = b.At(); Print(Size(i.pair));"),
    ("Box b; Print(b.Take(Made()));", "Box b; Pair p = Made(); Print(b.Take(p));"),
    ("const Item i = g_item; Print(Size(i.pair));", "Item i; Print(Size(i.pair));"),
    ("const Item i = g_item; Print(Look(i.n));", "const Item i = g_item; int n = i.n;"
     " Print(Look(n));"),
]  # fmt: skip


def translated(folder: Path, text: str) -> str:
    path = folder / "Program.mq5"
    path.write_text(text, encoding="utf-8")
    return translate(path, folder / "Include").cpp


@pytest.mark.parametrize(("wrong", "right", "problem"), DECLARED)
def test_a_declaration_that_is_not_mql5(
    wrong: str, right: str, problem: str, tmp_path: Path
) -> None:
    translated(tmp_path, f"{TYPES}{right}\n{START % ''}")
    with pytest.raises(TranslationError) as caught:
        translated(tmp_path, f"{TYPES}{wrong}\n{START % ''}")
    assert problem in caught.value.problem
    assert (caught.value.line, bool(caught.value.remedy)) == (3, True)


@pytest.mark.parametrize(("wrong", "right", "problem"), STATED)
def test_a_statement_that_is_not_mql5(wrong: str, right: str, problem: str, tmp_path: Path) -> None:
    translated(tmp_path, TYPES + START % right)
    with pytest.raises(TranslationError) as caught:
        translated(tmp_path, TYPES + START % wrong)
    assert problem in caught.value.problem
    assert (caught.value.line, bool(caught.value.remedy)) == (5, True)


def complaints(folder: Path, bodies: list[str]) -> dict[int, str]:
    """What the compiler says of a program with these bodies, by the body's number."""
    listed = "\n".join(f"   {{ {body} }}" for body in bodies)
    return said_of(folder, f"{FUNCTIONS}Item g_item;\n{START % listed}", FUNCTIONS.count("\n") + 4)


def said_of(folder: Path, text: str, first: int) -> dict[int, str]:
    """What the compiler says of a program, by line from `first` on."""
    source = folder / "Program.cpp"
    source.write_text(translated(folder, text))
    command = [building.compiler(), *building._COMMON, *building._PROGRAM, "-fsyntax-only"]
    done = subprocess.run(
        [*command, str(source)], capture_output=True, text=True, check=False, env={"LC_ALL": "C"}
    )
    found = re.findall(r"^Program.mq5:(\d+):\d+: error: (.*)$", done.stderr, re.MULTILINE)
    assert len(found) == done.stderr.count(" error: ")
    return {int(line) - first: message for line, message in found}


@needs_compiler
def test_a_const_method_hands_on_no_member(tmp_path: Path) -> None:
    """ "No member of a const object", in a const method neither of its own, but for arrays."""

    def said(methods: list[str]) -> dict[int, str]:
        classes = "\n".join(OWN % one for one in enumerate(methods))
        return said_of(tmp_path, f'#include "Base.mqh"\n{classes}\n{START % ""}', 2)

    (tmp_path / "Base.mqh").write_text(BASE)
    assert said([right for _, right in METHODS]) == {}
    wrong = said([wrong for wrong, _ in METHODS])
    assert sorted(wrong) == list(range(len(METHODS)))
    assert all("takes a variable" in message for message in wrong.values()), wrong


@needs_compiler
def test_a_reference_parameter_takes_a_variable(tmp_path: Path) -> None:
    """\"A reference parameter takes a variable\": no value, no conversion, no member of const."""
    assert complaints(tmp_path, [right for _, right in REFERENCES]) == {}
    said = complaints(tmp_path, [wrong for wrong, _ in REFERENCES])
    assert sorted(said) == list(range(len(REFERENCES)))
    by_rule = [number for number, message in said.items() if "takes a variable" in message]
    assert len(by_rule) == len(REFERENCES) - 1, said  # a const variable: the compiler's own words
