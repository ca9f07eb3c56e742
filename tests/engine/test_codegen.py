"""Generated code: readable, and out of reach of what a rule file names things."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from cep.engine import codegen
from cep.engine.native import Compiled
from cep.plan import compile_rules

RULES = """@app:name('{app}')
define stream S (symbol string, `{name}` double);
from S[`{name}` > 1.0] select symbol, `{name}` as x insert into `T {name}`;
from `T {name}`#window.time(1 sec) select symbol, avg(x) as a group by symbol insert into U;
"""


@pytest.mark.parametrize(
    "name", ["import os", '"""', "a # b", "x\\ny", "__import__('os')", "é", "raise SystemExit"]
)
def test_names_never_become_code(name: str) -> None:
    text = RULES.format(app=name.replace("'", ""), name=name.replace("`", ""))
    source = Compiled(compile_rules(text), jit=False).generated.source
    plain = Compiled(compile_rules(RULES.format(app="a", name="x")), jit=False).generated.source
    assert [type(node) for node in ast.walk(ast.parse(source))] == [
        type(node) for node in ast.walk(ast.parse(plain))
    ]


def test_the_source_says_what_it_does() -> None:
    source = Compiled(
        compile_rules(RULES.format(app="demo", name="price")), jit=False
    ).generated.source
    assert "Stage 0 of the rules demo: generated, do not edit." in source
    assert "# query1: from S into T price" in source


def test_no_two_kernels_of_one_name_meet_in_a_module() -> None:
    """A stage may hold anything that is compiled, and its imports share one namespace."""
    taken: dict[str, set[str]] = {}
    for path in Path(codegen.__file__).parent.glob("*.py"):
        pattern = r"from cep\.engine\.kernels\.(\w+) import (?:\(([^)]*)\)|([^\n]*))"
        for module, several, one in re.findall(pattern, path.read_text()):
            for name in re.findall(r"\w+", several or one):
                taken.setdefault(name, set()).add(module)
    assert {"enter_key", "link"} <= taken.keys()
    assert {name: modules for name, modules in taken.items() if len(modules) > 1} == {}
