"""`${name}` in rule texts: replaced by values given when the text is read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cep.lang.errors import Source, Span, raise_all, suggestion

VARIABLE = re.compile(r"\$\{([\w.]+)\}")


def substitute(text: str, file: str, variables: Mapping[str, str]) -> str:
    """The text with every `${name}` replaced; raises RuleError for a name that has no value."""
    source = Source(text, file)
    missing = [found for found in VARIABLE.finditer(text) if found[1] not in variables]
    raise_all(
        source.error(
            Span(*found.span()),
            f"no value is given for `{found[1]}`",
            suggestion(found[1], variables) or _given(found[1]),
        )
        for found in missing
    )
    return VARIABLE.sub(lambda found: variables[found[1]], text)


def _given(name: str) -> str:
    return f"programs give it, `variables={{'{name}': ..}}`; in files of commands write the value"
