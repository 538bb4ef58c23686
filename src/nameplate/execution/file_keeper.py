"""Keep the files that one core process creates for the next one.

The files are unlinked, so they exist as long as a process holds them open, and vanish when nameplate ends in any way.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

MAX_KEY_BYTES = 8192


class FileDescriptorCache:
    """Open file descriptors by key. The core chooses the keys and knows the content of the files.

    Before each core, ``lend`` gives it the files; after the core has ended, ``take_back`` receives the files that it
    created.
    """

    def __init__(self) -> None:
        """Create an empty cache."""
        self._files: dict[bytes, int] = {}
        self._socket: socket.socket | None = None

    def lend(self) -> socket.socket:
        """Return one end of a new socket, from which a core receives all kept files. The caller closes the socket.

        Each file is a message with its key and its descriptor (SCM_RIGHTS). Files that do not fit into the socket's
        buffer are not sent; the core creates them again. Files that the previous core created are received first
        (``take_back``).
        """
        self.take_back()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # recv_fds of Python 3.11 ignores its flags, so the socket itself is set to non-blocking.
        self._socket.setblocking(False)
        for key, descriptor in self._files.items():
            try:
                socket.send_fds(self._socket, [key], [descriptor])
            except BlockingIOError:
                break  # the socket is full: the core creates the other files again
        return theirs

    def take_back(self) -> None:
        """Receive the files that the last core created, and close kept files with the same keys.

        Call it after the core has ended: the method receives the files that were sent so far and does not wait. Without
        a preceding ``lend`` it does nothing.
        """
        if self._socket is None:
            return
        while True:
            try:
                key, descriptors, _, _ = socket.recv_fds(self._socket, MAX_KEY_BYTES, 1)
            except (BlockingIOError, ConnectionResetError):
                break
            if not descriptors:
                break
            os.set_inheritable(descriptors[0], False)
            if key in self._files:
                os.close(self._files[key])
            self._files[key] = descriptors[0]
        self._socket.close()
        self._socket = None

    @property
    def files(self) -> Mapping[bytes, int]:
        """Return the kept file descriptors by key. They belong to the cache; do not close them."""
        return self._files

    def close(self) -> None:
        """Receive the files that the last core process opened (``take_back``), and close all files of the cache."""
        self.take_back()
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()
