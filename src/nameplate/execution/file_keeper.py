"""Keeps the files that a measuring process made for the next one: their directories do not know them, so they last as
long as somebody holds them open, and are gone when this program ends in whatever way."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

LONGEST_KEY = 8192


class FileDescriptorCache:
    """Open files by the core's own key for them; what is in them is the core's business."""

    def __init__(self) -> None:
        """Empty."""
        self._files: dict[bytes, int] = {}
        self._own: socket.socket | None = None

    def lend(self) -> socket.socket:
        """The end of a new socket for a core, in which all that is kept is waiting. The caller closes it."""
        self.take_back()
        self._own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Python 3.11's recv_fds passes no flags on.
        self._own.setblocking(False)
        for key, descriptor in self._files.items():
            try:
                socket.send_fds(self._own, [key], [descriptor])
            except BlockingIOError:
                break  # more than fits the socket: the core makes the others anew
        return theirs

    def take_back(self) -> None:
        """Takes over what the last core has made."""
        if self._own is None:
            return
        while True:
            try:
                key, descriptors, _, _ = socket.recv_fds(self._own, LONGEST_KEY, 1)
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
        """Descriptors by key."""
        return self._files

    def close(self) -> None:
        """Lets everything go."""
        self.take_back()
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()
