"""What the doctor can find, and what to do about each finding."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


class Entry(NamedTuple):
    """A kind of finding: how bad, when it is found, and the remedy."""

    level: Level
    when: str
    remedy: str


_OK, _WARNING, _PROBLEM = Level.OK, Level.WARNING, Level.PROBLEM
_COMPILE = "run `mt5cep terminal install --compile`"
_LISTED = 'Tools > Options > Expert Advisors, "Allow WebRequest for listed URL"'

CATALOGUE: dict[str, Entry] = {
    "address": Entry(_OK, "the daemon's address", ""),
    "address open": Entry(
        _WARNING, "other machines can reach the daemon, and the connection is not encrypted",
        "bind 127.0.0.1 and let a tunnel lead there, or make sure that only a tunnel leads here",
    ),
    "credential": Entry(_OK, "a terminal has the daemon's credential", ""),
    "credential missing": Entry(
        _WARNING, "a terminal has no credential, without which the daemon lets nobody in",
        "run `mt5cep terminal install --config FILE` with the daemon's settings",
    ),
    "credential other": Entry(
        _WARNING, "a terminal's credential is not the daemon's, or is damaged",
        "run `mt5cep terminal install --config FILE` with the daemon's settings; leave it if the "
        "programs have User and Password in their inputs",
    ),
    "name damaged": Entry(
        _PROBLEM, "a terminal's name cannot be read, without which it does not publish",
        "run `mt5cep terminal install` again: it gets the same name",
    ),
    "no credential": Entry(
        _PROBLEM, "the daemon's own credential is missing or cannot be used",
        "do what is said; a missing one is made by the daemon's start or `mt5cep daemon --init`",
    ),
    "address taken": Entry(
        _PROBLEM, "another program listens on the daemon's address",
        "end that program, or change the port in [server] bind and in the input Port of the EA",
    ),
    "daemon": Entry(_OK, "a daemon runs", ""),
    "no daemon": Entry(
        _WARNING, "no daemon runs; the doctor has listened in its place, and stored nothing",
        "start `mt5cep daemon --config FILE`; terminals keep everything until then",
    ),
    "daemon silent": Entry(
        _PROBLEM, "a daemon holds the spool, but has told nothing for seconds",
        "look at its log; end it and start it again: nothing that it acknowledged is lost",
    ),
    "daemon ended": Entry(
        _PROBLEM, "the last daemon has ended because a disk or a thread failed",
        "mend what it names and start it again: nothing that it acknowledged is lost",
    ),
    "daemon waits": Entry(
        _PROBLEM, "the daemon has no room: it takes and acknowledges nothing, terminals keep it",
        "make room on that disk, archive the spool, or raise [spool] max_mib; it goes on by itself",
    ),
    "daemon tries again": Entry(
        _WARNING, "something fails that nothing acknowledged depends on",
        "mend what it names; the daemon goes on meanwhile, and tries it again",
    ),
    "daemon version": Entry(
        _WARNING, "the daemon is of another version than this program",
        "end the daemon and start it again",
    ),
    "sources": Entry(_OK, "the sources in a terminal are ours", ""),
    "sources missing": Entry(
        _WARNING, "a terminal was found without our sources", "run `mt5cep terminal install`",
    ),
    "sources old": Entry(
        _WARNING, "the sources in a terminal are not those of this version",
        f"{_COMPILE}, attach the EA again",
    ),
    "sources edited": Entry(
        _WARNING, "you have edited installed sources",
        "if that was not meant: delete the files and run `mt5cep terminal install`",
    ),
    "programs": Entry(_OK, "the compiled programs are those of the sources", ""),
    "not compiled": Entry(
        _PROBLEM, "a program that is needed is not compiled",
        f"{_COMPILE}, or in the terminal press F4, open it and press F7",
    ),
    "program old": Entry(
        _PROBLEM, "a compiled program is older than its sources: the old one goes on running",
        f"{_COMPILE}, or in the terminal press F4, open it and press F7; attach it again if it "
        "is on a chart",
    ),
    "program of another version": Entry(
        _PROBLEM, "a compiled program is of another version than the running daemon",
        f"{_COMPILE}; end the daemon and start it again if that is the older one",
    ),
    "platform": Entry(_OK, "a terminal does what the sources take for granted", ""),
    "platform not measured": Entry(
        _WARNING, "facts that the sources take for granted were not measured in a terminal",
        "run Scripts > Mt5Bridge > SelfTest on a chart that is quoted, with the daemon running, "
        "then Experts > Mt5Bridge > SelfTestLife on such a chart",
    ),
    "platform differs": Entry(
        _WARNING, "a terminal does other than the sources take for granted; a problem where orders "
        "or completeness depend on it",
        "do what it says for that fact",
    ),
    "probe unreadable": Entry(
        _WARNING, "the file of facts that SelfTest has written cannot be used",
        "run Scripts > Mt5Bridge > SelfTest again, or Experts > Mt5Bridge > SelfTestLife for "
        "probe-life.json: it writes the file anew",
    ),
    "address refused": Entry(
        _PROBLEM, "the terminal refuses the daemon's address to a program",
        f"add the host of its input Address in {_LISTED}",
    ),
    "addresses off": Entry(
        _WARNING, "the terminal allowed no address when it was last closed",
        f"in the terminal: {_LISTED}; tick it, add the daemon's host",
    ),
    "link fails": Entry(
        _WARNING, "a program's newest word on its connection is a failure", "do what it says",
    ),
    "no terminal": Entry(
        _PROBLEM, "no terminal is connected",
        f"is the EA on a chart? Is the daemon's host listed in {_LISTED}? "
        "The Experts tab of the terminal's Toolbox tells what the EA tries",
    ),
    "terminal": Entry(_OK, "a terminal is connected", ""),
    "terminal away": Entry(
        _WARNING, "a terminal that was connected is not",
        "is it running, and the EA on its chart? It sends what it has when it is back",
    ),
    "program version": Entry(
        _WARNING, "the program in the terminal is of another version",
        f"{_COMPILE}, attach the EA again",
    ),
    "clock": Entry(_OK, "both clocks agree", ""),
    "clock unknown": Entry(
        _WARNING, "nothing is known of the terminal's clock yet", "look again in some seconds",
    ),
    "clock differs": Entry(
        _WARNING, "the terminal's clock differs from the daemon's by more than a second",
        "let both machines set their clocks by the network; validity of signals depends on it",
    ),
    "offset odd": Entry(
        _WARNING, "the trade server's offset from UTC is no zone of this world",
        "set the clock of the terminal's machine; if it is right, tell us the broker",
    ),
    "round trip": Entry(_OK, "how quickly the terminal answers", ""),
    "round trip unknown": Entry(
        _WARNING, "the terminal has not measured a round trip yet", "look again in some seconds",
    ),
    "round trip slow": Entry(
        _WARNING, "the terminal answers slowly",
        "make TimerMs of the EA smaller, or look at the line between the machines",
    ),
    "no symbols": Entry(
        _PROBLEM, "a terminal has announced no symbols",
        "name symbols in the input Symbols, spelled as in Market Watch",
    ),
    "stream": Entry(_OK, "a stream is complete", ""),
    "no ticks": Entry(
        _WARNING, "no tick of a symbol has come for minutes",
        "nothing to do while its market is closed; else see whether its chart moves",
    ),
    "behind": Entry(
        _WARNING, "the terminal has much that the daemon has not yet taken or stored",
        "normal after a break; if it lasts, look at the daemon's log and the disk",
    ),
    "records lost": Entry(
        _WARNING, "the terminal has declared records lost",
        "`mt5cep archive verify` names them; fill ticks by `mt5cep archive import`",
    ),
    "recount differs": Entry(
        _PROBLEM, "the terminal's tick base holds another number of ticks than the daemon",
        "the broker has corrected history, or a fault: keep the log, import the interval again",
    ),
    "account": Entry(_OK, "the account and what it may do", ""),
    "account unknown": Entry(
        _WARNING, "the terminal has not told its account's state", "look again in some seconds",
    ),
    "not logged in": Entry(
        _PROBLEM, "the terminal is logged in to no account",
        "log in to the account in the terminal: File > Login to Trade Account",
    ),
    "account differs": Entry(
        _WARNING, "a terminal's identity names another account than it is logged in to",
        "leave the input Identity empty, or name it after what stays the same: deals and orders of "
        "two accounts must not have one name",
    ),
    "not connected": Entry(
        _PROBLEM, "the terminal has no connection to its trade server",
        "log in to the account in the terminal; see the lower right corner",
    ),
    "algo trading off": Entry(
        _WARNING, "algo trading is off in the terminal",
        "press Algo Trading in the toolbar (Ctrl+E)",
    ),
    "program not allowed": Entry(
        _WARNING, "algo trading is not allowed for this EA",
        'EA properties (F7 on the chart) > Common: tick "Allow Algo Trading"',
    ),
    "account may not trade": Entry(
        _WARNING, "the account may not trade",
        "log in with the trader's password, not the investor's; or ask the broker",
    ),
    "experts not allowed": Entry(
        _WARNING, "the account may not be traded by programs", "ask the broker",
    ),
    "trades": Entry(_OK, "what the terminal does with signals and orders", ""),
    "no trader": Entry(
        _WARNING, "the daemon sends signals or orders, and no connected terminal executes them",
        "attach Experts > Mt5Bridge > Trader with Trading set to dry run or live",
    ),
    "ticks twice": Entry(
        _WARNING, "two terminals publish the same symbol of one trade server",
        "leave it to one of them: rules see each tick twice",
    ),
    "traders overlap": Entry(
        _PROBLEM, "two traders of one account execute signals for the same symbol: each is traded "
        "twice",
        "give each its own Symbols, or remove one",
    ),
    "unanswered": Entry(
        _WARNING, "orders or signals are without a final result",
        "`mt5cep orders ls` lists them; they are asked for again at every connection",
    ),
    "halted": Entry(
        _WARNING, "trading is halted", "`mt5cep orders resume --config FILE` when it may go on",
    ),
    "complaint": Entry(
        _WARNING, "something was refused", "the daemon's log tells more; see docs/operate.md",
    ),
}  # fmt: skip
"""Every kind of finding by its name."""


class Finding(msgspec.Struct, frozen=True):
    """One line of the doctor's: about what, how bad, what was seen, what to do."""

    name: str
    level: Level
    subject: str
    seen: str
    remedy: str


def finding(name: str, subject: str, seen: str, level: Level | None = None) -> Finding:
    """A finding of the catalogue; `level` where it depends on the circumstances."""
    entry = CATALOGUE[name]
    return Finding(name, level or entry.level, subject, seen, entry.remedy)
