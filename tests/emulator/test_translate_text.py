"""The C++ the translator writes: declarations, operands, includes, lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mt5bridge.emulator.translate import translate
from mt5bridge.emulator.translate.errors import SourceFile
from mt5bridge.emulator.translate.program import rewrite
from mt5bridge.emulator.translate.tokens import tokenize

CLASSES = "class Foo { public: int x; Foo *next; Foo *At(int i); }; "
REWRITTEN = [
    ("int a[], b[3], c;", "mql::array<int> a; mql::fixed<int, (3)> b; int c;"),
    ("const uchar t[2][3] = {{1}};", "const mql::fixed<mql::fixed<uchar, (3)>, (2)> t = {{1}};"),
    ("void F(const uchar &a[], Tick &b[]) {}",
     "void F(mql::array_ref<const uchar> a, mql::array_ref<Tick> b) {}"),
    ("string s = \"a\\\"b\\n\";", 'string s = MQL_TEXT(u"a\\"b\\012");'),
    ("ushort c = 'A';", "ushort c = mql::ushort(65);"),
    ("string s = NULL;", "string s = mql::null;"),
    ("x = a / b;", "x = a / mql::divisor(b);"),
    ("x = a / 2;", "x = a / 2;"),
    ("x = a % (b + 1) * c;", "x = a % mql::divisor((b + 1)) * c;"),
    ("x = a / -f(b)[1].y;", "x = a / mql::divisor(-f(b)[1].y);"),
    ("x = a / (double)b;", "x = a / mql::divisor((double)b);"),
    ("x /= a + b;", "x /= mql::divisor(a + b);"),
    ("x = sizeof(Foo) / n;", "x = (int)sizeof(Foo) / mql::divisor(n);"),
    ("double p = _Point;", "double p = mql::Point();"),
    ("#define NAME \"a\" // name", '#define NAME MQL_TEXT(u"a")'),
    ("enum E { A, B = 2 };", "enum E : int { A, B = 2 };"),
    ("datetime d = D'1970.01.02';", "datetime d = mql::datetime(86400L);"),
    ("ulong x = 18446744073709551615;", "ulong x = 18446744073709551615UL;"),
]  # fmt: skip
WITH_FOO = [
    ("Foo *p;", "mql::ptr<Foo> p;"),
    ("const Foo *p;", "mql::ptr<const Foo> p;"),
    ("Foo *list[];", "mql::array<mql::ptr<Foo>> list;"),
    ("int y = 2 * x;", "int y = 2 * x;"),
    ("p = new Foo(1); p.x = 2;", "p = mql::own(new Foo(1)); p.x = 2;"),
    ("a.next.next.x = 1;", "mql::ref(mql::ref(a.next).next).x = 1;"),
    ("a.At(1).x = 1;", "mql::ref(a.At(1)).x = 1;"),
    ("delete a.next;", "mql::dispose(a.next);"),
    ("f(&a, b & c);", "f(mql::GetPointer(a), b & c);"),
    ("((Foo *)a).x = 1;", "mql::ref(((mql::ptr<Foo>)a)).x = 1;"),
    ("b = dynamic_cast<Foo *>(a);", "b = mql::cast_pointer<Foo>(a);"),
    ("this.x = 1; f(this);", "(*this).x = 1; f(mql::GetPointer(*this));"),
]


def squeezed(text: str) -> str:
    """Without line numbers and with the blanks of MQL5 only where two words meet."""
    text = re.sub(r"^# \d.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\s+", " ", re.sub(r"\s*([^\w\s])\s*", r"\1", text)).strip()


def cpp(text: str) -> str:
    file = SourceFile(Path("a.mqh"), "a.mqh", text)
    tokens = rewrite(tokenize(file))
    return squeezed(" ".join(f"{token.before}{token.text}{token.after}" for token in tokens))


@pytest.mark.parametrize(("mql", "expected"), REWRITTEN)
def test_mql5_becomes_cpp(mql: str, expected: str) -> None:
    assert cpp(mql) == squeezed(expected)


@pytest.mark.parametrize(("mql", "expected"), WITH_FOO)
def test_pointers_become_descriptors(mql: str, expected: str) -> None:
    assert cpp(CLASSES + mql).removeprefix(cpp(CLASSES)).strip() == squeezed(expected)


def test_a_class_gets_a_virtual_destructor_and_a_plain_structure_is_packed() -> None:
    assert "virtual~A()=default;" in cpp("class A { int x; };")
    assert "virtual~A(void)" in cpp("class A { ~A(void) {} };")
    assert "pack(push,1)" in cpp("struct S { uchar a; double b; };")
    assert "pack" not in cpp("struct S { string a; double b; };")


def write(folder: Path, **files: str) -> Path:
    include = folder / "Include"
    include.mkdir()
    for name, text in files.items():
        (include / f"{name}.mqh").write_text(text, encoding="utf-8")
    return include


def test_every_file_is_included_once_and_conditions_hold(tmp_path: Path) -> None:
    include = write(
        tmp_path,
        One='#ifndef ONE\n#define ONE\n#include "Two.mqh"\nint One() { return(1); }\n#endif\n',
        Two="#ifdef ONE\nint Two() { return(2); }\n#else\nint Never() { return(0); }\n#endif\n",
    )
    program = tmp_path / "P.mq5"
    program.write_text("\ufeff#include <One.mqh>\n#include <.\\Two.mqh>\nvoid OnStart() {}\n")
    translation = translate(program, include)
    text = squeezed(translation.cpp)
    assert text.count("One()") == text.count("Two()") == 1
    assert "Never" not in text
    assert [file.name for file in translation.files] == [
        "P.mq5",
        "Include/One.mqh",
        "Include/Two.mqh",
    ]


def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    include = write(tmp_path, Far="\n" * 40 + "int Far() { return(1); }\n")
    program = tmp_path / "P.mq5"
    program.write_text(
        "#include <Far.mqh>\n\nint Near()\n  {\n   return(2);\n  }\nvoid OnStart() {}\n"
    )
    place, found = ("", 0), {}
    for line in translate(program, include).cpp.splitlines():
        if match := re.match(r'# (\d+) "(.*)"', line):
            place = (match.group(2), int(match.group(1)))
            continue
        for word in ("Far()", "Near()"):
            if word in squeezed(line):
                found.setdefault(word, place)
        place = (place[0], place[1] + 1)
    assert found["Far()"] == ("Include/Far.mqh", 41)
    assert found["Near()"] == ("P.mq5", 3)


def test_inputs_handlers_and_kind_are_listed(tmp_path: Path) -> None:
    program = tmp_path / "Experts" / "Folder" / "P.mq5"
    program.parent.mkdir(parents=True)
    program.write_text(
        '#property version "1.5"\n'
        'input group "Link"\n'
        "input int Port = 5655; // the daemon's port\n"
        "int OnInit() { return(INIT_SUCCEEDED); }\nvoid OnTick() {}\n"
    )
    text = translate(program, tmp_path).cpp
    assert '"Port", "int", "the daemon\'s port"' in text
    assert 'mql_facts{"P", "Folder\\\\P", mql::ProgramKind::expert' in text
    assert "mql::ON_INIT | mql::ON_TICK" in text
    assert '"1.5"' in text
