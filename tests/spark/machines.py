"""Machines for a cluster: this one, or network namespaces that share nothing but the disk.

Namespaces are Linux's (ip-netns(8)): each has an interface and a loopback of its own, so that who
says 127.0.0.1 finds nobody. Making them needs root and iproute2.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

import pytest

NETWORK = "10.213.77"


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a process runs, and what others call it; without a namespace it is this machine."""

    address: str = "127.0.0.1"
    namespace: str = ""

    def command(self, words: Sequence[str]) -> list[str]:
        """What has a command run there."""
        inside = ["ip", "netns", "exec", self.namespace] if self.namespace else []
        return [*inside, *words]


def here(count: int) -> list[Machine]:
    """This machine, so often."""
    return [Machine()] * count


@contextmanager
def namespaces(count: int) -> Iterator[list[Machine]]:
    """So many, with a bridge between them that this machine is not part of; removed at the end.

    Skips where they cannot be made.
    """
    if reason := why_not():
        pytest.skip(reason)
    own = f"mt5cep{os.getpid()}"
    switch = f"{own}s"
    with ExitStack() as stack:
        stack.enter_context(namespace(switch))
        ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", switch, "link", "set", "bridge", "up")
        machines = []
        for number in range(count):
            machine = Machine(f"{NETWORK}.{number + 1}", f"{own}m{number}")
            stack.enter_context(namespace(machine.namespace))
            connect(machine, switch, f"port{number}")
            machines.append(machine)
        yield machines


def why_not() -> str:
    """What keeps namespaces from being made here; empty when nothing does."""
    if sys.platform != "linux" or shutil.which("ip") is None:
        return "network namespaces need Linux and iproute2"
    if os.geteuid() != 0:
        return "network namespaces need root"
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "network namespaces are not allowed here"


@contextmanager
def namespace(name: str) -> Iterator[None]:
    """One with a loopback; processes in it have ended before it is removed."""
    ip("netns", "add", name)
    try:
        ip("-n", name, "link", "set", "lo", "up")
        yield
    finally:
        with suppress(subprocess.CalledProcessError):
            ip("netns", "delete", name)


def connect(machine: Machine, switch: str, port: str) -> None:
    """A cable from a machine to the bridge."""
    inside = ("-n", machine.namespace)
    ip(*inside, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", switch)
    ip(*inside, "address", "add", f"{machine.address}/24", "dev", "eth0")
    ip(*inside, "link", "set", "eth0", "up")
    ip("-n", switch, "link", "set", port, "master", "bridge", "up")


def ip(*words: str) -> None:
    """Run `ip`. CalledProcessError when it fails."""
    subprocess.run(["ip", *words], check=True, capture_output=True)
