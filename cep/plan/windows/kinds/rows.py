"""Windows of the last rows."""

from __future__ import annotations

from cep.plan.signatures import VALUES, Parameter, Signature, flag, rows
from cep.plan.windows.base import WindowKind

LENGTH = WindowKind(
    Signature("length", (rows("n", least=0),), "the last n rows"),
    "length(5)",
    by="rows",
    apart="rows",
    keeps="rows",
    leaves_singly=True,
)
LENGTH_BATCH = WindowKind(
    Signature(
        "lengthBatch",
        (rows("n", least=0), flag("stream_current")),
        "n rows at a time",
        overloads=(("n",), ("n", "stream_current")),
    ),
    "lengthBatch(5)",
    by="rows",
)
LENGTH_JUMP = WindowKind(
    Signature(
        "lengthJump",
        (rows("n"), rows("jump"), Parameter("key", VALUES, "attribute", repeated=True)),
        "the last n rows, of each key, given up a `jump` at a time",
        overloads=(("n", "jump"), ("n", "jump", "key")),
    ),
    "lengthJump(5, 2)",
    by="rows",
)
