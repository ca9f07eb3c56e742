"""The faults themselves: each is one, and the same every time."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.mutation.__main__ import EQUIVALENT, reasons
from tests.mutation.groups import GROUPS
from tests.mutation.mutants import chosen, mutants

ROOT = Path(__file__).parents[2]
SOURCE = '''
LIMIT = 3

class Box:
    """A box."""

    def __init__(self, size: int = 2) -> None:
        self.size = size

    def room(self, taken: int) -> bool:
        # ö: places are those of bytes
        logger.info("taken {}", taken + 1)
        if taken < self.size and not self.full:
            self.note(taken)
            return max(taken, 1) + 2 > 0
        raise ValueError(f"{taken + 1}")
'''


def test_each_fault_changes_one_piece_of_what_is_run() -> None:
    found = [(one.function, one.old, one.new) for one in mutants("box.py", SOURCE)]
    assert sorted(found) == sorted(
        [
            ("Box.__init__", "2", "3"),
            ("Box.room", "<", "<="),
            ("Box.room", "and", "or"),
            ("Box.room", "not self.full", "(self.full)"),
            ("Box.room", "taken < self.size and not self.full", "False"),
            ("Box.room", "taken < self.size and not self.full", "True"),
            ("Box.room", "self.note(taken)", "pass"),
            ("Box.room", "max", "min"),
            ("Box.room", "1", "2"),
            ("Box.room", "2", "3"),
            ("Box.room", "+", "-"),
            ("Box.room", ">", ">="),
            ("Box.room", "0", "1"),
        ]
    )


def test_what_the_import_runs_is_told_apart() -> None:
    source = "class A:\n    a = 1\n    def f(self, b=2):\n        return 3\n"
    assert {one.old: one.line for one in mutants("m.py", source)} == {"1": 0, "2": 0, "3": 4}


def test_names_tell_equal_faults_of_a_function_apart() -> None:
    source = "def f(a, b):\n    return a < b or b < a\n"
    names = [one.name for one in mutants("m.py", source)]
    assert len(set(names)) == len(names) == 3


def test_every_chosen_fault_of_the_house_is_a_valid_other_program() -> None:
    for group in GROUPS:
        found = chosen(ROOT, group.paths(ROOT), group.count)
        assert len(found) == group.count, group.name
        for one in found:
            source = (ROOT / one.path).read_bytes()
            changed = one.applied(source)
            assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)), one.name


def test_the_same_ones_are_chosen_every_time() -> None:
    paths = GROUPS[0].paths(ROOT)
    assert chosen(ROOT, paths, 9) == chosen(ROOT, paths[::-1], 9)


def test_what_is_said_to_change_no_answer_is_still_there() -> None:
    """A reason for a fault that no longer exists is a reason to look again."""
    paths = [path for group in GROUPS for path in group.paths(ROOT)]
    there = {one.name for path in paths for one in mutants(path, (ROOT / path).read_text("utf-8"))}
    assert EQUIVALENT.exists()
    assert reasons().keys() <= there
