"""PLAIN authentication of terminals, by user and password."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import zmq
from zmq.auth.thread import ThreadAuthenticator

_DOMAIN = "mt5bridge"


@contextlib.contextmanager
def plain(
    context: zmq.Context[Any], socket: zmq.Socket[bytes], passwords: Mapping[str, str]
) -> Iterator[None]:
    """Let only these users connect to `socket`, which is not bound yet; none given: everyone."""
    if not passwords:
        yield
        return
    authenticator = ThreadAuthenticator(context)
    authenticator.start()
    try:
        authenticator.configure_plain(domain=_DOMAIN, passwords=dict(passwords))
        socket.plain_server = True
        socket.zap_domain = _DOMAIN.encode()
        yield
    finally:
        authenticator.stop()
