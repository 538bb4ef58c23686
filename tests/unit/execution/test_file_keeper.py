"""Files without a name that are kept from one process to the next."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from nameplate.execution.file_keeper import FileDescriptorCache


def nameless(folder: Path, text: str) -> int:
    descriptor = os.open(folder / "file", os.O_CREAT | os.O_RDWR)
    (folder / "file").unlink()
    os.write(descriptor, text.encode())
    return descriptor


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def waiting(end: socket.socket) -> dict[bytes, str]:
    folders: dict[bytes, str] = {}
    end.setblocking(False)
    while True:
        try:
            key, descriptors, _, _ = socket.recv_fds(end, 8192, 1)
        except BlockingIOError:
            return folders
        folders[key] = os.pread(descriptors[0], 100, 0).decode()
        os.close(descriptors[0])


def test_a_file_of_one_process_is_available_to_the_next(tmp_path: Path) -> None:
    keeper = FileDescriptorCache()
    with keeper.lend() as first:
        assert waiting(first) == {}
        for key, text in ((b"a", "one"), (b"b", "two")):
            descriptor = nameless(tmp_path, text)
            socket.send_fds(first, [key], [descriptor])
            os.close(descriptor)
    with keeper.lend() as second:
        assert waiting(second) == {b"a": "one", b"b": "two"}
    keeper.close()


def test_closing_releases_every_file(tmp_path: Path) -> None:
    before = open_files()
    keeper = FileDescriptorCache()
    for _ in range(3):
        with keeper.lend() as lent:
            descriptor = nameless(tmp_path, "x")
            socket.send_fds(lent, [b"same key"], [descriptor])
            os.close(descriptor)
        keeper.take_back()
    assert open_files() == before + 1, "a later file takes the place of an earlier one of the same key"
    keeper.close()
    assert open_files() == before


def test_a_process_that_died_returns_its_files(tmp_path: Path) -> None:
    keeper = FileDescriptorCache()
    with keeper.lend() as lent:
        descriptor = nameless(tmp_path, "kept")
        socket.send_fds(lent, [b"a"], [descriptor])
        os.close(descriptor)
    keeper.take_back()
    keeper.take_back()
    with keeper.lend() as second:
        assert waiting(second) == {b"a": "kept"}
    keeper.close()
