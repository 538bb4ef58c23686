"""Append records to a run file, so that a kill, a full disk or a second writer loses none of them.

A power failure may lose the records since the last sync (``RunWriter.sync_if_due``).
"""

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
from nameplate.records.run_record import Digest, FileRecord

# Records are synced to disk at most this long after their experiment, unless that takes more than 0.1 % of the time.
SYNC_AFTER_S = 30.0
_MAX_SYNC_SHARE = 0.001


def check_new(path: Path) -> None:
    """Check that a run file can be created, without creating it.

    Raises:
        FileError: ``path`` exists, or its directory does not exist or cannot be written.
    """
    if path.exists():
        raise _exists(path)
    if not path.parent.is_dir():
        raise FileError(f"cannot write {path}: {os.strerror(errno.ENOENT)}")
    if not os.access(path.parent, os.W_OK):
        raise FileError(f"cannot write {path}: {os.strerror(errno.EACCES)}")


def _exists(path: Path) -> FileError:
    return FileError(f"{path} exists: choose another name with -o, or continue it with --resume {path}")


class RunWriter:
    """A run file that this process has locked for writing, as a context manager that syncs and closes it.

    Use ``create``, ``create_numbered`` or ``reopen`` to get one. ``path`` is the file. All methods except ``close``
    must be called before ``close``. Methods that access the file raise FileError if that fails. On file systems without
    locks, a second writer is not detected.
    """

    def __init__(self, path: Path, descriptor: int, is_new: bool, clock: Callable[[], float] = time.monotonic) -> None:
        """Lock an open file; use ``create`` or ``reopen`` instead.

        ``descriptor`` is open for appending to ``path``; the writer will close it. With ``is_new``, the file is deleted
        if its first record cannot be written. ``clock`` returns the current time in seconds, from any origin.

        Raises:
            FileError: another process writes to the file. The descriptor is closed.
        """
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
        """Create an empty file and return its writer. Nothing is written before the first ``write``.

        Raises:
            FileError: ``path`` exists, its directory does not exist, or the file cannot be created.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            raise _exists(path) from None
        except OSError as error:
            raise FileError(f"cannot write {path}: {error.strerror}") from None
        _sync_directory(path.parent)
        return cls(path, descriptor, is_new=True)

    @classmethod
    def create_numbered(cls, path: Path) -> RunWriter:
        """Create an empty file ``path``, or a numbered one if that name is taken, and return its writer.

        The first free name of ``run.jsonl``, ``run-2.jsonl``, ``run-3.jsonl`` and so on is used, up to ``run-98.jsonl``
        (for ``path`` ``run.jsonl``). The ``path`` of the result is the name that was used.

        Raises:
            FileError: all of these names are taken, or the file cannot be created.
        """
        for number in range(2, 100):
            candidate = path if number == 2 else path.with_name(f"{path.stem}-{number - 1}{path.suffix}")
            if not candidate.exists():
                with suppress(FileError):
                    return cls.create(candidate)
        return cls.create(path)

    @classmethod
    def reopen(cls, path: Path) -> RunWriter:
        """Open an existing run file to append records, and return its writer. The content is not checked.

        Raises:
            FileError: there is no such file, it is not a regular file or cannot be opened, or another process writes to
                it.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise FileError(f"cannot resume {path}: {error.strerror}") from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileError(f"cannot resume {path}: it is not a regular file")
        return cls(path, descriptor, is_new=False)

    def __enter__(self) -> RunWriter:
        """Return this writer, for ``with``."""
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

    def truncate(self, complete_bytes: int) -> None:
        """Shorten the file to its first ``complete_bytes`` bytes, before the first ``write``.

        This removes the partial last line that a killed writer left. ``complete_bytes`` is the size of the complete
        lines, as in ``RunFile.complete_bytes``. If it is above the size of the file, null bytes are appended.

        Raises:
            FileError: the size cannot be changed.
        """
        try:
            os.ftruncate(self._descriptor, complete_bytes)
        except OSError as error:
            raise FileError(f"cannot write {self.path}: {error.strerror}") from None

    def write(self, record: FileRecord | Digest) -> None:
        """Append a record as one line of JSON. The line is on the disk only after the next sync.

        If the disk is full or the write fails, the part that was written is removed again, and a new file without any
        record is deleted.

        Raises:
            FileError: the record cannot be written, or another process shortened the file.
        """
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
                self.check_not_replaced()
                self.path.unlink()
                return "nothing was measured"
            os.ftruncate(self._descriptor, before)
        if isinstance(record, Digest):
            return "the run is complete, only its digest is missing"
        return f"the samples before are kept; continue with --resume {self.path}"

    def check_not_replaced(self) -> None:
        """Check that ``path`` still names the file that is open for writing.

        Raises:
            FileError: the file was removed, renamed or replaced, so that further records would be lost.
        """
        try:
            opened, named = os.fstat(self._descriptor), self.path.stat()
        except OSError as error:
            raise FileError(
                f"{self.path} was removed by another process ({error.strerror}): the run has ended"
            ) from None
        if (opened.st_dev, opened.st_ino) != (named.st_dev, named.st_ino):
            raise FileError(f"{self.path} was replaced by another process: the run has ended")

    def sync_if_due(self) -> None:
        """Check the file as ``check_not_replaced`` does, and sync it to disk if the last sync was long ago.

        Call it while nothing is measured, since syncing disturbs a measurement. The first of these syncs is at least 30
        s after opening the file, the others at least 30 s apart, and further apart if a sync takes more than 0.1 % of
        that time.

        Raises:
            FileError: the sync fails, or the file was removed or replaced, so that further records would be lost.
        """
        self.check_not_replaced()
        if self._clock() >= self._sync_at:
            self.sync()

    def sync(self) -> None:
        """Sync the file to disk, so that its records survive a crash of the machine.

        Does nothing if no record was written since the last sync, or if the file system cannot sync.

        Raises:
            FileError: the sync fails.
        """
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
        """Sync, close and unlock the file. Does nothing if it was closed before.

        Raises:
            FileError: the sync fails. The file is closed nevertheless.
        """
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
