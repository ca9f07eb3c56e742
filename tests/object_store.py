"""An object store of this machine: S3 over HTTP, on a free port."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import Request, urlopen

import pytest
from moto.server import ThreadedMotoServer

BUCKET = "bucket"
KEYS = {
    "AWS_ACCESS_KEY_ID": "someone",
    "AWS_SECRET_ACCESS_KEY": "a secret of tests",
    "AWS_EC2_METADATA_DISABLED": "true",
}
_numbers = itertools.count(1)


class ObjectStore:
    """A server with one bucket."""

    def __init__(self, port: int) -> None:
        self.host = f"127.0.0.1:{port}"
        self.query = f"endpoint_override={self.host}&scheme=http&region=us-east-1"
        self.ask("POST", "moto-api/reset")  # all servers of a process have the same buckets
        self.ask("PUT", BUCKET)

    def new(self) -> str:
        """The address of a folder in which nothing is."""
        return f"s3://{BUCKET}/{next(_numbers)}/ticks?{self.query}"

    def ask(self, method: str, path: str, data: bytes | None = None) -> bytes:
        """What the server answers to a request; HTTPError."""
        headers = {"Content-Type": "text/plain"}
        request = Request(f"http://{self.host}/{path}", data, headers, method=method)
        with urlopen(request) as answer:
            found: bytes = answer.read()
        return found

    @contextmanager
    def strict(self) -> Iterator[None]:
        """Nobody is let in who does not prove who they are, and nobody can."""
        self.ask("POST", "moto-api/reset-auth", b"0")
        try:
            yield
        finally:
            self.ask("POST", "moto-api/reset-auth", b"inf")


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """A server, and its keys in the environment."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        with pytest.MonkeyPatch.context() as environment:
            for name, value in KEYS.items():
                environment.setenv(name, value)
            yield ObjectStore(server.get_host_and_port()[1])
    finally:
        server.stop()
