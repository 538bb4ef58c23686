"""Check by owner and mode of a file and its folders that only this user and the system can have written it.

Files that nameplate uses without a check of their content are read only then: caches, expected ranges, reference
values, and another nameplate-core.
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from nameplate.errors import FileError, ReadError

# Linux follows the same number of links.
_MAX_LINKS = 40


def check_trusted(path: Path) -> None:
    """Check that no other user can have written the file ``path``, which the user named.

    The file, all links on the way to it and all folders above must belong to this user, to the user who called sudo, to
    the system (the owner of ``/``) or to the owner of nameplate's own code. Other users must not have permission to
    write to any of these, except to a folder with the sticky bit. The group may have it for a folder of the system, or
    if it is the owner's private group: of the same name and without other members. A pipe or device is not checked.

    Raises:
        ReadError: the file does not exist or cannot be examined.
        FileError: another user can write to it; the message says which path is at fault, and what to do.
    """
    owners = {*_trusted_users(), Path(__file__).stat().st_uid}
    if os.environ.get("SUDO_UID", "").isdecimal():
        owners.add(int(os.environ["SUDO_UID"]))
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return  # whoever reads it says what kind it is, such as the pipe of <(…)
        problem = _problem_of_path(path, owners)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    if problem:
        raise FileError(
            f"{path} is not used, because others can change it: {problem}; use a copy that only you can change"
        )


def is_private(path: Path) -> bool:
    """Return whether only this user and the system can have written the file or folder ``path``.

    The rules are those of ``check_trusted``, but the owner of nameplate's code and the caller of sudo count as other
    users. The result is False if ``path`` does not exist.
    """
    try:
        return not _problem_of_path(path, _trusted_users())
    except OSError:
        return False


def is_private_file(descriptor: int) -> bool:
    """Return whether only this user and the system can write to an open file; its folder is not checked."""
    return not _problem_of(os.fstat(descriptor), _trusted_users())


def _trusted_users() -> set[int]:
    # In a user namespace, the system's files belong to another user than 0.
    return {os.geteuid(), 0, Path("/").stat().st_uid}


def _problem_of_path(path: Path, owners: Collection[int]) -> str:
    """Return what lets others change what a path names; "" if nothing does. Raises OSError if it cannot be examined."""
    for part, status in _parts(path):
        if problem := _problem_of(status, owners):
            return f"{'it' if part == path.absolute() else part} {problem}"
    return ""


def _parts(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield every folder and link on the way to a file, and the file, each with its status.

    Raises:
        OSError: one of them does not exist or cannot be examined, or the links form a loop.
    """
    current = Path("/")
    yield current, current.stat()
    rest = list(reversed(path.absolute().parts[1:]))
    n_links = 0
    while rest:
        name = rest.pop()
        if name == "..":
            current = current.parent
            continue
        part = current / name
        status = part.lstat()
        yield part, status
        if not stat.S_ISLNK(status.st_mode):
            current = part
            continue
        n_links += 1
        if n_links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        target = part.readlink()
        rest += reversed(target.parts[1:] if target.is_absolute() else target.parts)
        current = Path("/") if target.is_absolute() else current


def _problem_of(status: os.stat_result, owners: Collection[int]) -> str:
    if status.st_uid not in owners:
        return f"belongs to {_user(status.st_uid)}"
    mode = status.st_mode
    # Readers reject devices and pipes. The mode of a link has no meaning.
    if not (stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and not mode & stat.S_ISVTX)):
        return ""
    if mode & stat.S_IWOTH or (mode & stat.S_IWGRP and _is_shared_group(status)):
        return f"has the mode {stat.S_IMODE(mode):04o}"
    return ""


def _is_shared_group(status: os.stat_result) -> bool:
    """Return whether others may be in the group: it is not the owner's own, which many systems give to each user."""
    if stat.S_ISDIR(status.st_mode) and status.st_uid in _trusted_users() - {os.geteuid()}:
        return False  # as /usr/local may be
    try:
        owner, group = pwd.getpwuid(status.st_uid).pw_name, grp.getgrgid(status.st_gid)
    except KeyError:
        return True
    return group.gr_name != owner or any(member != owner for member in group.gr_mem)


def _user(uid: int) -> str:
    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user {uid}"
