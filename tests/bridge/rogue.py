"""A program that has taken the daemon's port: it lets everybody in and keeps what it hears."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import zmq

from mt5bridge.credential import CHALLENGE
from mt5bridge.proof import new_challenge
from mt5bridge.wire import Challenge, Proof, decode, encode
from tests.credentials import CREDENTIAL
from tests.wire.samples import FRAMES


class Rogue:
    """Answers each message as it is told to."""

    def __init__(self, answer: Callable[[bytes], list[bytes]]) -> None:
        self.heard: list[bytes] = []
        self.passwords: set[bytes] = set()
        self._answer = answer

    @contextmanager
    def listening(self) -> Iterator[str]:
        """Its address."""
        stop = threading.Event()
        with zmq.Context() as context:
            router, asked = context.socket(zmq.ROUTER), context.socket(zmq.REP)
            asked.bind("inproc://zeromq.zap.01")
            router.plain_server, router.zap_domain = True, b"rogue"
            port = router.bind_to_random_port("tcp://127.0.0.1")
            thread = threading.Thread(target=self._serve, args=(router, asked, stop))
            thread.start()
            try:
                yield f"tcp://127.0.0.1:{port}"
            finally:
                stop.set()
                thread.join()
                router.close(0)
                asked.close(0)

    def check(self) -> None:
        """It has heard no more than a nonce and a proof for its own."""
        assert self.passwords == {CHALLENGE.encode()} and self.heard
        assert {type(decode(data)) for data in self.heard} <= {Challenge, Proof}
        assert CREDENTIAL.password.encode() not in b"".join(self.heard)

    def _serve(
        self, router: zmq.Socket[bytes], asked: zmq.Socket[bytes], stop: threading.Event
    ) -> None:
        poller = zmq.Poller()
        poller.register(router, zmq.POLLIN)
        poller.register(asked, zmq.POLLIN)
        while not stop.is_set():
            ready = dict(poller.poll(20))
            if asked in ready:
                parts = asked.recv_multipart()
                self.passwords.add(parts[7])
                asked.send_multipart([b"1.0", parts[1], b"200", b"OK", b"x", b""])
            if router in ready:
                route, data = router.recv_multipart()
                self.heard.append(data)
                for answer in self._answer(data):
                    router.send_multipart([route, answer])


def welcoming(_data: bytes) -> list[bytes]:
    """Welcomes at once, and sends an order."""
    return [encode(FRAMES[name][1]) for name in ("welcome", "order")]


def pretending(data: bytes) -> list[bytes]:
    """Does as the daemon does, but for the password."""
    if isinstance(decode(data), Challenge):
        return [encode(new_challenge())]
    return [encode(Proof("1" * 64)), *welcoming(data)]


def reflecting(data: bytes) -> list[bytes]:
    """Says whatever it hears."""
    return [data]
