"""A session of the emulated terminal as a small text: one statement a line.

    seed 7
    symbol EURUSD digits=5
    ticks EURUSD path=/data/eurusd.bin
    pace step=1..6
    attach Publisher on EURUSD Port=5655
    end quiet_ms=500

What each statement means stands in `STATEMENTS`; ranges are written `1..6`, texts with blanks are
quoted, `#` begins a comment.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mt5bridge.emulator.broker_script import check_broker_command, check_broker_setting
from mt5bridge.emulator.chart_script import (
    chart_settings,
    check_period,
    check_reason,
    input_settings,
)

_RANGE = re.compile(r"-?\d+(\.\.-?\d+)?")
_NAME = re.compile(r"[A-Za-z_]\w*")
Check = Callable[[str], None]


class ScriptError(ValueError):
    """A session script that cannot be used; says where, and what would be right."""


def _integer(value: str) -> None:
    if not re.fullmatch(r"-?\d+", value):
        raise ValueError(f"{value!r} is no whole number; write one, for example 5")


def _number(value: str) -> None:
    try:
        float(value)
    except ValueError:
        raise ValueError(f"{value!r} is no number; write one, for example 0.01") from None


def _share(value: str) -> None:
    _number(value)
    if not 0 <= float(value) <= 1:
        raise ValueError(f"{value} is no share; write a number from 0 to 1")


def _range(value: str) -> None:
    if not _RANGE.fullmatch(value):
        raise ValueError(f"{value!r} is no range; write 3 or 1..6")
    least, _, most = value.partition("..")
    if most and int(least) > int(most):
        raise ValueError(f"{value} ends before it begins; write the smaller number first")


def _flag(value: str) -> None:
    if value not in ("0", "1"):
        raise ValueError(f"{value!r} is no switch; write 0 or 1")


def _text(value: str) -> None:
    """Anything."""


def _file(value: str) -> None:
    if not Path(value).is_file():
        raise ValueError(f"no such file: {value}; check the path")


def _one_of(*words: str) -> Check:
    def check(value: str) -> None:
        if value not in words:
            raise ValueError(f"{value!r} is unknown; write one of {', '.join(words)}")

    return check


def _sessions(value: str) -> None:
    for span in value.split(","):
        first, _, last = span.partition("-")
        if not (first.isdigit() and last.isdigit()) or not _is_within_a_day(int(first), int(last)):
            raise ValueError(
                f"{span!r} is no session; write minutes of the week within one day, such as "
                "1445-2875 for Monday from 00:05 to 23:55"
            )


def _is_within_a_day(first: int, last: int) -> bool:
    return first < last <= 10_080 and first // 1_440 == (last - 1) // 1_440


COSTS: Final[dict[str, Check]] = {
    "swap_mode": _integer, "swap_long": _number, "swap_short": _number,
    "swap_triple_day": _integer, "tick_value": _number, "sessions": _sessions,
}  # fmt: skip
"""What trading a symbol costs, and when it is traded; may change while a terminal runs."""
LEVELS: Final[dict[str, Check]] = {"stops_level": _integer, "freeze_level": _integer}


def _symbol_keys() -> dict[str, Check]:
    keys: dict[str, Check] = dict.fromkeys(
        "point tick_size contract_size volume_min volume_max volume_step volume_limit"
        .split(),
        _number,
    )  # fmt: skip
    keys |= dict.fromkeys(
        "digits filling_modes execution trade_mode order_modes expiration_modes calc_mode".split(),
        _integer,
    )
    keys |= dict.fromkeys(
        ["currency_base", "currency_profit", "currency_margin", "description"], _text
    )
    return keys | COSTS | LEVELS | {"selected": _flag}


FILE_FAULTS: Final[Mapping[str, Check]] = {
    "open": _share, "move": _share, "delete": _share, "write": _share, "name": _text,
}  # fmt: skip


ACCOUNT: Final[dict[str, Check]] = {
    "login": _integer, "server": _text, "name": _text, "company": _text,
    "currency": _text, "mode": _one_of("netting", "exchange", "hedging"),
    "leverage": _integer, "balance": _number, "demo": _flag,
}  # fmt: skip


def _settings_in(checks: Mapping[str, Check], wrong: str) -> Check:
    """A check of a text that has settings of its own; `wrong` is what other words are."""

    def check(text: str) -> None:
        for word in text.split() or [""]:
            key, _, value = word.partition("=")
            if key not in checks or not value:
                raise ValueError(f"{word!r} {wrong}; write {'=..., '.join(checks)}=...")
            checks[key](value)

    return check


def _specified(text: str) -> None:
    """`EURUSD swap_long=-7`: a symbol, and what it has from now on."""
    name, _, words = text.partition(" ")
    if not name or "=" in name:
        raise ValueError(f"{text!r} names no symbol; write EURUSD swap_long=-7")
    _settings_in(COSTS | LEVELS, "does not change while a terminal runs")(words)


@dataclass(frozen=True)
class Statement:
    """What may follow a statement's name: words in their order, then settings."""

    keys: Mapping[str, Check] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


STATEMENTS: Final[Mapping[str, Statement]] = {
    # Everything random in the session follows from it.
    "seed": Statement({"value": _integer}, words=("value",)),
    # The account; the terminal logs in so many milliseconds after its start.
    "account": Statement(ACCOUNT | {"login_ms": _integer}),
    # Settings of the broker: see broker_script.
    "broker": Statement(),
    "symbol": Statement({"name": _text} | _symbol_keys(), words=("name",)),
    # A file of 60-byte records, packed as MqlTick, in the order of their arrival.
    "ticks": Statement({"name": _text, "path": _file}, words=("name",), required=("path",)),
    # Ticks for each turn of the loop; or a second; or times as fast as they were recorded.
    "pace": Statement({"step": _range, "rate": _number, "speed": _number}),
    # Shares of ticks that arrive `late_by` ticks late, of steps after which the tick base lags
    # behind, and of calls into the terminal during which ticks arrive.
    "ticks_odd": Statement(
        {"late": _share, "late_by": _range, "lag": _share, "burst_in_handler": _share}
    ),
    # Share of OnTick events that never come.
    "ontick": Statement({"skip": _share}),
    # How many ticks come while the terminal is shut: before its first start, before each further;
    # whether it shows the newest of them as quotes when it is logged in.
    "offline_ticks": Statement({"first": _range, "count": _range, "quoted": _flag}),
    # CopyTicks: shares that time out after `block_ms` with a part, or find no memory; `limit`
    # ticks at most from one call; the first `sync_failures` calls for a symbol time out.
    "copyticks": Statement(
        {
            "timeout": _share, "block_ms": _integer, "limit": _integer,
            "sync_failures": _integer, "no_memory": _share,
        }
    ),
    # Chart events of one number coalesce or queue; length of the queue; share of turns a program
    # has no time; the finest timer; share of ticks that change the book.
    "events": Statement(
        {
            "chart": _one_of("coalesce", "queue"), "limit": _integer, "busy": _share,
            "timer_resolution_ms": _integer, "book": _share,
        }
    ),
    # Addresses in the terminal's list; shares of short sends, of refused and slow connects, of
    # timeouts that cannot be set, of answers of SocketIsReadable that are dummies or name only some
    # of the bytes, of sends after which the connection is silent or that stall until their timeout;
    # bytes sent or read after which a connection breaks; the system's buffer in bytes; whether
    # small sends wait (Nagle).
    "sockets": Statement(
        {
            "allowed": _text, "short": _share, "refuse": _share, "slow_connect": _share,
            "slow_ms": _integer, "dummy": _share, "cut_after": _range, "cut_after_read": _range,
            "trickle": _share, "silence": _share, "silence_ms": _integer, "stall": _share,
            "untimed": _share, "send_buffer": _integer, "nagle": _flag,
        }
    ),
    # Shares of what is done with files that fails, as when a scanner holds one; files it is about.
    "files": Statement(FILE_FAULTS),
    # Server time follows the newest recorded tick, or is this machine's; server time minus UTC;
    # how far the computer's clock, and what the terminal counts by it, is ahead; whether time
    # passes while the machine does something else.
    "clock": Statement(
        {
            "mode": _one_of("recorded", "real"), "offset_ms": _integer, "ahead_ms": _integer,
            "elapsed": _one_of("computed", "real"),
        }
    ),
    # Programs are told that they run in the strategy tester, and have no sockets.
    "tester": Statement(),
    # PROGRAM [on SYMBOL] Input=Value ...
    "attach": Statement(),
    # At so many ticks of all symbols, or milliseconds of this run, once: what happens. What
    # `reinit` changes is checked by chart_script.
    "at": Statement(
        {
            "tick": _integer, "ms": _integer, "restart": _text, "detach": _text,
            "reinit": _text, "reason": check_reason, "inputs": _text, "symbol": _text,
            "period": check_period,
            "offline_ticks": _integer, "offset_ms": _integer, "disconnect": _integer,
            "trade_allowed": _flag, "drop_sockets": _flag, "broker": check_broker_command,
            "account": _settings_in(ACCOUNT, "says nothing of an account"),
            "files": _settings_in(FILE_FAULTS, "is no fault of files"), "crash": _flag,
            "specify": _specified,
        }
    ),
    # The process ends as if killed at its N-th effect outside.
    "crash": Statement({"effect": _integer}, required=("effect",)),
    # When all ticks are there and nothing but timers happened for so long; otherwise never.
    "end": Statement({"quiet_ms": _integer}, required=("quiet_ms",)),
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One statement, checked."""

    name: str
    settings: tuple[tuple[str, str], ...]

    def encoded(self) -> str:
        """As the executable reads it: fields separated by tabs."""
        fields = [self.name, *(f"{key}={value}" for key, value in self.settings)]
        return "\t".join(map(_escaped, fields))


@dataclass(frozen=True)
class Script:
    """A session; `Script.of` takes lines as they would stand in a file."""

    lines: tuple[Line, ...] = ()

    @classmethod
    def of(cls, *statements: str) -> Script:
        """The script of these lines. ScriptError names the line and the remedy."""
        return parse_script("\n".join(statements))

    def plus(self, *statements: str) -> Script:
        """This script with more statements; of single settings the later one counts."""
        return Script(self.lines + Script.of(*statements).lines)

    def encoded(self) -> str:
        """The text for the executable."""
        return "".join(line.encoded() + "\n" for line in self.lines)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbols, in their order."""
        return tuple(dict(line.settings)["name"] for line in self.lines if line.name == "symbol")


def parse_command(text: str) -> Line:
    """What happens now, an `at` line without `at` and its time. ScriptError names the remedy."""
    lines = parse_script(f"at {text}", "command").lines
    if len(lines) != 1:
        raise ScriptError("command: several lines; give one at a time")
    if {"tick", "ms"} & set(dict(lines[0].settings)):
        raise ScriptError("command: it is carried out at once; leave out tick and ms")
    return lines[0]


def parse_script(text: str, place: str = "script") -> Script:
    """The script in a text. ScriptError names the place and the remedy."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
            if words:
                lines.append(_line(words[0], words[1:]))
        except ValueError as error:
            raise ScriptError(f"{place}, line {number}: {error}") from None
    return Script(tuple(lines))


def read_script(path: Path) -> Script:
    """The script in a file."""
    return parse_script(path.read_text(encoding="utf-8"), str(path))


def statement(name: str, *words: str, **settings: object) -> str:
    """A line of a script, quoted where needed."""
    parts = [name, *words, *(f"{key}={_plain(value)}" for key, value in settings.items())]
    return " ".join(map(shlex.quote, parts))


def _plain(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _line(name: str, rest: list[str]) -> Line:
    if name not in STATEMENTS:
        raise ValueError(f"unknown statement {name!r}; there are {', '.join(STATEMENTS)}")
    if name == "attach":
        return Line(name, _attachment(rest))
    rules = STATEMENTS[name]
    count = len(rules.words)
    if len(rest) < count or any("=" in word for word in rest[:count]):
        raise ValueError(f"{name} needs {' '.join(rules.words)} first")
    settings = list(zip(rules.words, rest[:count], strict=True))
    settings += [_setting(word) for word in rest[count:]]
    for key, value in settings:
        _check(name, rules, key, value)
    missing = [key for key in rules.required if key not in dict(settings)]
    if missing:
        raise ValueError(f"{name} needs {missing[0]}=...")
    return Line(name, tuple(chart_settings(settings) if name == "at" else settings))


def _check(name: str, rules: Statement, key: str, value: str) -> None:
    if name == "broker":
        check_broker_setting(key, value)
        return
    if key not in rules.keys:
        raise ValueError(f"{name} has no setting {key!r}; there are {', '.join(rules.keys)}")
    try:
        rules.keys[key](value)
    except ValueError as error:
        raise ValueError(f"{name} {key}: {error}") from None


def _setting(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or not _NAME.fullmatch(key):
        raise ValueError(f"{word!r} is no setting; write name=value")
    return key, value


def _attachment(rest: list[str]) -> tuple[tuple[str, str], ...]:
    if not rest or "=" in rest[0]:
        raise ValueError("attach needs a program; write attach Publisher on EURUSD")
    settings = [("program", rest[0])]
    rest = rest[1:]
    if rest and rest[0] == "on":
        if len(rest) == 1:
            raise ValueError("attach: a symbol must follow 'on'")
        settings.append(("symbol", rest[1]))
        rest = rest[2:]
    return (*settings, *input_settings(rest))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
