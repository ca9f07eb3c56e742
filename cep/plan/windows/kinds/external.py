"""Windows whose clock is an attribute."""

from __future__ import annotations

from cep.plan.signatures import WHOLE, Parameter, Signature, flag, null, time
from cep.plan.types import Type
from cep.plan.windows.base import WindowKind

TIMESTAMP = Parameter("timestamp", (Type.LONG,), "attribute")

EXTERNAL_TIME = WindowKind(
    Signature("externalTime", (TIMESTAMP, time("t")), "`time` by an attribute's clock"),
    "externalTime(t, 5 sec)",
    by="attribute",
    leaves_singly=True,
)
EXTERNAL_TIME_BATCH = WindowKind(
    Signature(
        "externalTimeBatch",
        (
            TIMESTAMP,
            time("t"),
            Parameter("start", WHOLE, "constant or attribute", null(Type.LONG)),
            time("timeout", null(Type.LONG), least=0),
            flag("replace_timestamp"),
        ),
        "`timeBatch` by an attribute's clock",
    ),
    "externalTimeBatch(t, 5 sec)",
    by="attribute",
)
