"""The probe in the emulated terminal finds what is kept of it, and what the sources need."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.terminal.assumptions import ASSUMPTIONS, emulated
from mt5bridge.terminal.probe import Probe, deviations, unmeasured
from tests.mql5 import platform
from tests.mql5.running import Scripts


@pytest.fixture(scope="module")
def probes(scripts: Scripts, tmp_path_factory: pytest.TempPathFactory) -> list[Probe]:
    """What is found in terminals of each seed. `scripts` has compiled them, or skips."""
    assert scripts.programs
    folder = tmp_path_factory.mktemp("platform")
    return [platform.probed(folder / str(seed), seed) for seed in platform.SEEDS]


def test_the_emulated_terminal_is_as_it_was_measured(probes: list[Probe]) -> None:
    found = platform.record(probes)
    assert found == emulated(), "run python -m tests.mql5.platform, and read what has changed"


def test_every_fact_of_the_table_is_measured_and_no_other(probes: list[Probe]) -> None:
    for probe in probes:
        assert unmeasured(probe) == [] and probe.skipped == {}
        assert probe.facts.keys() <= ASSUMPTIONS.keys()


def test_the_emulated_terminal_does_what_the_sources_need(probes: list[Probe]) -> None:
    """Figures of speed are those of this machine, which may be busy."""
    found = [one for probe in probes for one in deviations(probe)]
    assert [one.text for one in found if not one.assumption.varies] == []
    for name in (name for name, one in ASSUMPTIONS.items() if one.varies):
        assert all(isinstance(probe.facts[name], int | float) for probe in probes), name


def test_a_probe_says_with_what_it_was_made(probes: list[Probe]) -> None:
    (probe, _) = probes
    assert (probe.account, probe.symbol, probe.build) == ("demo", "EURUSD", 5000)
    assert "10000001" not in repr(probe), "no account number"


def test_an_address_that_is_not_allowed_is_a_fact(scripts: Scripts, tmp_path: Path) -> None:
    assert scripts.programs
    probe = platform.probed(tmp_path, seed=1, allowed="10.0.0.1")
    found = {one.assumption.name: one.value for one in deviations(probe)}
    assert found["socket.closed_port_error"] == 4014
    assert "error 4014" in probe.skipped["socket."]
    assert {name.partition(".")[0] for name in unmeasured(probe)} == {"socket"}
