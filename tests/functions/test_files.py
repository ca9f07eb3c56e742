"""Files of functions and installed packages: what is found there, and what is wrong with them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cep.functions import FunctionError, changed_files, load_functions, loaded_files
from cep.lang import RuleError
from cep.plan import compile_rules
from tests.functions.own import FILE, RULES, STREAM, loaded, written
from tests.waiting import LONG_S

HEAD = "from cep.functions import function, indicator\n"
F = "@function\ndef {}(x: float) -> float:\n    return x\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = (\n", "own.py:1: SyntaxError: '\\(' was never closed"),
        ("\nimport no_such_module\n", "own.py:2: ModuleNotFoundError: .*install what it imports"),
        ("x = 1\n", "own.py: makes no function known; put `@function`"),
        ("import sys\nsys.exit(3)\n", "own.py:2: SystemExit: 3"),
        ("def f():\n    return 1 / 0\nf()\n", "own.py:2: ZeroDivisionError"),
        (HEAD + "@function\ndef f(x) -> float: ...\n", "own.py:2: function `f`: annotate its arg"),
        (HEAD + F.format("avg"), "own.py:2: `avg` is an aggregator already; give it another name"),
        (HEAD + F.format("a") + F.format("A"), "own.py:5: `A` is defined twice"),
        (HEAD + "@indicator\nclass A: ...\n", "own.py:2: indicator `A` has no method `update`"),
    ],
)
def test_what_is_wrong_names_line_and_remedy(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FunctionError, match=message) as refused:
        loaded(tmp_path, text)
    assert str(refused.value).count("own.py") == 1


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FunctionError, match=r"none\.py: no such file"):
        load_functions([tmp_path / "none.py"])
    with pytest.raises(FunctionError, match=re.escape(str(tmp_path))):
        load_functions([tmp_path])
    with pytest.raises(FunctionError, match=r"give \['own\.py'\]"):
        load_functions("own.py")
    path = tmp_path / "latin.py"
    path.write_bytes("# für".encode("latin-1"))
    with pytest.raises(FunctionError, match=r"latin\.py: not UTF-8 at byte 3"):
        load_functions([path])


def test_two_files_with_one_name_name_both(tmp_path: Path) -> None:
    first = written(tmp_path)
    other = written(tmp_path, HEAD + F.format("f").replace("@f", "@f", 1), "f.py")
    clash = written(tmp_path, HEAD + F.format("f"), "g.py")
    load_functions([first, other, first])
    assert [Path(file.path) for file in loaded_files()] == [first, other]
    with pytest.raises(FunctionError, match=r"g.py:2: `f` is defined in .*f.py already"):
        load_functions([other, clash])


def test_after_a_failure_all_is_as_before(tmp_path: Path) -> None:
    loaded(tmp_path)
    with pytest.raises(FunctionError):
        load_functions([written(tmp_path, HEAD + F.format("f") + "1 / 0\n", "f.py")])
    assert compile_rules(RULES).queries
    with pytest.raises(RuleError, match="unknown function `f`"):
        compile_rules(STREAM + "from Tick select f(bid) as x insert into Out;")


def test_other_files_replace_them(tmp_path: Path) -> None:
    loaded(tmp_path)
    loaded(tmp_path, HEAD + F.format("f"), "f.py")
    with pytest.raises(RuleError, match="unknown"):
        compile_rules(RULES)


def test_a_file_that_has_changed_is_known(tmp_path: Path) -> None:
    path = loaded(tmp_path)
    assert changed_files() == []
    written(tmp_path, FILE + "\n# more\n")
    assert changed_files() == [str(path)]
    path.unlink()
    assert changed_files() == [str(path)]


def test_a_file_may_hold_dataclasses_and_late_annotations(tmp_path: Path) -> None:
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n" + HEAD +
        "@dataclass\nclass Price:\n    value: float\n" + F.format("f")
    )  # fmt: skip
    loaded(tmp_path, text)
    assert compile_rules(STREAM + "from Tick select f(bid) as x insert into Out;").queries


def package(folder: Path, text: str) -> None:
    """An installed package with an entry point, as pip leaves it."""
    (folder / "trader_functions.py").write_text(text, encoding="utf-8")
    info = folder / "trader-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: trader\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[mt5cep.functions]\nown = trader_functions\n")


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "rules.cep").write_text(RULES, encoding="utf-8")
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-m", "cep", "check", "rules.cep", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(folder)])},
        capture_output=True,
        text=True,
        timeout=LONG_S,
    )


def test_functions_of_an_installed_package_are_known(tmp_path: Path) -> None:
    package(tmp_path, FILE)
    done = check(tmp_path)
    assert (done.returncode, done.stdout) == (0, "rules.cep: ok, 1 stream, 1 query\n"), done.stderr


def test_a_broken_package_is_named(tmp_path: Path) -> None:
    package(tmp_path, "1 / 0\n")
    done = check(tmp_path)
    assert done.returncode == 2
    assert "`own = trader_functions` of trader 1.2 (mt5cep.functions): ZeroDiv" in done.stderr
    assert "mend that package, or uninstall it" in done.stderr


def test_a_file_and_a_package_with_one_name_are_told_apart(tmp_path: Path) -> None:
    package(tmp_path, FILE)
    written(tmp_path)
    done = check(tmp_path, "--functions", "own.py")
    assert done.returncode == 2
    assert re.search(r"own.py:\d+: `own:pips` is defined in .*trader_functions.py", done.stderr)
