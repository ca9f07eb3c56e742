"""`mt5cep archive specify` and `specifications`: what people tell an archive, and see of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_archive_command import archive, run

__all__ = ["archive"]

FILE = """
[account]
currency = "EUR"
hedging = true
[symbols.EURUSD]
point = 0.00001
filling_modes = ["ioc", "return"]
[risk]
lots_per_order = 1.0
"""


def test_what_a_file_says_is_told_once_and_listed(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "account.toml").write_text(FILE)
    assert "none; tell some" in run("specifications", archive).stdout
    first = run("specify", archive, tmp_path / "account.toml", "--point", "XAUUSD=0.01")
    assert first.exit_code == 0, first.stderr
    assert "EURUSD     always  a file  point 0.00001, filling_modes ioc/return\n" in first.stdout
    again = run("specify", archive, tmp_path / "account.toml")
    assert again.stdout == "nothing new: all of it is known\n"
    later = run("specify", archive, "--point", "EURUSD=0.0001", "--since", "2024-03-01")
    assert later.stdout == "EURUSD  2024-03-01 00:00:00.000  a file  point 0.0001\n"
    assert run("specifications", archive).stdout.splitlines() == [
        "symbol     since                    from    told",
        "(account)  always                   a file  currency EUR, hedging true",
        "EURUSD     always                   a file  point 0.00001, filling_modes ioc/return",
        "EURUSD     2024-03-01 00:00:00.000  a file  point 0.0001",
        "XAUUSD     always                   a file  point 0.01",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[symbols.EURUSD]\npoin = 1", "poin`: no such key; did you mean `point`?"),
        ('[symbols."*"]\ncontract_size = 1', "name each symbol, or give the file to runs"),
        ("", "nothing is told"),
    ],
)
def test_what_is_no_specification_is_refused(
    archive: Path, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "account.toml").write_text(text)
    refused = run("specify", archive, tmp_path / "account.toml")
    assert refused.exit_code == 2 and said in refused.stderr
    assert run("specify", tmp_path / "nowhere", "--point", "A=1").exit_code == 2
    assert not (tmp_path / "nowhere").exists()
