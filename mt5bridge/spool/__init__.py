"""The durable spool: crash-safe segments of record groups."""

from mt5bridge.spool.block import Damage
from mt5bridge.spool.committer import CommitThread
from mt5bridge.spool.disk import Disk
from mt5bridge.spool.errors import GroupError, SpoolError, SpoolLockedError
from mt5bridge.spool.group import (
    CLOCK,
    GAP,
    Group,
    RecordKind,
    Stream,
    StreamKey,
    Told,
    clock_group,
    gap,
    own_stream,
    told,
)
from mt5bridge.spool.recovery import Recovery
from mt5bridge.spool.segment import (
    Content,
    Segment,
    SegmentState,
    list_segments,
    mark_archived,
    read_checkpoint,
    read_content,
)
from mt5bridge.spool.spool import Condition, Counters, Durable, Spool, read
from mt5bridge.spool.state import StreamState

__all__ = [
    "CLOCK", "GAP", "CommitThread", "Condition", "Content", "Counters", "Damage", "Disk",
    "Durable", "Group", "GroupError", "RecordKind", "Recovery", "Segment", "Spool",
    "SpoolError", "SpoolLockedError", "SegmentState", "Stream", "StreamKey", "StreamState", "Told",
    "clock_group", "gap", "list_segments", "mark_archived", "own_stream", "read",
    "read_checkpoint",
    "read_content", "told",
]  # fmt: skip
