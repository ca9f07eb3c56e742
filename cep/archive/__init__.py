"""The archive: Parquet files by date and symbol, in ingest order, each record once."""

from cep.archive.archive import Archive
from cep.archive.compact import Compacted, compact
from cep.archive.errors import ArchiveError
from cep.archive.history import Imported, import_history
from cep.archive.ingest import Ingested, ingest_spool
from cep.archive.manifest import File, Lost, Manifest, Mode
from cep.archive.overlap import Overlap
from cep.archive.verify import Problem, Report, verify

__all__ = [
    "Archive", "ArchiveError", "Compacted", "File", "Imported", "Ingested", "Lost", "Manifest",
    "Mode", "Overlap", "Problem", "Report", "compact", "import_history", "ingest_spool", "verify",
]  # fmt: skip
