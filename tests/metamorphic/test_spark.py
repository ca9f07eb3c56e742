"""Tasks of a real Spark give the rows of the interpreter."""

from __future__ import annotations

import pytest

from tests.metamorphic.test_databases import _stopped as _stopped
from tests.metamorphic.test_databases import check_some


@pytest.mark.spark
@pytest.mark.campaign
def test_spark_gives_the_same_rows() -> None:
    """Some: each is seconds of its tasks' work."""
    check_some("spark", 15)
