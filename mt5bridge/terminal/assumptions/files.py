"""Files: on them rests what a program knows after a crash."""

from __future__ import annotations

from mt5bridge.terminal.assumptions.base import (
    NO,
    NOT_HERE,
    REPORT,
    YES,
    Assumption,
    Between,
    Only,
)  # fmt: skip
from mt5bridge.terminal.findings import Level

_JOURNAL = "Orders/OrderJournal.mqh"
_JOURNAL_FILE = "Orders/JournalFile.mqh"
_LEDGER = "Market/LedgerFile.mqh"
_DEALS = "Deals/DealFile.mqh"
_PROBLEM = Level.PROBLEM

FILES = (
    Assumption(
        "file.move_onto_file", "FileMove without FILE_REWRITE onto a file that is there",
        "fails", NO, (_JOURNAL,), r"FileMove\(.*, 0\)", NOT_HERE, _PROBLEM,
    ),
    Assumption(
        "file.move_onto_file_error", "GetLastError then", "5020 of the list of errors fits",
        Between(1, 65_535), (_JOURNAL,), "GetLastError", REPORT,
    ),
    Assumption(
        "file.move_rewrite", "FileMove with FILE_REWRITE replaces a file, and the old name is gone",
        "it does", YES, (_JOURNAL_FILE, _LEDGER), "FILE_REWRITE", NOT_HERE, _PROBLEM,
    ),
    Assumption(
        "file.move_to_free_name", "FileMove without a flag to a name that is free", "it does",
        YES, (_JOURNAL,), r"FileMove\(.*, 0\)", NOT_HERE, _PROBLEM,
    ),
    Assumption(
        "file.move_over_open", "FileMove with FILE_REWRITE over a file that is open", "",
        NO, (_JOURNAL_FILE,), "exclusively",
        "run one trader in one terminal only: another could replace its journal", _PROBLEM,
    ),
    Assumption(
        "file.move_over_open_error", "GetLastError then", "", Between(1, 65_535), (_JOURNAL,),
        "GetLastError", REPORT,
    ),
    Assumption(
        "file.exclusive_by_default", "a file open without FILE_SHARE flags cannot be opened again",
        "sharing needs the flags", YES, (_JOURNAL_FILE,), "exclusively",
        "run one trader in one terminal only: its journal does not keep a second one out", _PROBLEM,
    ),
    Assumption(
        "file.held_error", "GetLastError then", "5004: the file cannot be opened",
        Between(1, 65_535), (_JOURNAL,), "GetLastError", REPORT,
    ),
    Assumption(
        "file.share_read", "a file open with FILE_SHARE_READ can be read meanwhile", "it can",
        YES, (_LEDGER, _DEALS), "FILE_SHARE_READ",
        "do not look into the publisher's files while it runs",
    ),
    Assumption(
        "file.flush_is_seen", "who reads meanwhile sees what FileFlush has written",
        "FileFlush writes to the disk", YES, (_JOURNAL, _LEDGER, _DEALS, "Orders/KillSwitch.mqh"),
        "FileFlush", NOT_HERE, _PROBLEM,
    ),
    Assumption(
        "file.append", "FILE_READ with FILE_WRITE keeps what is there, and writes behind it after "
        "FileSeek to the end", "it does", YES, (_JOURNAL_FILE, _LEDGER),
        r"FILE_READ \| FILE_WRITE|SEEK_END", NOT_HERE, _PROBLEM,
    ),
    Assumption(
        "file.write_empties", "FILE_WRITE alone empties the file", "it does", YES,
        (_JOURNAL, _LEDGER), r"FILE_WRITE \| FILE_BIN\)", NOT_HERE, _PROBLEM,
    ),
    Assumption(
        "file.read_absent", "FILE_READ opens a file that is not there", "it fails", NO,
        ("Link/Credential.mqh", "TerminalName.mqh"), "INVALID_HANDLE", REPORT,
    ),
    Assumption(
        "file.absent_error", "GetLastError then", "5004 of the list of errors fits",
        Between(1, 65_535), (_DEALS,), "GetLastError", REPORT,
    ),
    Assumption(
        "file.read_write_creates", "FILE_READ with FILE_WRITE makes a file that is not there",
        "it does", YES, (_DEALS,), r"FILE_READ \| FILE_WRITE", REPORT, _PROBLEM,
    ),
    Assumption(
        "file.read_struct", "bytes that FileReadStruct gives for a whole record of 24", "24",
        Only((24,)), (_LEDGER, _DEALS), "FileReadStruct", REPORT, _PROBLEM,
    ),
    Assumption(
        "file.read_struct_torn", "bytes that it gives where 10 are left", "the number read",
        Between(0, 23), (_LEDGER, _DEALS), "FileReadStruct",
        "delete no file of Mt5Bridge after a crash, and tell us", _PROBLEM,
    ),
    Assumption(
        "file.case_insensitive", "names that differ in case only are one file", "",
        Only((True, False)), ("Account.mqh",), "SafeFileName",
        REPORT,
    ),
    Assumption(
        "file.device_name", "a file named NUL is refused, swallows bytes, or is a file", "",
        Only(("refused", "swallowed", "a file")), ("Account.mqh",), "SafeFileName", REPORT,
    ),
    Assumption(
        "file.device_name_with_type", "the same of NUL.DE", "",
        Only(("refused", "swallowed", "a file")), ("Account.mqh",), "SafeFileName", REPORT,
    ),
    Assumption(
        "file.longest_name", "characters of the longest name, folders below Files with it",
        "5003 for names that are too long", Between(120, 32_767), ("Account.mqh",),
        "SafeFileName", "give the terminal a data folder with a shorter path, or name publisher "
        "and trader by a short Identity",
    ),
)  # fmt: skip
