"""Keep the files that one core process creates for the next one.

The files are unlinked, so they exist as long as a process holds them open, and vanish when nameplate ends in any way.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

MAX_KEY_BYTES = 8192


class FileDescriptorCache:
    """Open files by key. The core chooses the keys and knows the content."""

    def __init__(self) -> None:
        """Create an empty cache."""
        self._files: dict[bytes, int] = {}
        self._own: socket.socket | None = None

    def lend(self) -> socket.socket:
        """Return one end of a new socket, in which all kept files wait for a core. The caller closes it."""
        self.take_back()
        self._own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # recv_fds of Python 3.11 ignores its flags, so the socket itself is set to non-blocking.
        self._own.setblocking(False)
        for key, descriptor in self._files.items():
            try:
                socket.send_fds(self._own, [key], [descriptor])
            except BlockingIOError:
                break  # the socket is full: the core creates the other files again
        return theirs

    def take_back(self) -> None:
        """Receive the files that the last core created."""
        if self._own is None:
            return
        while True:
            try:
                key, descriptors, _, _ = socket.recv_fds(self._own, MAX_KEY_BYTES, 1)
            except (BlockingIOError, ConnectionResetError):
                break
            if not descriptors:
                break
            self._keep(key, descriptors[0])
        self._own.close()
        self._own = None

    def _keep(self, key: bytes, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        before = self._files.get(key)
        if before is not None:
            os.close(before)
        self._files[key] = descriptor

    @property
    def files(self) -> Mapping[bytes, int]:
        """Return the descriptors by key."""
        return self._files

    def close(self) -> None:
        """Close all files."""
        self.take_back()
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()
