"""What MetaEditor writes is read whatever its encoding and its paths."""

from __future__ import annotations

import pytest

from mt5bridge.terminal.compiler_log import read_log

LOG = (
    "C:\\Program Files (x86)\\MT5\\MQL5\\Experts\\A.mq5 : information: compiling 'A.mq5'\r\n"
    "C:\\Program Files (x86)\\MT5\\MQL5\\Experts\\A.mq5(12,1) : error 109: '#propert' - invalid\r\n"
    "MQL5\\Include\\B.mqh(3,14) : warning 43: possible loss of data: error 5: no\r\n"
    "D:\\Übung\\C.mqh(7,2) : error 254: empty class 'C' cannot be used\r\n"
    "D:\\Übung\\C.mqh : information: info    see declaration of class 'C', error 3 is none\r\n"
    "E:\\D.mq5 : error 300: cannot open the file\r\n"
    "Result: 3 errors, 1 warnings, 887 msec elapsed, cpu='X64 Regular'\r\n"
)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be-bom", "utf-8", "utf-8-sig"])
def test_messages_have_their_places(encoding: str) -> None:
    raw = ("\ufeff" + LOG).encode("utf-16-be") if "bom" in encoding else LOG.encode(encoding)
    said = read_log(raw)
    assert [str(one) for one in said.messages] == [
        "Experts/A.mq5:12:1: error 109: '#propert' - invalid",
        "Include/B.mqh:3:14: warning 43: possible loss of data: error 5: no",
        "D:/Übung/C.mqh:7:2: error 254: empty class 'C' cannot be used",
        "E:/D.mq5: error 300: cannot open the file",
    ]
    assert (said.errors, said.warnings, said.is_complete) == (3, 1, True)


def test_a_log_without_a_result_is_not_complete() -> None:
    cut = LOG[: LOG.index("Result")]
    said = read_log(cut.encode("utf-16"))
    assert not said.is_complete and said.errors == 3
    assert not read_log(b"").is_complete
    assert not read_log("a text of 0 errors, 0 warnings".encode("utf-16")).is_complete


@pytest.mark.parametrize(
    "result", ["0 errors, 2 warnings, 5 msec elapsed", "Result 0 error(s), 2 warning(s)",
               "Result: 0 errors, 2 warnings"],
)  # fmt: skip
def test_results_of_other_builds(result: str) -> None:
    said = read_log(result.encode("utf-16"))
    assert said.is_complete and (said.errors, said.warnings) == (0, 2)


def test_bytes_that_are_no_text_are_read_as_far_as_they_go() -> None:
    assert not read_log(bytes(range(256)) * 3).is_complete
