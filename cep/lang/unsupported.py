"""What SiddhiQL has and has no place here, each with what to do instead."""

from __future__ import annotations

_INPUT = "rows come in through the Python API, the daemon or files; define the stream alone"
_OUTPUT = "read the stream with a callback, or let the daemon publish it"
_STORE = "tables live in memory; keep rows for longer with a callback that writes them"

ANNOTATIONS = {
    "source": ("source", _INPUT),
    "sink": ("sink", _OUTPUT),
    "map": ("map", _INPUT),
    "attributes": ("attributes", _INPUT),
    "payload": ("payload", _OUTPUT),
    "distribution": ("distribution", _OUTPUT),
    "destination": ("destination", _OUTPUT),
    "store": ("store", _STORE),
    "cache": ("cache", _STORE),
}
"""By lower-case name: the annotations of transports and stores, as written."""

SCRIPT_FUNCTION = "write it in Python, with the decorator `cep.functions.function`"
"""What to do instead of `define function`."""
