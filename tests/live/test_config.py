"""Settings: every key can be given, everything wrong is named with its place and a remedy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from cep.daemon import Daemon
from cep.live.config import Config, ConfigError, Rules, read_config
from mt5bridge.credential import FILE
from tests.credentials import CREDENTIAL, PASSWORDS
from tests.live.service import write_settings
from tests.waiting import LONG_S

ALL: dict[str, dict[str, Any]] = {
    "rules": {
        "file": "r.cep", "functions": ["f.py"], "callback": "c.py", "streams": ["A"],
        "numba": False, "watch_ms": 500, "file_max_kib": 7, "texts_max": 8,
        "parameters": {"Width": 2.5},
        "warm_up_days": 2.5,
    },
    "server": {
        "bind": "tcp://127.0.0.1:1", "heartbeat_ms": 2, "timeout_ms": 9, "window_records": 3,
        "terminals_max": 4, "symbols_max": 5, "ahead_max_minutes": 6,
        "connections_max": 7, "message_max_mib": 8, "streams_max": 9, "requests_max": 10,
        "events_max": 12, "memory_max_mib": 11, "identities_max": 13, "bindings_max": 14,
        "users": {"a": "b"}, "allow_insecure": True, "allow_plain": False, "curve_bind": "tcp://*:5",
    },
    "spool": {
        "folder": "s", "segment_mib": 2, "segment_minutes": 3, "max_mib": 4, "waiting_max_mib": 5,
        "specifications_max_mib": 6,
    },
    "archive": {"folder": "a", "every_seconds": 5},
    "state": {
        "folder": "st", "snapshot_records": 6, "clock_every_ms": 0, "away_ms": 7, "journal": "j",
        "journal_mib": 8, "journal_files": 9, "bad_files": 10,
    },
    "database": {"url": "sqlite://", "durable": False, "prefix": "p_"},
    "signals": {"send": True, "terminal": "t", "magic": 8, "valid_seconds": 9},
    "orders": {
        "send": True, "terminal": "t", "magic": 7, "valid_seconds": 8, "deviation_points": 9,
        "keep_days": 10, "journal_max_mib": 11, "results_max": 12,
    },
    "risk": {
        "lots_per_order": 1.5, "lots_per_symbol": 2.5, "lots_per_day": 3.5,
        "orders_per_minute": 4, "symbols": ["A"], "loss_per_day": 5.5, "lots_assumed": 0.5,
        "day_begins_minutes": 60, "dry_run": True,
    },
    "paper": {
        "account": "account.toml", "hedging": True, "latency_ms": 5, "slippage_points": 1.5,
    },
    "log": {"file": "l.log", "format": "json", "file_max_mib": 1, "files": 2},
    "metrics": {"bind": "127.0.0.1:1", "allow_others": True},
    "alerts": {"urls": ["json://h"], "level": "WARNING", "per_hour": 3, "repeat_minutes": 4},
}  # fmt: skip
PATHS = ("account", "file", "functions", "callback", "folder", "journal")


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def toml(sections: dict[str, dict[str, Any]]) -> str:
    lines = []
    for name, keys in sections.items():
        lines.append(f"[{name}]")
        for key, value in keys.items():
            text = str(value).lower() if isinstance(value, bool) else repr(value)
            lines.append(f"{key} = {text.replace(':', ' =') if isinstance(value, dict) else text}")
    return "\n".join(lines) + "\n"


def sections() -> list[tuple[str, type[msgspec.Struct]]]:
    return [
        (field.name, field.type)
        for field in msgspec.structs.fields(Config)
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)
    ]


def test_the_table_above_has_every_key() -> None:
    found = {name: {f.name for f in msgspec.structs.fields(type_)} for name, type_ in sections()}
    assert {name: set(keys) for name, keys in ALL.items()} == found


def test_every_key_is_read(tmp_path: Path) -> None:
    config = read_config(write(tmp_path / "c.toml", 'log_level = "DEBUG"\n' + toml(ALL)))
    assert config.log_level == "DEBUG"
    for name, keys in ALL.items():
        for key, value in keys.items():
            got = getattr(getattr(config, name), key)
            if key in PATHS:
                (path,) = got if isinstance(got, list) else [got]
                assert isinstance(path, Path) and path.is_absolute()
                assert value in (path.name, [path.name])
            else:
                assert got == value
    assert config.server.settings(CREDENTIAL).passwords == {"a": "b", **PASSWORDS}


NO_DEFAULTS = {
    "account", "functions", "callback", "streams", "terminal", "url", "users", "symbols",
    "loss_per_day", "lots_per_order", "lots_per_symbol", "lots_per_day", "orders_per_minute",
    "urls",
}  # fmt: skip
"""Keys whose line in the example is one of a user; by default there is none, or no limit."""


def test_what_the_example_leaves_out_is_the_default() -> None:
    example = (Path(__file__).parents[2] / "config" / "daemon.toml").read_text(encoding="utf-8")
    shown = tomllib.loads(re.sub(r"^# (?=\w+ = )", "", example, flags=re.MULTILINE))
    defaults = msgspec.to_builtins(Config(rules=Rules(file=Path("r"))), enc_hook=str)
    left_out = re.findall(r"^# (\w+) = ", example, flags=re.MULTILINE)
    assert set(left_out) >= NO_DEFAULTS and len(left_out) > 30
    assert shown.pop("log_level") == defaults["log_level"]
    for section, keys in shown.items():
        for key in keys.keys() & set(left_out):
            default = defaults[section][key]
            if key in NO_DEFAULTS:
                assert not default and default is not False
            else:
                assert default == keys[key], f"{section}.{key}"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("sqlite:///a/e.db", "sqlite:///{folder}/a/e.db"),
        ("duckdb:////e.db", "duckdb:////e.db"),
        ("sqlite://", "sqlite://"),
        ("duckdb:///:memory:", "duckdb:///:memory:"),
        ("postgresql://u@h:5/name", "postgresql://u@h:5/name"),
    ],
)
def test_a_database_file_starts_at_the_settings(tmp_path: Path, url: str, found: str) -> None:
    sections = {"rules": {"file": "r"}, "database": {"url": url}}
    config = read_config(write(tmp_path / "c.toml", toml(sections)))
    assert config.database.url == found.format(folder=tmp_path)


@pytest.mark.parametrize(("section", "key"), [(s, k) for s, keys in ALL.items() for k in keys])
def test_a_wrong_type_is_named_with_its_key(tmp_path: Path, section: str, key: str) -> None:
    wrong = {**ALL, section: {**ALL[section], key: [[1.5]]}}
    with pytest.raises(ConfigError, match=rf"c\.toml: .*{section}\.{key}"):
        read_config(write(tmp_path / "c.toml", toml(wrong)))


NUMBERS = [
    (section, key)
    for section, keys in ALL.items()
    for key, value in keys.items()
    if isinstance(value, int | float) and not isinstance(value, bool)
]


@pytest.mark.parametrize(("section", "key"), NUMBERS)
def test_a_number_that_nobody_means_is_named_with_its_key(
    tmp_path: Path, section: str, key: str
) -> None:
    wrong = {**ALL, section: {**ALL[section], key: 10**30}}
    with pytest.raises(ConfigError, match=rf"c\.toml: `{section}\.{key}`: expected .* <"):
        read_config(write(tmp_path / "c.toml", toml(wrong)))


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1.0"])
@pytest.mark.parametrize(
    "key", ["lots_per_order", "lots_per_symbol", "lots_per_day", "loss_per_day", "lots_assumed"]
)
def test_a_limit_is_a_number(tmp_path: Path, key: str, value: str) -> None:
    path = write(tmp_path / "c.toml", f'[rules]\nfile = "r"\n[risk]\n{key} = {value}\n')
    with pytest.raises(ConfigError, match=rf"c\.toml: .*{key}"):
        read_config(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[rules\n", "not TOML"),
        ("", "`rules` is missing, and has no default"),
        ("[rules]\n", r"`rules\.file` is missing"),
        ('[rules]\nfile = "r"\nfiles = 1\n', r"`rules\.files`: no such key; did you mean `file`"),
        (
            '[rules]\nfile = "r"\n[spools]\n',
            "`spools`: no such section or key; did you mean",
        ),
        ('[rules]\nfile = "r"\n[metrics]\nport = 1\n', "no such key; there are bind, allow_others"),
        ("rules = 5\n", "`rules`: expected a table, got a whole number"),
        ('[rules]\nfile = " "\n', r"`rules\.file`: an empty path; name one, or leave the key out"),
        ('[rules]\nfile = "r"\n[server]\nbind = "x"\n', "'x' is no address with a port: write tcp"),
        ('[rules]\nfile = "r"\n[server]\ncurve_bind = "x"\n', "'x' is no address with a port"),
        ('log_level = "LOUD"\n[rules]\nfile = "r"\n', r"`log_level`: .*LOUD"),
        (
            '[rules]\nfile = "r"\n[spool]\nmax_mib = 0\n',
            r"`spool\.max_mib`: expected a whole number >= 1",
        ),
        ('[rules]\nfile = "r"\n[spool]\nmax_mib = 100\n', "twice segment_mib"),
        ('[rules]\nfile = "r"\n[state]\nclock_every_ms = -1\n', r"clock_every_ms`: .*>= 0"),
        ('[rules]\nfile = "r"\n[server]\ntimeout_ms = 10\n', "twice heartbeat_ms"),
        ('[rules]\nfile = "r"\n[risk]\nlots_per_day = -1\n', r"`risk\.lots_per_day`: .*>= 0"),
        ('[rules]\nfile = "r"\n[risk]\nday_begins_minutes = 1440\n', "day_begins_minutes"),
        ('[rules]\nfile = "r"\n[risk]\nlots_assumed = 0\n', r"`risk\.lots_assumed`: .*> 0"),
        ('[rules]\nfile = "r"\n[server]\nbind = "tcp://0.0.0.0:5"\n', "is not encrypted"),
        ('[rules]\nfile = "r"\n[server]\nbind = "tcp://127.0.0.1:99999"\n', "use 1 to 65535"),
        ('[rules]\nfile = "r"\n[server]\nusers = {a = ""}\n', r"\[server\] users: .*'a' is empty"),
        ('[rules]\nfile = "r"\n[server]\nusers = {"" = "b"}\n', "name is empty.*another name"),
        ('[rules]\nfile = "r"\n[server]\nusers = {mt5bridge = "b"}\n', "daemon's own user"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        read_config(write(tmp_path / "c.toml", text))
    assert str(tmp_path / "c.toml") in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.toml: no such file"):
        read_config(tmp_path / "nothing.toml")
    with pytest.raises(ConfigError, match="directory"):
        read_config(tmp_path)


def check(settings: Path) -> Result:
    return CliRunner().invoke(main, ["daemon", "--config", str(settings), "--check"])


def test_check_says_that_all_is_fine(tmp_path: Path) -> None:
    result = check(write_settings(tmp_path))
    assert result.exit_code == 0 and "fine; rules live" in result.output
    assert not (tmp_path / "spool").exists()


@pytest.mark.parametrize(
    ("section", "keys", "message"),
    [
        ("rules", {"file": "none.cep"}, "none.cep: No such file"),
        ("rules", {"streams": ["Fadee"]}, "makes no stream Fadee; it makes Above, "),
        ("rules", {"callback": "none.py"}, "none.py: no such file"),
        ("server", {"bind": "tcp://192.168.0.1:5"}, "is not encrypted"),
        ("spool", {"folders": 1}, "`spool.folders`: no such key; did you mean `folder`"),
        ("metrics", {"bind": "x"}, "use an address such as 127.0.0.1:9655"),
    ],
)
def test_check_says_what_is_wrong(
    tmp_path: Path, section: str, keys: dict[str, Any], message: str
) -> None:
    result = check(write_settings(tmp_path, {section: keys}))
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("define stream Tick (symbol string, bidd double);", "Tick has no attribute bidd; it has"),
        ("define stream Tick (bid long);", "Tick.bid is declared long: use double or float"),
        ("define stream Deal (symbol int);", "Deal.symbol is declared int: use string"),
        ("define stream News (text string);", "stream News has no source here"),
        ("define stream Tick (symbol sting);", "sting"),
        ("from Tick select x insert into Y;", "Tick"),
    ],
)
def test_check_reads_the_rules(tmp_path: Path, rules: str, message: str) -> None:
    settings = write_settings(tmp_path, {"rules": {"streams": []}})
    write(tmp_path / "rules.cep", rules)
    result = check(settings)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702, 0o1777])
@pytest.mark.parametrize("name", ["state", "state/inbox"])
@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_a_folder_of_orders_that_others_can_write_is_refused(
    tmp_path: Path, name: str, mode: int
) -> None:
    settings, folder = write_settings(tmp_path), tmp_path / name
    folder.mkdir(exist_ok=True)
    folder.chmod(mode)
    result = check(settings)
    assert result.exit_code == 2 and f"chmod 700 {folder}" in result.output
    with pytest.raises(ConfigError, match="others than its owner can write there"):
        Daemon(read_config(settings)).run(Event())
    assert {path.name for path in (tmp_path / "state").iterdir()} <= {FILE, "inbox"}
    folder.chmod(0o755)
    assert check(settings).exit_code == 0


def test_an_address_in_use_is_said_when_it_starts(tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        bind = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        settings = write_settings(tmp_path, {"server": {"bind": bind}})
        done = subprocess.run(
            [sys.executable, "-m", "cep", "daemon", "--config", str(settings)],
            capture_output=True,
            check=False,
            timeout=LONG_S,
        )
    assert done.returncode == 2
    assert "Is another daemon running? Else use another port" in done.stderr.decode()
