"""An archive in an object store, through the file systems of Arrow: read there, and published to.

Only the address is known before something is read or written. Who may do so, and where a store of
one's own is, Arrow finds in the environment and in the address's query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pyarrow as pa
from pyarrow import fs

from cep.archive.errors import ArchiveError
from mt5bridge.local import AddressError, shown

_AWS = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
_GOOGLE = "set GOOGLE_APPLICATION_CREDENTIALS"
_AZURE = "set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or `az login`"
_HADOOP = "set JAVA_HOME, HADOOP_HOME and CLASSPATH, and `kinit` where Kerberos is asked for"
CREDENTIALS = {
    "s3": _AWS, "gs": _GOOGLE, "gcs": _GOOGLE, "abfs": _AZURE, "abfss": _AZURE, "hdfs": _HADOOP,
}  # fmt: skip
"""How the environment says who may read, by the schemes that are known."""
_SECRETS = ("secret", "key", "token", "password", "sig")
_PASSWORD = re.compile(r"://[^?]*:[^?]*@")
_REFUSED = re.compile(
    "ACCESS_DENIED|FORBIDDEN|INVALID_ACCESS_KEY|SIGNATURE|UNRECOGNIZED_CLIENT|TOKEN|HTTP status 40"
    "|credential|authenticat|permission",
    re.IGNORECASE,
)
_UNREACHED = re.compile("NETWORK|resolve|connect|timed? ?out|unavailable", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Remote:
    """A folder of an object store. It is made by `remote_at`, which has checked `place`.

    What fails is an ArchiveError that names the address and the remedy.
    """

    place: str

    def address(self, path: str) -> str:
        return "/".join(part for part in (shown(self.place), path) if part)

    def read(self, path: str) -> bytes:
        """A whole file. FileNotFoundError, ArchiveError."""
        system, root = self._opened
        try:
            with system.open_input_file(f"{root}/{path}") as file:
                return bytes(file.read())
        except FileNotFoundError:
            raise
        except (OSError, pa.ArrowException) as error:
            raise self._failed(path, error) from error

    def write(self, path: str, data: bytes) -> None:
        """Put a file there; in S3 and Google's store it is there as a whole or not. ArchiveError.

        Never in a process's first thread: Ctrl-C between the lines would store half a file.
        """
        system, root = self._opened
        try:
            with system.open_output_stream(f"{root}/{path}") as file:
                file.write(data)
        except (OSError, pa.ArrowException) as error:
            raise self._failed(path, error) from error

    def retire(self, paths: Iterable[str]) -> None:
        """Nothing yet: who publishes here removes them the next time."""

    def remove(self, path: str) -> None:
        """Let a file go; it may be gone already. ArchiveError."""
        system, root = self._opened
        try:
            system.delete_file(f"{root}/{path}")
        except FileNotFoundError:
            pass
        except (OSError, pa.ArrowException) as error:
            raise self._failed(path, error) from error

    def sizes(self) -> dict[str, int]:
        """All files there and their bytes, by path. ArchiveError."""
        system, root = self._opened
        try:
            everything = fs.FileSelector(root, allow_not_found=True, recursive=True)
            found = system.get_file_info(everything)
        except (OSError, pa.ArrowException) as error:
            raise self._failed("", error) from error
        files = (info for info in found if info.type is fs.FileType.File)
        return {info.path.partition(f"{root}/")[2]: info.size for info in files}

    def absence(self) -> str:
        """What to tell where no manifest is. ArchiveError."""
        system, root = self._opened
        bucket = root.partition("/")[0]
        try:
            is_there = not bucket or system.get_file_info(bucket).type is not fs.FileType.NotFound
        except (OSError, pa.ArrowException) as error:
            raise self._failed("", error) from error
        if not is_there:
            return f"no bucket {bucket}; {_BUCKET}"
        return "no archive here; check the address, or fill it with `mt5cep archive publish`"

    @property
    def _opened(self) -> tuple[Any, str]:
        try:
            return _file_system(self.place)
        except (OSError, pa.ArrowException, ImportError) as error:
            raise self._failed("", error) from error

    def _failed(self, path: str, error: Exception) -> ArchiveError:
        reason = str(error).partition("\n")[0].strip() or type(error).__name__
        return ArchiveError(f"{self.address(path)}: {reason}; {self._remedy(reason)}")

    def _remedy(self, reason: str) -> str:
        scheme = self.place.partition(":")[0]
        if "NO_SUCH_BUCKET" in reason or "Bucket '" in reason:
            return _BUCKET
        if _UNREACHED.search(reason):
            own = ", or name a store of your own: ?endpoint_override=HOST:PORT"
            return f"see whether the network leads there{own if scheme == 's3' else ''}"
        if _REFUSED.search(reason):
            return f"see who may read or write there; to say who you are, {CREDENTIALS[scheme]}"
        return f"check the address; to say who you are, {CREDENTIALS[scheme]}"


_BUCKET = "check its name and region, or make it first"


@lru_cache(maxsize=16)
def _file_system(place: str) -> tuple[Any, str]:
    """Arrow's file system, and the path in it. It has asked who may read, so it is made once."""
    system, root = fs.FileSystem.from_uri(place)
    return system, root.rstrip("/")


def remote_at(address: str) -> Remote:
    """The store at an address. AddressError for one that is not known or has a secret in it."""
    scheme, slashes, rest = address.partition("://")
    scheme = scheme.lower()
    told = shown(address)
    if not slashes:
        raise AddressError(f"{told}: an address has two slashes; give it as text, not as a Path")
    if scheme not in CREDENTIALS:
        raise AddressError(f"{told}: no known store; there are {', '.join(CREDENTIALS)}")
    path, query_mark, query = rest.partition("?")
    if _has_secret(scheme, address):
        raise AddressError(
            f"{told}: a secret in an address gets into logs and reports; leave it out, and "
            f"{CREDENTIALS[scheme]}"
        )
    path = path.rstrip("/")
    if not path:
        raise AddressError(f"{told}: no bucket; write it such as {scheme}://bucket/ticks")
    return Remote(f"{scheme}://{path}{query_mark}{query}")


def _has_secret(scheme: str, address: str) -> bool:
    """Users of S3 are keys; elsewhere a user may be a container or a name."""
    parts = urlsplit(address)
    names = (name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    return (
        bool(_PASSWORD.search(address))
        or (scheme == "s3" and "@" in parts.netloc)
        or any(secret in name for name in names for secret in _SECRETS)
    )
