"""Rules and settings of a world's daemon: small, so that everything that is full is soon full."""

from __future__ import annotations

import os
import random
from pathlib import Path

from mt5bridge.credential import FILE, write_credential
from tests.credentials import CREDENTIAL

LOTS_PER_ORDER, LOTS_PER_DAY, ORDERS_PER_MINUTE = 0.3, 3.0, 40
MAGIC, OTHER_MAGIC = 77, 99
OTHER = "other"
"""The name of the second rule file."""
WRONG = "nonsense"
"""Ends rules that are wrong."""
_RULES = """@app:name('world')
define stream Tick (symbol string, bid double, ask double);
define stream Deal (symbol string, magic long, lots double);
from Tick select symbol, (bid + ask) / 2 as mid insert into Mid;
from Mid#window.time(1 sec) select symbol, mid, avg(mid) as ma group by symbol insert into Band;
from Tick#window.timeBatch(1 sec) select symbol, count() as n group by symbol insert into Busy;
define engine One (queue = 5 sec);
define event Above in One for each symbol as Band[mid > ma + {step}];
define event Below in One for each symbol as Band[mid < ma];
define event Full in One for each symbol as Busy[n > 2];
define event Filled in One for each symbol as every Deal[magic == 77] repeat allow;
define complex Turn in One for each symbol as Above followed by Below within 3 sec;
define complex Beat in One for each symbol as Full followed by Above within 5 sec;
define complex Wave in One for each symbol as Above followed by Full within 5 sec;
define complex Again in One for each symbol as Filled followed by Full within 5 sec;
define signal Fade on Turn sell {lots} lots for 10 sec;
define signal Ride on Beat buy 0.20 lots for 30 sec;
define signal Slow on Wave buy 0.05 lots for 20 sec;
define signal Late on Again buy 0.05 lots for 3 sec;
"""
_SECOND = """@app:name('second')
define stream Tick (symbol string, bid double, ask double);
define engine Two (queue = 5 sec);
define event Dear in Two for each symbol as Tick[bid > {level}];
define event Cheap in Two for each symbol as Tick[bid <= {level}];
define complex Fall in Two for each symbol as Dear followed by Cheap within 2 sec;
define signal Sink on Fall buy 0.10 lots for 5 sec;
"""
_SETTINGS = f"""
[rules]
file = "rules.cep"
numba = false
watch_ms = 300
streams = ["Busy", "Turn", "Beat", "Again", "Fade", "Ride", "Slow", "Late"]
[rules.{OTHER}]
file = "other.cep"
magic = {OTHER_MAGIC}
lots_per_day = 0.5
[server]
heartbeat_ms = 150
timeout_ms = 2_000
window_records = 40
[signals]
send = true
magic = {MAGIC}
[orders]
send = true
valid_seconds = 20
[risk]
lots_per_order = {LOTS_PER_ORDER}
lots_per_day = {LOTS_PER_DAY}
orders_per_minute = {ORDERS_PER_MINUTE}
[spool]
segment_mib = 6
max_mib = 4_096
waiting_max_mib = 512
[state]
snapshot_records = 60
clock_every_ms = 250
away_ms = 1_500
journal_mib = 64
journal_files = 10_000
"""


def write_world(folder: Path, chance: random.Random) -> Path:
    """Settings, rules and credential; the settings' path."""
    (folder / "state").mkdir(mode=0o700, parents=True)
    write_credential(folder / "state" / FILE, CREDENTIAL)
    path = folder / "daemon.toml"
    path.write_text(_SETTINGS, encoding="utf-8")
    for name in ("rules.cep", "other.cep"):
        write_rules(folder, name, chance, 0)
    return path


def write_rules(
    folder: Path, name: str, chance: random.Random, at_ms: int, wrong: float = 0.0
) -> str:
    """Other rules in a file, with these odds such as are wrong; what they are."""
    template = _RULES if name == "rules.cep" else _SECOND
    step, level = chance.choice(("0.00001", "0.00002")), chance.choice(("1.1", "1.10005"))
    text = template.format(step=step, level=level, lots=chance.choice(("0.10", "0.40")))
    is_wrong = chance.random() < wrong
    (folder / name).write_text(text + WRONG * is_wrong, encoding="utf-8")
    os.utime(folder / name, ns=(at_ms * 1_000_000, at_ms * 1_000_000))
    return f"{name} {step} {level} {is_wrong}"
