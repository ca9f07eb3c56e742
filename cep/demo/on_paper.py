"""The demo's third part: the market on a paper account, and its day run again."""

from __future__ import annotations

from pathlib import Path
from string import Template

import pyarrow.parquet as pq

from cep.demo.processes import background, free_port, mt5cep

TICKS_MOST = 1_500
"""Of a symbol: enough for signals and fills, and a few seconds."""
ACCOUNT = """[account]
balance = 10000.0
leverage = 30

[symbols."*"]
contract_size = 1000
commission_per_lot = 3.5
"""


def traded_on_paper(folder: Path, settings: str, ticks: list[Path], speed: float) -> str:
    """What `mt5cep parity` says of a day that `mt5cep daemon --paper` has lived in a new folder.

    `settings` is the text of the daemon's settings, without its port. DemoError when a step fails,
    or when anything differs.
    """
    folder.mkdir()
    (folder / "rules.cep").write_bytes((folder.parent / "rules.cep").read_bytes())
    (folder / "account.toml").write_text(ACCOUNT, encoding="utf-8")
    config, log = folder / "daemon.toml", folder / "log.txt"
    text = Template(settings).safe_substitute(port=free_port())
    config.write_text(f'{text}\n[paper]\naccount = "account.toml"\n', encoding="utf-8")
    play = ["simulate", "--config", str(config), "--server-time", "UTC", "--identity", "paper-demo"]
    play += ["--speed", str(speed), "--patience", "300", "--stay", "2"]
    for path in ticks:
        first = folder / path.name
        pq.write_table(pq.read_table(path).slice(0, TICKS_MOST), first)
        play += ["--ticks", str(first)]
    with background(["daemon", "--config", str(config), "--paper"], log, ready="listening on"):
        mt5cep(play, log)
    said = mt5cep(["parity", "--config", str(config)], log)
    return said.strip().splitlines()[-1]
