"""The ends of a TLS tunnel as the shipped files of stunnel describe them: the real program, and a
stand-in of the standard library that follows the same keys.
"""

from __future__ import annotations

import asyncio
import configparser
import ssl
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from shutil import which
from typing import Any

from cep.demo.processes import free_port
from tests.tidy.sources import ROOT
from tests.waiting import LONG_S, wait_until

KNOWN = {"client", "accept", "connect", "cert", "key", "CAfile", "verifyChain", "requireCert",
         "checkHost", "sslVersionMin"}  # fmt: skip
HAS_STUNNEL = which("stunnel") is not None


class End:
    """One end's file in a folder, with addresses of this machine."""

    def __init__(self, name: str, folder: Path, connect: str, **changes: str) -> None:
        self.folder = folder
        text = (ROOT / "config" / f"stunnel-{name}.conf").read_text(encoding="utf-8")
        self.keys = parsed(text)
        self.keys |= {"accept": f"127.0.0.1:{free_port()}", "connect": connect, **changes}
        for missing in [name for name, value in self.keys.items() if not value]:
            del self.keys[missing]

    @property
    def address(self) -> str:
        """Where it listens."""
        return self.keys["accept"]


def parsed(text: str) -> dict[str, str]:
    """All keys; one that the stand-in does not follow fails."""
    parser = configparser.ConfigParser(comment_prefixes=(";",))
    parser.optionxform = str  # type: ignore[method-assign, assignment]
    parser.read_string("[global]\n" + text)
    found = {**parser["global"], **parser["mt5cep"]}
    assert found.keys() <= KNOWN, found.keys() - KNOWN
    return found


def context_of(end: End) -> ssl.SSLContext:
    """What the keys say about certificates."""
    keys = end.keys
    is_client = keys.get("client") == "yes"
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT if is_client else ssl.PROTOCOL_TLS_SERVER)
    assert keys["sslVersionMin"] == "TLSv1.2"
    found.minimum_version = ssl.TLSVersion.TLSv1_2
    if "cert" in keys:
        found.load_cert_chain(end.folder / keys["cert"], end.folder / keys["key"])
    found.check_hostname = "checkHost" in keys
    is_checked = keys.get("verifyChain") == "yes"
    found.verify_mode = ssl.CERT_REQUIRED if is_checked else ssl.CERT_NONE
    found.load_verify_locations(end.folder / keys["CAfile"])
    return found


@contextmanager
def by_stunnel(end: End) -> Iterator[None]:
    """The real program."""
    path, log = end.folder / f"{end.address}.conf", end.folder / f"{end.address}.log"
    keys = [f"{name} = {value}" for name, value in end.keys.items() if name != "sslVersionMin"]
    head = ["foreground = yes", "pid =", "sslVersionMin = TLSv1.2", "[mt5cep]"]
    path.write_text("\n".join([*head, *keys]) + "\n", encoding="utf-8")
    with log.open("wb") as output:
        found = subprocess.Popen(
            ["stunnel", str(path)], cwd=end.folder, stdout=output, stderr=output
        )
        try:
            wait_until(lambda: b"Configuration successful" in log.read_bytes())
            yield
        finally:
            found.kill()
            found.wait(LONG_S)


@contextmanager
def by_python(end: End) -> Iterator[None]:
    """The stand-in, in a thread of its own."""
    context, is_client = context_of(end), end.keys.get("client") == "yes"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = end.keys["connect"].rpartition(":")
        there = asyncio.open_connection(
            host, int(port), ssl=context if is_client else None,
            server_hostname=end.keys.get("checkHost") if is_client else None,
        )  # fmt: skip
        await _bridge(reader, writer, there)

    with _serving(end.address, answer, None if is_client else context):
        yield


@contextmanager
def overheard(connect: str, heard: bytearray) -> Iterator[str]:
    """Who sits in between, and hears all that passes; where."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = connect.rpartition(":")
        await _bridge(reader, writer, asyncio.open_connection(host, int(port)), heard.extend)

    address = f"127.0.0.1:{free_port()}"
    with _serving(address, answer, None):
        yield address


async def _bridge(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    opening: Coroutine[Any, Any, tuple[asyncio.StreamReader, asyncio.StreamWriter]],
    hear: Callable[[bytes], None] = lambda data: None,
) -> None:
    """Lead one connection to another one, until both have ended."""
    ends = [writer]
    try:
        there = await opening
        ends.append(there[1])
        await asyncio.gather(_copy(reader, there[1], hear), _copy(there[0], writer, hear))
    except OSError:  # ssl.SSLError is one
        writer.close()
    except asyncio.CancelledError:
        for one in ends:
            one.transport.abort()
        raise


async def _copy(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    hear: Callable[[bytes], None],
) -> None:
    with suppress(OSError), closing(writer):
        while data := await reader.read(65_536):
            hear(data)
            writer.write(data)
            await writer.drain()


@contextmanager
def _serving(
    address: str,
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], object],
    context: ssl.SSLContext | None,
) -> Iterator[None]:
    ready, host, port = threading.Event(), *address.split(":")
    found: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        loop.set_exception_handler(lambda _loop, _context: None)  # handshakes that fail
        server = await asyncio.start_server(answer, host, int(port), ssl=context)  # type: ignore[arg-type]
        found.append((loop, stop))
        ready.set()
        await stop.wait()
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(LONG_S)
    try:
        yield
    finally:
        ((loop, stop),) = found
        loop.call_soon_threadsafe(stop.set)
        thread.join(LONG_S)
