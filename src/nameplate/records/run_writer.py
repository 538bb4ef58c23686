"""Append records to a run file, so that no kill, full disk, second writer or power failure loses any."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import msgspec

from nameplate.errors import FileError
from nameplate.records.model import Digest, FileRecord

# Records are synced to disk at most this long after their experiment, unless that takes more than 0.1 % of the time.
SYNC_AFTER_S = 30.0
_MAX_SYNC_SHARE = 0.001


class RunWriter:
    """A run file locked for writing by this process, as a context that closes it.

    Every method raises FileError if the file cannot be written.
    """

    def __init__(self, path: Path, descriptor: int, is_new: bool, clock: Callable[[], float] = time.monotonic) -> None:
        """Lock an open file; use ``create`` or ``reopen`` instead."""
        self.path = path
        self._is_new = is_new
        self._descriptor = descriptor
        self._clock = clock
        self._sync_at = clock() + SYNC_AFTER_S
        self._is_synced = True
        self._written_bytes = 0
        self._lock()

    @classmethod
    def create(cls, path: Path) -> RunWriter:
        """Create a new file. Raises FileError if ``path`` exists or cannot be created."""
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            raise FileError(
                f"{path} exists: choose another name with -o, or continue it with --resume {path}"
            ) from None
        except OSError as error:
            raise FileError(f"cannot write {path}: {error.strerror}") from None
        _sync_directory(path.parent)
        return cls(path, descriptor, is_new=True)

    @classmethod
    def create_numbered(cls, path: Path) -> RunWriter:
        """Create a new file named like ``path``, with a number added if another run of that second has the name."""
        for number in range(2, 100):
            candidate = path if number == 2 else path.with_name(f"{path.stem}-{number - 1}{path.suffix}")
            if not candidate.exists():
                with suppress(FileError):
                    return cls.create(candidate)
        return cls.create(path)

    @classmethod
    def reopen(cls, path: Path) -> RunWriter:
        """Open an existing file for appending. Raises FileError if another process has it open for writing."""
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise FileError(f"cannot resume {path}: {error.strerror}") from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileError(f"cannot resume {path}: it is not a regular file")
        return cls(path, descriptor, is_new=False)

    def __enter__(self) -> RunWriter:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def _lock(self) -> None:
        """Lock the file until it is closed, even by the end of the process."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise FileError(
                f"{self.path} is in use by another run: wait until that ends, or write to another file"
            ) from None
        except OSError:
            # Some parallel file systems have no locks. There the user must avoid two writers.
            return

    def truncate(self, whole_bytes: int) -> None:
        """Remove the partial line after ``whole_bytes``, which a killed writer left."""
        try:
            os.ftruncate(self._descriptor, whole_bytes)
        except OSError as error:
            raise FileError(f"cannot write {self.path}: {error.strerror}") from None

    def write(self, record: FileRecord | Digest) -> None:
        """Append a record as one line, or remove the part of it that was written."""
        line = msgspec.json.encode(record) + b"\n"
        try:
            before = os.fstat(self._descriptor).st_size
        except OSError as error:
            raise FileError(f"cannot write {self.path}: {error.strerror}") from None
        if before < self._written_bytes:
            raise FileError(f"{self.path} was truncated by another process: the run has ended")
        try:
            _write_all(self._descriptor, line)
        except OSError as error:
            raise FileError(f"cannot write {self.path}: {error.strerror}; {self._take_back(before, record)}") from None
        self._is_synced = False
        self._written_bytes = before + len(line)

    def _take_back(self, before: int, record: FileRecord | Digest) -> str:
        """Remove a partial line, and return a phrase that says what the file still has."""
        with suppress(OSError, FileError):
            if before == 0 and self._is_new:
                self.check_in_place()
                self.path.unlink()
                return "nothing was measured"
            os.ftruncate(self._descriptor, before)
        if isinstance(record, Digest):
            return "the run is complete, only its digest is missing"
        return f"the samples before are kept; continue with --resume {self.path}"

    def check_in_place(self) -> None:
        """Raise FileError unless the file still has its name."""
        try:
            own, named = os.fstat(self._descriptor), self.path.stat()
        except OSError as error:
            raise FileError(
                f"{self.path} was removed by another process ({error.strerror}): the run has ended"
            ) from None
        if (own.st_dev, own.st_ino) != (named.st_dev, named.st_ino):
            raise FileError(f"{self.path} was replaced by another process: the run has ended")

    def sync_if_due(self) -> None:
        """Sync the file to disk if the last time was long ago. To be called while nothing is measured.

        Raises FileError if the file was removed or replaced, because further records would be lost.
        """
        self.check_in_place()
        if self._clock() >= self._sync_at:
            self.sync()

    def sync(self) -> None:
        """Sync the file to disk, so that its records survive a crash of the machine."""
        if self._is_synced:
            return
        began = self._clock()
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            # Some file systems have no fsync.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
                raise FileError(f"cannot sync {self.path} to disk: {error.strerror}") from None
        ended = self._clock()
        self._is_synced = True
        self._sync_at = ended + max(SYNC_AFTER_S, (ended - began) / _MAX_SYNC_SHARE)

    def close(self) -> None:
        """Sync, close and unlock the file. Does nothing if it was closed before."""
        if self._descriptor < 0:
            return
        try:
            self.sync()
        finally:
            os.close(self._descriptor)
            self._descriptor = -1


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        written = os.write(descriptor, data)
        if written == 0:
            raise OSError(errno.EIO, "the file system accepted no bytes and gave no reason")
        data = data[written:]


def _sync_directory(folder: Path) -> None:
    """Make a new file name survive a crash, if the file system can sync directories."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
