"""The archive: Parquet files by date and symbol, in ingest order, each record once."""

from cep.archive.archive import Archive
from cep.archive.compact import Compacted, compact
from cep.archive.doctor import Examined, Findings, examine
from cep.archive.errors import ArchiveError
from cep.archive.history import Imported, import_history
from cep.archive.ingest import Ingested, ingest_spool
from cep.archive.manifest import File, Lost, Manifest, Mode
from cep.archive.oddities import Odd
from cep.archive.overlap import Overlap
from cep.archive.specifications import specify
from cep.archive.verify import Problem, Report, verify

__all__ = [
    "Archive", "ArchiveError", "Compacted", "Examined", "File", "Findings", "Imported", "Ingested",
    "Lost", "Manifest", "Mode", "Odd", "Overlap", "Problem", "Report", "compact", "examine",
    "import_history", "ingest_spool", "specify", "verify",
]  # fmt: skip
