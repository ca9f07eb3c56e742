"""Every documented return code of a trade server has a text, a meaning and a row in the docs."""

from __future__ import annotations

import re
from pathlib import Path

from mt5bridge.terminal.sources import sources_folder
from tests.mql5.running import Scripts

# https://www.mql5.com/en/docs/constants/errorswarnings/enum_trade_return_codes
DOCUMENTED = {
    10004: "REQUOTE",
    10006: "REJECT",
    10007: "CANCEL",
    10008: "PLACED",
    10009: "DONE",
    10010: "DONE_PARTIAL",
    10011: "ERROR",
    10012: "TIMEOUT",
    10013: "INVALID",
    10014: "INVALID_VOLUME",
    10015: "INVALID_PRICE",
    10016: "INVALID_STOPS",
    10017: "TRADE_DISABLED",
    10018: "MARKET_CLOSED",
    10019: "NO_MONEY",
    10020: "PRICE_CHANGED",
    10021: "PRICE_OFF",
    10022: "INVALID_EXPIRATION",
    10023: "ORDER_CHANGED",
    10024: "TOO_MANY_REQUESTS",
    10025: "NO_CHANGES",
    10026: "SERVER_DISABLES_AT",
    10027: "CLIENT_DISABLES_AT",
    10028: "LOCKED",
    10029: "FROZEN",
    10030: "INVALID_FILL",
    10031: "CONNECTION",
    10032: "ONLY_REAL",
    10033: "LIMIT_ORDERS",
    10034: "LIMIT_VOLUME",
    10035: "INVALID_ORDER",
    10036: "POSITION_CLOSED",
    10038: "INVALID_CLOSE_VOLUME",
    10039: "CLOSE_ORDER_EXIST",
    10040: "LIMIT_POSITIONS",
    10041: "REJECT_CANCEL",
    10042: "LONG_ONLY",
    10043: "SHORT_ONLY",
    10044: "CLOSE_ONLY",
    10045: "FIFO_CLOSE",
    10046: "HEDGE_PROHIBITED",
}
_MEANINGS = {
    "RETCODE_ACCEPTED": "accepted",
    "RETCODE_UNCERTAIN": "uncertain",
    "RETCODE_PASSING": "passing",
    "RETCODE_FINAL": "final",
}
_ROOT = Path(__file__).parents[2]


def _told(scripts: Scripts, folder: Path) -> dict[int, tuple[str, str]]:
    """What the sources say: a text and a meaning for each code."""
    lines = [
        re.fullmatch(r"(\d{5})\|(.*)\|(\w+)", line) for line in scripts.run("RetcodeTable", folder)
    ]
    return {int(line[1]): (line[2], _MEANINGS[line[3]]) for line in lines if line}


def test_every_documented_code_is_known(scripts: Scripts, tmp_path: Path) -> None:
    told = _told(scripts, tmp_path)
    nameless = {code for code, (text, _) in told.items() if text == f"return code {code}"}
    assert set(told) - nameless == set(DOCUMENTED)
    texts = [told[code][0] for code in DOCUMENTED]
    assert len(set(texts)) == len(texts)
    assert {told[code][1] for code in nameless} == {"final"}, "what nobody knows is not repeated"


def test_the_page_tells_the_same(scripts: Scripts, tmp_path: Path) -> None:
    page = (_ROOT / "docs" / "orders.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (100\d\d) \| `(\w+)` \| (.+?) \| (\w+) \|$", page, re.MULTILINE)
    told = _told(scripts, tmp_path)
    expected = [(str(code), name, *told[code]) for code, name in DOCUMENTED.items()]
    assert rows == expected


def test_the_emulator_numbers_them_as_documented() -> None:
    folder = _ROOT / "mt5bridge" / "emulator" / "shim" / "broker"
    text = (folder / "enums.hpp").read_text(encoding="utf-8")
    numbers = {int(code): name for name, code in re.findall(r"TRADE_RETCODE_(\w+) = (\d+)", text)}
    assert numbers == DOCUMENTED
    words = (folder / "retcodes.cpp").read_text(encoding="utf-8")
    assert set(re.findall(r"\{TRADE_RETCODE_(\w+),", words)) == set(DOCUMENTED.values())
    source = sources_folder() / "Include" / "Mt5Bridge" / "Orders" / "Retcodes.mqh"
    named = set(re.findall(r"TRADE_RETCODE_(\w+)", source.read_text(encoding="utf-8")))
    assert named == set(DOCUMENTED.values())
