"""A million frames that are almost right through both decoders; streams through the ZMTP client.

    python -m benchmarks.fuzz_frames [--frames 1000000] [--streams 100000] [--seed 1] [--sanitize]

Python's decoder and the compiled MQL5 one must give the same verdict for each frame, reason
included, and write every accepted frame back as it came. With --sanitize the MQL5 side, and the
emulated terminal around it, run under g++'s address and undefined behaviour sanitizers, which take
minutes to compile. Each part of 50,000 has its own seed, which is printed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.machine import describe
from tests.mql5.agreement import compare_decoders, meet_right_peers, meet_wrong_peers
from tests.mql5.running import FUZZERS, Scripts

_PART = 50_000
_STREAMS_PART = 5_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--streams", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sanitize", action="store_true")
    options = parser.parse_args()
    scripts = Scripts.build(FUZZERS, sanitize=options.sanitize)
    with tempfile.TemporaryDirectory() as folder:
        verdicts = fuzz_frames(scripts, Path(folder), options.seed, options.frames)
        failures = fuzz_streams(scripts, Path(folder), options.seed, options.streams)
    print(describe())
    print(table(verdicts, failures))


def fuzz_frames(scripts: Scripts, folder: Path, seed: int, count: int) -> Counter[str]:
    """All parts; how often each verdict fell."""
    seen: Counter[str] = Counter()
    for begin in range(0, count, _PART):
        part = min(_PART, count - begin)
        seen += compare_decoders(scripts, folder, seed, part)
        print(f"seed {seed}: {part:,} frames, both decoders agree", flush=True)
        seed += 1
    return seen


def fuzz_streams(scripts: Scripts, folder: Path, seed: int, count: int) -> Counter[int]:
    """All parts, right and wrong peers; how often the client ended with each failure."""
    failures: Counter[int] = Counter()
    for begin in range(0, count, _STREAMS_PART):
        part = min(_STREAMS_PART, count - begin)
        meet_right_peers(scripts, folder, seed, part)
        failures += meet_wrong_peers(scripts, folder, seed, part)
        print(f"seed {seed}: {part:,} right and {part:,} wrong peers", flush=True)
        seed += 1
    return failures


def table(verdicts: Counter[str], failures: Counter[int]) -> str:
    """What was found, as Markdown."""
    lines = ["| verdict of both | frames |", "|---|---|"]
    lines += [f"| {name} | {count:,} |" for name, count in verdicts.most_common()]
    lines += [f"| all | {verdicts.total():,} |", "| differing | 0 |", ""]
    lines += ["| the ZMTP client on a wrong peer | streams |", "|---|---|"]
    failed = failures.total() - failures[0]
    lines += [f"| went on | {failures[0]:,} |", f"| gave it up, for {len(failures) - 1} reasons "]
    lines[-1] += f"| {failed:,} |"
    return "\n".join(lines)


if __name__ == "__main__":
    main()
