"""What a web page can have its browser say to a port: an HTTP request whose bytes are ZMTP 1.0.

A peer that does not begin with ZMTP's signature speaks ZMTP 1.0: frames of one byte with the
length, one with flags, and the body. A request line and headers are such frames, too, whatever
they say. A page chooses the body of its request only: it begins with a slide, onto which any of
them leads.
"""

from __future__ import annotations

import struct

from mt5bridge.simulator import simulated_hello, simulated_symbol
from mt5bridge.wire import Frame, Symbols, encode

THIEF = "thief"
_MORE = 1
# Empty frames, from whichever byte on; then one that ends them, from either of its first two.
_SLIDE = b"\1" * 400 + b"\2\1\0" + b"\1\0"


def frames_1_0(*bodies: bytes) -> bytes:
    """Messages of one frame each."""
    return b"".join(_length(len(body) + 1) + b"\0" + body for body in bodies)


def _length(size: int) -> bytes:
    return bytes([size]) if size < 0xFF else b"\xff" + struct.pack(">Q", size)


def introduction() -> list[bytes]:
    """A trader's first frames."""
    frames: list[Frame] = [simulated_hello(THIEF, 1), Symbols((simulated_symbol("EURUSD"),))]
    return [encode(frame) for frame in frames]


def body() -> bytes:
    """Of a request that introduces a trader."""
    return _SLIDE + frames_1_0(*introduction())


def request(port: int) -> bytes:
    """All of it, as Chromium writes it."""
    content = body()
    head = (
        f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: keep-alive\r\n"
        f"Content-Length: {len(content)}\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n"
        "Accept: */*\r\nOrigin: http://127.0.0.1:8000\r\nSec-Fetch-Mode: no-cors\r\n"
        "Accept-Encoding: gzip, deflate, br\r\n\r\n"
    )
    return head.encode() + content


PAGE = """<!doctype html><title>waits</title><script>
const body = Uint8Array.from(atob("BODY"), letter => letter.charCodeAt(0));
async function knock() {
  for (;;) {
    const giveUp = AbortSignal.timeout(2000);
    try {
      await fetch("http://127.0.0.1:PORT/",
                  {method: "POST", mode: "no-cors", body, signal: giveUp});
    } catch (refused) { }
  }
}
knock();
</script>
"""
