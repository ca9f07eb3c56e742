"""Tick files as they should not be, and what each way to read one has to say."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass

START = 1_709_280_000_000
"""2024-03-01 08:00 UTC."""

HEADER = "time_msc,bid,ask\n"
ATHENS, NEW_YORK = "Europe/Athens", "ny+7"


@dataclass(frozen=True)
class Bad:
    """A file; `imported` and `replayed` tell what is said of it.

    A text that begins with `:LINE:` or `:` is a part of a refusal behind the file's name; any other
    one is a part of a note beside rows that are taken. None: the rows are what the file says.
    """

    name: str
    content: bytes
    imported: str | None
    replayed: str | None
    file: str = "EURUSD.csv"
    server: str | None = None


def lines(count: int = 3, start: int = START) -> str:
    """Good ones."""
    return "".join(f"{start + 250 * i},1.0801{i},1.0802{i}\n" for i in range(count))


GOOD = HEADER + lines()


def priced(bid: str) -> bytes:
    """A file whose fourth line has this bid."""
    return f"{HEADER}{lines(2)}{START + 1000},{bid},1.2\n".encode()


def timed(time: str, column: str = "time") -> bytes:
    return f"{column},bid,ask\n{time},1.1,1.2\n".encode()


def named(symbol: str) -> bytes:
    return f"time_msc,symbol,bid,ask\n{START},{symbol},1.1,1.2\n".encode()


def units() -> Iterator[Bad]:
    """Times that are whole numbers of another unit than their column has."""
    remedies = {
        "s": "call the column time,", "ms": "call the column time_msc,",
        "us": "divide it by 1,000 and", "ns": "divide it by 1,000,000 and",
    }  # fmt: skip
    for column, own in (("time", "s"), ("time_msc", "ms")):
        for power, (unit, remedy) in enumerate(remedies.items()):
            times = [(1_709_280_000 + i) * 1000**power for i in range(3)]
            text = f"{column},bid,ask\n" + "".join(f"{time},1.1,1.2\n" for time in times)
            if unit != own:
                # all small numbers could be of 1970, so that replay names the file's first row
                yield Bad(f"{unit} in {column}", text.encode(), f":2:{remedy}", f":2:{remedy}")
    mixed = f"time,bid,ask\n1709280000,1.1,1.2\n{START},1.1,1.2\n".encode()
    yield Bad("ms among s", mixed, ":3:call the column time_msc", ":3:call the column time_msc")


def clocks() -> Iterator[Bad]:
    """Texts of times; for replay one without a zone is UTC."""
    for name, time in (
        ("30 February", "2024-02-30 10:00:00Z"), ("month 13", "2024-13-01 10:00:00Z"),
        ("hour 24", "2024-03-01 24:00:00Z"), ("second 60", "2024-03-01 23:59:60Z"),
        ("year 46302", "46302-01-01T00:00:00Z"), ("two digits of a year", "24-03-01 10:00:00Z"),
        ("American", "03/01/2024 10:00:00"), ("a time without a date", "10:00:00"),
        ("a serial number of Excel", "45352.416"), ("Arabic digits", "٢٠٢٤-٠٣-٠١ 10:00:00Z"),
        ("thousands in a time", "1_709_280_000"), ("full-width time", "１７０９２８００００"),
        ("no time at all", "-"),
    ):  # fmt: skip
        yield Bad(
            name, timed(time), f":2:time {time!r} cannot be used", ":2:is no time", server="UTC"
        )
    yield Bad("finer than a millisecond", timed("2024-03-01 10:00:00.0001Z"),
              ":2:round times to whole milliseconds", ":2:finer than a millisecond")  # fmt: skip
    yield Bad("a date alone", timed("2024-03-01"), ":2:has no time of day", None, server="UTC")
    yield Bad("no zone", timed("2024-03-01 10:00:00"), ":2:say what the server's clock shows", None)
    mixed = timed("2024-03-01T10:00:00+02:00") + b"2024-03-01T10:00:01,1.1,1.2\n"
    yield Bad("some with a zone", mixed, ":3:some times have a zone", ":3:some times have a zone")
    gap = "2024-03-31 03:30:00", "2024-03-10 09:30:00"
    fold = "2024-10-27 03:30:00", "2024-11-03 08:30:00"
    for server, never, twice in zip((ATHENS, NEW_YORK), gap, fold, strict=True):
        yield Bad(f"gap of {server}", timed(never), ":2:never came", None, server=server)
        yield Bad(f"fold of {server}", timed(twice), ":2:came twice", None, server=server)
    minutes = ("03:10", "03:50", "03:10", "03:50", "03:10")
    jumps = "time,bid,ask\n" + "".join(f"2024-10-27 {m}:00,1.1,1.2\n" for m in minutes)
    yield Bad("fold that jumps twice", jumps.encode(), ":6:jumps back more than once",
              "is older than the one before", server=ATHENS)  # fmt: skip


def prices() -> Iterator[Bad]:
    """What is no number is refused; odd quotes are marked, and rows of replay are any numbers."""
    for text in (
        "1_000.5",
        "１.０８",
        "1.0801.2",
        "NA",
        "null",
        "-",
        " ",
        "0x1p0",
        "true",
        "1 080.5",
    ):
        yield Bad(f"bid {text!r}", priced(text), ":4:is no number; write numbers as 1000.5",
                  ":4:is no double; write the number as 1000.5")  # fmt: skip
    for text, mark in (("nan", "1 nan"), ("inf", "1 nan"), ("-inf", "1 nan"), ("1e999", "1 nan"),
                       ("0", "1 zero"), ("-1.1", "1 negative"), ("1.3", "1 crossed")):  # fmt: skip
        yield Bad(f"bid {text}", priced(text), mark, None)
    off = HEADER + lines(50) + f"{START + 90_000},108.01,108.02\n" + lines(50, START + 100_000)
    yield Bad("100 times off", off.encode(), "1 price three times that of the day", None)
    comma = "is no double; write the number as 1000.5"
    for name, text, refused in (
        ("decimal commas", f"{START};1,0801;1,0802\n", None),
        ("both", f"{START};1,0801;1,0802\n{START};1.0801;1,0802\n", ":3:bid '1.0801' is no number"),
        ("commas for thousands", f"{START};1,080.1;1,080.2\n", ":2:bid '1,080.1' is no number"),
    ):
        content = (HEADER.replace(",", ";") + text).encode()
        yield Bad(name, content, refused, f":2:{comma}")
    said = ":2:5 fields where the header has 3"
    yield Bad("decimal and other commas", f"{HEADER}{START},1,0801,1,0802\n".encode(), said, said)
    quoted = f'{HEADER}{START},"1,0801","1,0802"\n'.encode()
    yield Bad("quoted decimal commas", quoted, ":2:is no number", f":2:{comma}")
    for name, value in (("volume", "-5"), ("volume", "nan"), ("flags", "inf"), ("flags", "2.5"),
                        ("flags", "-3"), ("flags", "1e30")):  # fmt: skip
        content = f"time_msc,bid,ask,{name}\n{START},1.1,1.2,{value}\n".encode()
        yield Bad(f"{name} {value}", content, f":2:{name} ", None)


def columns() -> Iterator[Bad]:
    """Headers and numbers of fields."""
    for name, header, row, said in (
        ("no ask", "time_msc,bid", "{},1.1", "no column"),
        ("no time", "bid,ask", "1.1,1.2", "no time column"),
        ("bars", "time,open,high,low,close", "2024-03-01,1,1,1,1", "no "),
        ("two bids", "time_msc,bid,bid,ask", "{},1.1,1.2,1.3", "more than one column"),
        ("pipes", "time_msc|bid|ask", "{}|1.1|1.2", "no time column"),
        ("spaces", "time_msc bid ask", "{} 1.1 1.2", "no time column"),
        ("a page of the web", "<!DOCTYPE html>", "<html>", "no time column"),
    ):
        yield Bad(name, f"{header}\n{row.format(START)}\n".encode(), f":1:{said}", f":1:{said}")
    for name, header in (("bid twice", "time_msc,bid,bidprice,ask"),
                         ("time twice", "time_msc,timestamp,bid,ask")):  # fmt: skip
        content = f"{header}\n{START},1.1,1.2,1.3\n".encode()
        yield Bad(name, content, ":1:mean the same", None)
    yield Bad("a new column", f"time_msc,bid,ask,depth\n{START},1.1,1.2,7\n".encode(), None, None)
    for name, row, count in (("a new column later", "1.1,1.2,7", 4), ("too few", "1.1", 2)):
        said = f":4:{count} fields where the header has 3"
        yield Bad(name, f"{HEADER}{lines(2)}{START + 900},{row}\n".encode(), said, said)
    for name, content in (
        ("header with tabs", HEADER.replace(",", "\t") + lines()),
        ("rows with semicolons", HEADER + lines().replace(",", ";")),
    ):
        said = ":2:1 fields where the header has 3"
        yield Bad(name, content.encode(), said, said)
    yield Bad("two exports in one", (GOOD + HEADER + lines(2, START + 9_000)).encode(),
              ":5:bid 'bid' is no number", ":5:'bid' is no double")  # fmt: skip


def bytes_() -> Iterator[Bad]:
    """Encodings, line ends, quotes, files that end early."""
    good = GOOD.encode()
    yield Bad("BOM", b"\xef\xbb\xbf" + good, None, None)
    yield Bad("two BOMs", b"\xef\xbb\xbf" * 2 + good, ":1:U+FEFF", ":1:no time column")
    yield Bad("UTF-16", GOOD.encode("utf-16"), None, None)
    yield Bad("UTF-16 without BOM", GOOD.encode("utf-16-be"), None, None)
    yield Bad("half a character", GOOD.encode("utf-16")[:-1], ":4:not text", ":4:not text")
    yield Bad("UTF-32", GOOD.encode("utf-32"), *[":not text: it is UTF-32"] * 2)
    latin = f"time_msc,bid,ask,note\n{START},1.1,1.2,caf\xe9\n".encode("latin1")
    yield Bad("Latin-1", latin, ":2:not text", ":2:not UTF-8")
    yield Bad(
        "NUL in a time", good + b"17092800\x000,1.1,1.2\n", ":5:cannot be used", ":5:is no time"
    )
    nul = good + f"{START + 999},1.\x001,1.2\n".encode()
    yield Bad("NUL in a price", nul, ":5:is no number", ":5:is no double")
    yield Bad("NULs at the end", good + bytes(4096), ":5:1 fields", ":5:1 fields")
    yield Bad("NULs alone", bytes(4096), ":1:U+0000", ":1:no time column")
    yield Bad("any bytes", bytes(range(256)) * 20, ":1:not text", ":1:not text")
    yield Bad("half a line", good + b"170928", ":5:1 fields", ":5:1 fields")
    yield Bad("a line without its ask", good + b"1709280001000,1.0", ":5:2 fields", ":5:2 fields")
    yield Bad("half a price", good + b"1709280001000,1.08013,1", "1 crossed", None)
    yield Bad("CR LF", good.replace(b"\n", b"\r\n"), None, None)
    mixed = HEADER.replace("\n", "\r\n") + lines() + lines(3, START + 5000).replace("\n", "\r\n")
    yield Bad("CR LF and LF", mixed.encode(), None, None)
    alone = ":1:lines end with a carriage return alone"
    yield Bad("CR", good.replace(b"\n", b"\r"), alone, alone)
    quoted = '"time_msc","bid","ask"\n' + f'"{START}","1.1","1.2"\n'
    yield Bad("quotes", quoted.encode(), None, None)
    open_ = f'{HEADER}{lines(2)}"{START + 5000},1.1,1.2\n'
    yield Bad("a quote that stays open", open_.encode(), ":4:1 fields", ":4:1 fields")
    within = f'{HEADER}{START},"1.1\n",1.2\n'
    yield Bad("a line end in a price", within.encode(), ":2:2 fields", ":3:is no double")
    yield Bad("empty", b"", ":1:no time column", ":1:no time column")
    yield Bad("blank", b"\n\n", ":1:no time column", ":1:no time column")
    yield Bad("a header alone", HEADER.encode(), ":nothing to import", "no rows")
    long = f"{HEADER}{lines(1)}{START + 500},1.1,1.2,{'9' * (3 << 20)}\n"
    yield Bad("a huge line", long.encode(), ":3:larger than", ":3:larger than")


def packed() -> Iterator[Bad]:
    """Files in files, and files under another name."""
    whole = gzip.compress((HEADER + lines(5000)).encode())
    good = gzip.compress(GOOD.encode())
    for name, content in (
        ("gzip, cut off", whole[:-200]), ("gzip, damaged", good[:-8] + bytes(8)),
        ("no gzip", GOOD.encode()), ("gzip and more", good + b"more"),
    ):  # fmt: skip
        yield Bad(name, content, ":cannot be read", ":cannot be read", "EURUSD.csv.gz")
    yield Bad("gzip without its name", good, ":it is gzipped", ":1:not UTF-8")
    yield Bad(
        "zip without its name", b"PK\3\4" + b"0" * 50, ":it is a zip file", ":1:no time column"
    )
    yield Bad("Parquet, cut off", b"PAR1" + bytes(99), ":cannot be read", ":not a Parquet file",
              "EURUSD.parquet")  # fmt: skip
    yield Bad("no zip", b"", ":cannot be unpacked", ":unknown format", "EURUSD.zip")
    yield Bad("no bi5", b"x" * 9, ":damaged", ":unknown format", "EURUSD/2024/02/01/09h_ticks.bi5")
    yield Bad("a workbook", b"x", ":unknown format", ":unknown format", "EURUSD.xlsx")
    half = f'{{"time_msc":{START},"bid":1.1,"ask":1.2}}\n{{"time_msc":'
    yield Bad("half an object", half.encode(), ":2:truncated", ":2:", "EURUSD.jsonl")
    array = f'[{{"time_msc":{START},"bid":1.1,"ask":1.2}}]\n'
    yield Bad("an array", array.encode(), ":1:not a JSON object", ":1:", "EURUSD.jsonl")
    text = f'{{"time_msc":{START},"bid":"1.1","ask":1.2}}\n'
    yield Bad(
        "a price in quotes", text.encode(), ":1:is no number", ":1:is no double", "EURUSD.jsonl"
    )


def order() -> Iterator[Bad]:
    """Ticks in another order than that of time, and symbols that are none."""
    back = HEADER + "".join(reversed(lines(5).splitlines(keepends=True)))
    later = "is older than the one before"
    yield Bad("backwards", back.encode(), "4 ticks behind later ones", later)
    days = "".join(f"{START - 3 * 86_400_000 * i},1.1,1.2\n" for i in range(4))
    yield Bad("days backwards", (HEADER + days).encode(), "3 ticks behind later ones", later)
    unseen = ":2:has a character that cannot be seen"
    for symbol in ("EUR\x07USD", '"EUR\nUSD"', "EUR\u00a0USD", "EUR\u202eUSD", "EUR\x1b[31mUSD"):
        yield Bad(f"symbol {symbol!r}", named(symbol), unseen, None)
    yield Bad("spaces around a symbol", named(" EURUSD "), ":2:begins or ends with a space", None)
    yield Bad("no symbol", named(""), ":2:the symbol is missing", None)


CORPUS = [
    *units(), *clocks(), *prices(), *columns(), *bytes_(), *packed(), *order(),
]  # fmt: skip
