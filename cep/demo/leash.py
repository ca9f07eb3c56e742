"""A command that ends when whoever started it is gone, however that came about.

`python -m cep.demo.leash COMMAND ..` with a pipe as standard input: its other end closes when the
starter ends, by `kill -9`, too. Without this a killed demo would leave its daemon running.
"""

from __future__ import annotations

import os
import signal
from threading import Thread

from cep.cli import main

STANDARD_INPUT = 0


def end_with_starter() -> None:
    """Wait for the end of standard input, then end this process as a terminal would."""
    while os.read(STANDARD_INPUT, 1):  # of no buffer, whose lock would be held at the end
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    Thread(target=end_with_starter, daemon=True).start()
    main(prog_name="mt5cep")
