"""Whether a terminal lets our programs reach the daemon: by its settings, and by what they said.

Which addresses are allowed is in `config/common.ini` in a form of the terminal's own; only whether
the list is used can be read there. What a program was told when it tried is in the journal of
experts, `MQL5/Logs/YYYYMMDD.log`: lines of UTF-16 with code, level, time, program and text.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mt5bridge.terminal.compiler_log import decoded
from mt5bridge.terminal.findings import Finding, finding
from mt5bridge.terminal.folders import DataFolder
from mt5bridge.terminal.inspection import subject_of
from mt5bridge.terminal.sources import OWN, source_files, sources_version

FAILURES = Path("Include", OWN, "Link", "Failures.mqh")
NOT_ALLOWED = "LINK_NOT_ALLOWED"
CONNECTED = "connected"
LOG_NAME = re.compile(r"\d{8}\.log")
DAY_MS = 24 * 3_600_000
READ_BYTES_MAX = 4 << 20


class Said(NamedTuple):
    """The newest that a program said of its connection."""

    program: str
    failure: str
    """The failure's name; empty when it is connected."""
    text: str


def failure_texts(sources: Path) -> dict[str, str]:
    """What programs say of each failure of a link, as their sources have it; by name."""
    text = (sources / FAILURES).read_text(encoding="utf-8")
    return dict(re.findall(r'case (LINK_\w+):\s*return\("([^"]+)"\)', text))


def judge_reach(folders: Iterable[DataFolder], sources: Path, now_msc: int) -> Iterator[Finding]:
    """Terminals that keep our programs from the daemon; `now_msc`: older journals are no news."""
    texts = failure_texts(sources)
    for folder in folders:
        if sources_version(folder.mql5) is None:
            continue
        said = list(last_said(folder, texts, now_msc))
        if not said and list_is_off(folder):
            seen = "the list of allowed addresses is off in config/common.ini"
            yield finding("addresses off", subject_of(folder), seen)
        for one in said:
            name = "address refused" if one.failure == NOT_ALLOWED else "link fails"
            if one.failure:
                yield finding(name, subject_of(folder), f"{one.program}: {one.text}")


def list_is_off(folder: DataFolder) -> bool:
    """Whether the settings say that no address is allowed; they are written when it is closed."""
    settings = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        text = decoded((folder.path / "config" / "common.ini").read_bytes()[:READ_BYTES_MAX])
        settings.read_string(text)
    except (OSError, configparser.Error):
        return False
    return settings.get("Experts", "WebRequest", fallback="") == "0"


def last_said(folder: DataFolder, texts: dict[str, str], now_msc: int) -> Iterator[Said]:
    """The newest of each of our programs in a journal that is not older than a day."""
    newest: dict[str, Said] = {}
    programs = {path.stem for path in source_files(folder.mql5) if path.suffix == ".mq5"}
    for line in _journal(folder, now_msc).splitlines():
        columns = line.split("\t", 4)
        if len(columns) != 5 or columns[3].partition(" ")[0] not in programs:
            continue
        program, text = columns[3:]
        failure = next((name for name, said in texts.items() if said in text), "")
        if failure or text.startswith(CONNECTED):
            newest[program] = Said(program, failure, text)
    yield from newest.values()


def _journal(folder: DataFolder, now_msc: int) -> str:
    """The newest journal of experts, its end; empty when it is old, or there is none."""
    logs = [path for path in (folder.mql5 / "Logs").glob("*.log") if LOG_NAME.fullmatch(path.name)]
    newest = max(logs, key=lambda path: path.name, default=None)
    try:
        if newest is None or now_msc - newest.stat().st_mtime_ns // 1_000_000 > DAY_MS:
            return ""
        raw = newest.read_bytes()
    except OSError:
        return ""
    return decoded(raw if len(raw) <= READ_BYTES_MAX else raw[:2] + raw[-READ_BYTES_MAX:])
