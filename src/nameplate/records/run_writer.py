"""Append records to a run file so that neither a kill, a full disk, a second writer nor a power failure loses them."""

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
from nameplate.records.model import Figures, FileRecord

# Records are on the disk at most this long after their experiment ended. The time that it takes stays below 0.1 %.
SYNC_AFTER_S = 30.0
_MAX_SYNC_SHARE = 0.001


class RunWriter:
    """A run file that only this process writes to, as a context that closes it.

    Every method raises FileError when the disk does not take what is written.
    """

    def __init__(self, path: Path, descriptor: int, is_new: bool, clock: Callable[[], float] = time.monotonic) -> None:
        """Use ``create`` or ``reopen``."""
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
        """Make a new file. Raises FileError when ``path`` exists or cannot be made."""
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            raise FileError(f"{path} is already there: name another with -o, or go on with --resume {path}") from None
        except OSError as error:
            raise FileError(f"cannot write {path}: {error.strerror}") from None
        _sync_directory(path.parent)
        return cls(path, descriptor, is_new=True)

    @classmethod
    def create_numbered(cls, path: Path) -> RunWriter:
        """Make a new file named like ``path``, with a number where another run of the same second has the name."""
        for number in range(2, 100):
            candidate = path if number == 2 else path.with_name(f"{path.stem}-{number - 1}{path.suffix}")
            if not candidate.exists():
                with suppress(FileError):
                    return cls.create(candidate)
        return cls.create(path)

    @classmethod
    def reopen(cls, path: Path) -> RunWriter:
        """Open an existing file to append to. Raises FileError when another process writes to it."""
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise FileError(f"cannot go on with {path}: {error.strerror}") from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileError(f"cannot go on with {path}: it is not a regular file")
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
        """Keep other writers out until the file is closed, in whatever way."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise FileError(
                f"{self.path} is being written by a run that is still going: wait for its end, or start another run"
            ) from None
        except OSError:
            # Some parallel file systems have no locks; there, two writers are the user's to avoid.
            return

    def truncate(self, whole_bytes: int) -> None:
        """Cut off what a killed writer left of its last line after ``whole_bytes``."""
        try:
            os.ftruncate(self._descriptor, whole_bytes)
        except OSError as error:
            raise FileError(f"cannot write {self.path}: {error.strerror}") from None

    def write(self, record: FileRecord | Figures) -> None:
        """Write one line whole, or take back the part of it that was written."""
        line = msgspec.json.encode(record) + b"\n"
        try:
            before = os.fstat(self._descriptor).st_size
        except OSError as error:
            raise FileError(f"cannot write {self.path}: {error.strerror}") from None
        if before < self._written_bytes:
            raise FileError(f"{self.path} was cut off while the run wrote to it: the run is ended")
        try:
            _write_all(self._descriptor, line)
        except OSError as error:
            raise FileError(f"cannot write {self.path}: {error.strerror}; {self._take_back(before, record)}") from None
        self._is_synced = False
        self._written_bytes = before + len(line)

    def _take_back(self, before: int, record: FileRecord | Figures) -> str:
        """Remove a partial line and return what is left of the file, in words."""
        with suppress(OSError, FileError):
            if before == 0 and self._is_new:
                self.check_in_place()
                self.path.unlink()
                return "nothing was measured"
            os.ftruncate(self._descriptor, before)
        if isinstance(record, Figures):
            return "the run is whole without its last line"
        return f"what was measured before is kept, go on with --resume {self.path}"

    def check_in_place(self) -> None:
        """Check that the file still has its name. Raises FileError."""
        try:
            own, named = os.fstat(self._descriptor), self.path.stat()
        except OSError as error:
            raise FileError(f"{self.path} is gone while the run wrote to it: {error.strerror}") from None
        if (own.st_dev, own.st_ino) != (named.st_dev, named.st_ino):
            raise FileError(f"{self.path} was replaced while the run wrote to it: the run is ended")

    def sync_if_due(self) -> None:
        """Put what was written on the disk if the last time is long ago. Call it while nothing is being measured.

        The file must still be in its place: what is measured after that would be lost.
        """
        self.check_in_place()
        if self._clock() >= self._sync_at:
            self.sync()

    def sync(self) -> None:
        """Put what was written on the disk, so that it survives a crash of the machine."""
        if self._is_synced:
            return
        began = self._clock()
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            # Some file systems have no fsync.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
                raise FileError(f"cannot write {self.path} to the disk: {error.strerror}") from None
        ended = self._clock()
        self._is_synced = True
        self._sync_at = ended + max(SYNC_AFTER_S, (ended - began) / _MAX_SYNC_SHARE)

    def close(self) -> None:
        """Put everything on the disk, close the file and let other writers in. Harmless when it was closed before."""
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
            raise OSError(errno.EIO, "the file system takes no more bytes and gives no reason")
        data = data[written:]


def _sync_directory(folder: Path) -> None:
    """Make a new name survive a crash, where the file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
