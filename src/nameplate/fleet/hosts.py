"""Read the names of a fleet's hosts: a node set, a group, or a file."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ClusterShell.NodeSet import NodeSet, NodeSetException
from ClusterShell.NodeUtils import GroupResolverError, GroupSourceError

from nameplate.errors import UsageError
from nameplate.records.inputs import read_text

# Errors of a node set, and of groups and their configuration.
_ERRORS = (NodeSetException, GroupResolverError, GroupSourceError, configparser.Error)
_MAX_BYTES = 16 << 20
# The longest name of a file; a node set may be longer.
_MAX_PATH = 255
# ssh takes [user@]host; a name that begins with "-" would be an option.
_ADDRESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]*")


def parse_hosts(text: str) -> list[str]:
    """Return the addresses in a text, each once, in the order of ClusterShell's node sets.

    The text is a node set, such as ``web[001-400],db1``, a group of ClusterShell, such as ``@compute``, or the path of
    a file with one or more node sets in each line, in which text after ``#`` is ignored.

    Raises:
        UsageError: the text is not a node set, has no host, or has a name that ssh could not use.
        FileError: the file cannot be read.
    """
    if len(text) <= _MAX_PATH and Path(text).is_file():
        lines = read_text(Path(text), _MAX_BYTES, "hosts").splitlines()
        sets = [part for line in lines for part in line.partition("#")[0].split()]
    else:
        sets = [text]
    nodes = NodeSet()
    for part in sets:
        try:
            nodes.update(NodeSet(part))
        except _ERRORS as error:
            raise UsageError(f"--hosts {part}: {error}; use names such as web[001-400], @group, or a file") from None
    addresses = [str(node) for node in nodes]
    check_addresses(addresses)
    if not addresses:
        raise UsageError(f"--hosts {text}: no host; use names such as web[001-400], @group, or a file")
    return addresses


def groups_of(addresses: Sequence[str], source: str) -> dict[str, str]:
    """Return the group of each address in a source of groups of ClusterShell, such as ``rack``.

    Groups are those of the host's name, without the user. An address in several groups has the last one by name, and
    one without a group is left out.

    Raises:
        UsageError: ClusterShell has no such source, or none of the hosts has a group in it.
    """
    names = {address: address.rpartition("@")[2] for address in addresses}
    try:
        groups = NodeSet.fromlist([*set(names.values())]).groups(source, noprefix=True)
    except _ERRORS as error:
        raise UsageError(
            f"--per-group {source}: {' '.join(str(error).split())}; name a source of ClusterShell's groups.conf"
        ) from None
    group_of = {str(node): group[1:] for group, (_, nodes) in sorted(groups.items()) for node in nodes}
    if not group_of:
        raise UsageError(f"--per-group {source}: no host has a group in this source")
    return {address: group_of[name] for address, name in names.items() if name in group_of}


def check_addresses(addresses: Iterable[str]) -> None:
    """Check that ssh takes each address for a host, and not for an option.

    Raises UsageError with the first other one.
    """
    wrong = next((address for address in addresses if not _ADDRESS.fullmatch(address)), None)
    if wrong is not None:
        raise UsageError(f"--hosts: '{wrong}' is not the name of a host")
