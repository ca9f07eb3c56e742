"""What is not translated is refused with file, line, column, the line itself, and a remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.emulator.translate import TranslationError, translate

START = "void OnStart() {}\n"
REFUSED = [
    ('#import "kernel32.dll"\n' + START, 1, 1, "#import is refused"),
    ("#include <Missing\\File.mqh>\n" + START, 1, 1, "there is no Missing/File.mqh"),
    ('#resource "a.bmp"\n' + START, 1, 1, "#resource is not translated"),
    ("#ifdef A\n" + START, 1, 1, "a condition without its end"),
    ("#endif\n" + START, 1, 1, "#endif without a condition"),
    ("int a;\n", 1, 1, "has no event handler"),
    ("void OnStart()\n{\n  x->y = 1;\n}\n", 3, 4, "MQL5 has no ->"),
    ("void OnStart()\n{\n  goto end;\n}\n", 3, 3, "goto is not MQL5"),
    ("void OnStart()\n{\n  auto x = 1;\n}\n", 3, 3, "auto is not MQL5"),
    ("void OnStart()\n{\n  Print(nullptr);\n}\n", 3, 9, "nullptr is not MQL5"),
    ('void OnStart()\n{\n  string s = "open;\n}\n', 3, 14, "a text that is not closed"),
    ("void OnStart()\n{\n  int a = 1 @ 2;\n}\n", 3, 13, "the character '@' is not MQL5"),
    ("void OnStart()\n{\n  if((1 > 0) {}\n}\n", 4, 1, "without its other half"),
    ("void OnStart()\n{\n  datetime d = D'2026.02.30';\n}\n", 3, 16, "no such date"),
    ("void OnStart()\n{\n  color c = C'red';\n}\n", 3, 13, "a color that is not understood"),
    ("void F(int values[]) {}\n" + START, 1, 12, "an array is not passed by value"),
    ("class A {};\nA **list;\n" + START, 2, 4, "a pointer to a pointer"),
    ("class A {};\nA *first, second;\n" + START, 2, 11, "a pointer and what is none"),
    ("class A {};\nA first, *second;\n" + START, 2, 10, "a pointer and what is none"),
    ("void OnStart()\n{\n  color c = C'1,2,256';\n}\n", 3, 13, "a color beyond 255"),
    ("class A {};\nvoid OnStart()\n{\n  A *a[];\n  delete[] a;\n}\n", 5, 3, "delete[] is not MQL5"),
    ("int n = 3;\ninput int X = n;\n" + START, 2, 15, "the value of an input is no constant"),
    ("input int X = 1;\ninput int Y = X + 1;\n" + START, 2, 15, "the value of an input is no"),
    ("input datetime T = TimeCurrent();\n" + START, 1, 20, "the value of an input is no constant"),
    ("void OnStart()\n{\n  class A { int x; };\n}\n", 3, 3, "a class inside of a function"),
    ("class A { void F() const { struct S { int x; }; } };\n" + START, 1, 28, "a struct inside"),
    ("void OnStart()\n{\n  static A a(1);\n}\n", 3, 12, "a static variable with arguments"),
    ("void OnStart()\n{\n  int a[2] = {1, 2, 3};\n}\n", 3, 7, "3 values for 2 elements"),
    ("int a[2][2] = {{1}, {1, 2, 3}};\n" + START, 1, 5, "3 values for 2 elements"),
    ("class A\n{\n  int m_n = 1;\n};\n" + START, 3, 11, "a member with an initial value"),
    ("class A\n{\n  int &m_n;\n};\n" + START, 3, 7, "a reference that is no parameter"),
    ("void OnStart()\n{\n  int a = 1;\n  int &b = a;\n}\n", 4, 7, "a reference that is no"),
    ("class A {};\nA &Get() { }\n" + START, 2, 3, "a reference that is no parameter"),
    ("void OnStart()\n{\n  int a{1};\n}\n", 3, 8, "an initial value in braces"),
    ("void OnStart()\n{\n  a = {1};\n}\n", 3, 7, "braces assigned to a variable"),
    ("void OnStart()\n{\n  for(int x : xs) {}\n}\n", 3, 3, "a loop over a range"),
    ("enum class E { A };\n" + START, 1, 1, "enum class is not MQL5"),
    ("void OnStart()\n{\n  size_t n = 1;\n}\n", 3, 3, "size_t belongs to C or C++"),
    ("void OnStart()\n{\n  long long n = 1;\n}\n", 3, 3, "long long is not MQL5"),
    ("class A { A() = default; };\n" + START, 1, 17, "= default is not MQL5"),
    (f"int {'x' * 64};\n" + START, 1, 5, "a name of 64 characters"),
    ("class A\n{\n  static int s_n;\n};\n" + START, 3, 14, "unresolved static variable A::s_n"),
    (
        "template<typename T>\nclass A\n{\n  static int s_n;\n};\n" + START,
        4,
        14,
        "a static member of a template",
    ),
    ("class A\n{\n  static int s_n = 1;\n};\n" + START, 3, 18, "a member with an initial value"),
    ("interface I\n{\n  int m_n;\n};\n" + START, 3, 3, "what an interface cannot have"),
    ("interface I\n{\n  int Get() { return(1); }\n};\n" + START, 3, 3, "what an interface cannot"),
    ("namespace N { int a; }\n" + START, 1, 1, "namespaces are not part of the emu"),
]


def refusal(folder: Path, text: str) -> TranslationError:
    path = folder / "Program.mq5"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TranslationError) as caught:
        translate(path, folder / "Include")
    return caught.value


@pytest.mark.parametrize(("text", "line", "column", "problem"), REFUSED)
def test_the_error_names_the_place(
    text: str, line: int, column: int, problem: str, tmp_path: Path
) -> None:
    error = refusal(tmp_path, text)
    assert problem in error.problem
    assert (error.line, error.column) == (line, column)
    assert error.remedy


def test_the_message_shows_the_line_a_caret_and_a_remedy(tmp_path: Path) -> None:
    error = refusal(tmp_path, "void OnStart()\n  {\n   x->y = 1;\n  }\n")
    assert str(error).splitlines() == [
        "Program.mq5(3,5): MQL5 has no ->",
        "     x->y = 1;",
        "      ^",
        "  write a dot",
    ]


def test_an_error_in_an_include_file_names_that_file(tmp_path: Path) -> None:
    include = tmp_path / "Include"
    include.mkdir()
    (include / "Odd.mqh").write_text("// odd\nint g_count = 010;\n", encoding="utf-8")
    error = refusal(tmp_path, "#include <Odd.mqh>\n" + START)
    assert (error.file.name, error.line) == ("Include/Odd.mqh", 2)
