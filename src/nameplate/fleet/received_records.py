"""Write the records of a host to a file as they arrive, so that a controller needs no memory for them."""

from __future__ import annotations

import binascii
import zlib
from pathlib import Path

from nameplate.errors import FileError
from nameplate.fleet.host_outcome import HostOutcome
from nameplate.fleet.sink import MAX_RECORDS_BYTES, too_large

_GZIP = 16 + zlib.MAX_WBITS


class ReceivedRecords:
    """The file with the records of a host.

    ``problem`` is the outcome of the host if its records are damaged (``is_damaged``) or too many, otherwise None; with
    a problem, the file does not exist after ``close``. With ``is_compressed``, each line is a piece of a gzip stream in
    base64.

    Raises:
        FileError: the file cannot be written.
    """

    def __init__(self, address: str, path: Path, is_compressed: bool) -> None:
        self.problem: HostOutcome | None = None
        self.is_damaged = False
        self._address, self._path, self._n_bytes = address, path, 0
        self._decompressor = zlib.decompressobj(_GZIP) if is_compressed else None
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise FileError(f"cannot write {path}: {error.strerror}") from None

    def add(self, line: bytes) -> None:
        """Write a line that arrived, without its newline."""
        if self.problem or not line:
            return
        content = self._decompressed(line) if self._decompressor else line + b"\n"
        self._n_bytes += len(content)
        if self._n_bytes > MAX_RECORDS_BYTES:
            self.problem = too_large(self._address)
            return
        try:
            self._file.write(content)
        except OSError as error:
            raise FileError(f"cannot write {self._path}: {error.strerror}") from None

    def _decompressed(self, line: bytes) -> bytes:
        assert self._decompressor
        if self._decompressor.eof:
            self._reject("there is data after their end")
            return b""
        try:
            return self._decompressor.decompress(binascii.a2b_base64(line), MAX_RECORDS_BYTES + 1)
        except (binascii.Error, zlib.error) as error:
            self._reject(str(error))
            return b""

    def _reject(self, reason: str) -> None:
        self.is_damaged = True
        reason = f"its records cannot be decompressed: {reason}"
        self.problem = HostOutcome(address=self._address, outcome="invalid", reason=reason,
                                   advice="collect them again with --resume")  # fmt: skip

    def close(self) -> None:
        """Close the file; remove it if there is a problem."""
        if self._decompressor and not self._decompressor.eof and self.problem is None:
            self._reject("the end is missing")
        try:
            self._file.close()
            if self.problem:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise FileError(f"cannot write {self._path}: {error.strerror}") from None
