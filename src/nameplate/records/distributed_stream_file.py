"""Read and write the XML files of DistributedStream, which have the memory bandwidth of each node.

A file ``memory_results-PxT-TIMESTAMP.dat`` has the root ``stream_run`` with the ``experiment`` (the name of the file),
a ``configuration``, and ``results``. These have a ``node`` for each node, with its ``name`` and the times ``Average``,
``Minimum`` and ``Maximum`` of each kernel in seconds. Sizes are the bytes that a process moves in a repeat. The average
is over all processes and repeats; minimum and maximum are over the slowest process of each repeat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from nameplate.control_characters import clean_text
from nameplate.errors import FileError
from nameplate.records.inputs import read_head, read_input
from nameplate.records.run_record import Spread

KERNELS = ("Copy", "Scale", "Add", "Triad")
_ROOT = "stream_run"
_TIMES = ("Average", "Minimum", "Maximum")
# Room for a hundred thousand nodes.
MAX_BYTES = 128 << 20
_MAX_DEPTH = 16
_MAX_NAME = 255
_MAX_QUOTED = 40
# Seconds and bytes; rates computed from them stay finite.
_MIN_NUMBER, _MAX_NUMBER = 1e-12, 1e18
_HEAD_BYTES = 256


@dataclass(frozen=True)
class StreamNode:
    """The times of one node.

    ``name`` is the name of its host. ``processes`` is its number of MPI processes. ``times`` has one entry for each of
    ``KERNELS`` ("Copy", "Scale", "Add", "Triad"), in seconds per repeat: the average is over all processes and repeats,
    minimum and maximum are over the slowest process of each repeat. ``printed`` has the averages as text, exactly as
    printed in the file that was read; it is empty for other runs.
    """

    name: str
    processes: int
    times: Mapping[str, Spread]
    printed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StreamRun:
    """The content of a file of DistributedStream.

    ``experiment`` is the text of the element of this name, "" if it is missing. ``size_bytes`` has for each of
    ``KERNELS`` the bytes that one process moves in a repeat. ``nodes`` are in the order of the file; a file that was
    read has at least one. ``processes_per_node`` is the number that the file states for all nodes;
    ``StreamNode.processes`` differs from this number if the file has a number for that node.
    """

    experiment: str
    processes_per_node: int
    threads_per_process: int
    size_bytes: Mapping[str, int]
    nodes: Sequence[StreamNode]


def is_stream_file(path: Path) -> bool:
    """Return whether the file ``path`` begins like XML: with ``<``, after any white space or byte order mark.

    Only the first 256 bytes are read. An empty file gives False.

    Raises:
        ReadError: the file cannot be read or is not a regular file.
    """
    return read_head(path, _HEAD_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def read_stream_run(path: Path) -> StreamRun:
    """Return the content of the DistributedStream file ``path``.

    Raises:
        FileError: the file cannot be read, is larger than 128 MiB, is not XML of DistributedStream, or has a missing or
            impossible value (``parse_stream_run``).
    """
    return parse_stream_run(read_input(path, MAX_BYTES, "file of DistributedStream"), str(path))


def parse_stream_run(content: str | bytes, name: str) -> StreamRun:
    """Return the content of the XML text or bytes of a DistributedStream file.

    ``name`` is the name of the file, with which error messages begin. The module's docstring has the elements; a value
    may also be an attribute with the name of the element. ``experiment`` and the ``processes`` of a node may be
    missing, all other values are required. A number may have an exponent and must be from 1e-12 to 1e18; numbers of
    processes, threads and bytes are rounded to the nearest whole number, at least 1.

    Raises:
        FileError: the text is not XML of DistributedStream, has a document type, has no node or a node without a name,
            or has a missing or impossible value.
    """
    root = _Tree(name).read(content)
    if root.tag != _ROOT:
        raise FileError(f"{name} is not a file of DistributedStream: its root is '{root.tag}', not '{_ROOT}'")
    return _Reader(name, root).run()


def stream_xml(run: StreamRun) -> str:
    """Return the text of a DistributedStream file for a run, with an XML declaration and a final newline.

    ``run.size_bytes`` and the times of each node need an entry for each of ``KERNELS``; a missing one raises KeyError.
    Times are rounded to nanoseconds. Nothing else is checked.
    """
    root = ElementTree.Element(_ROOT)
    _add(root, "experiment", run.experiment)
    configuration = ElementTree.SubElement(root, "configuration")
    _add(configuration, "processes_per_node", str(run.processes_per_node))
    _add(configuration, "threads_per_process", str(run.threads_per_process))
    _add(configuration, "number_of_nodes", str(len(run.nodes)))
    for kernel in KERNELS:
        _add(configuration, f"{kernel.lower()}_size", str(run.size_bytes[kernel]))
    results = ElementTree.SubElement(root, "results")
    for node in run.nodes:
        element = ElementTree.SubElement(results, "node")
        _add(element, "name", node.name)
        if node.processes != run.processes_per_node:
            # An element of nameplate's own, since DistributedStream has the same number on all nodes.
            _add(element, "processes", str(node.processes))
        for kernel in KERNELS:
            times = ElementTree.SubElement(element, kernel)
            spread = node.times[kernel]
            for name, value in zip(_TIMES, (spread.average_s, spread.minimum_s, spread.maximum_s), strict=True):
                _add(times, name, f"{value:.9f}")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = text


class _Tree:
    """Builds the elements of a file, and rejects document types, entities and deep nesting."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._builder = ElementTree.TreeBuilder()
        self._depth = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._builder.data
        self._parser.StartDoctypeDeclHandler = self._reject_document_type

    def read(self, content: str | bytes) -> ElementTree.Element:
        try:
            self._parser.Parse(content, True)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise FileError(f"{self._name} is not XML: {error}") from None
        return self._builder.close()

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._wrong(f"'{tag[:_MAX_QUOTED]}' is nested more than {_MAX_DEPTH} elements deep")
        self._builder.start(tag, attributes)

    def _end(self, tag: str) -> None:
        self._depth -= 1
        self._builder.end(tag)

    def _reject_document_type(self, *_: object) -> None:
        raise self._wrong("it has a document type, which DistributedStream does not write")

    def _wrong(self, message: str) -> FileError:
        return FileError(f"{self._name}: line {self._parser.CurrentLineNumber}: {message}")


class _Reader:
    """A value may stand in an element or in an attribute of its name."""

    def __init__(self, name: str, root: ElementTree.Element) -> None:
        self._name = name
        self._root = root

    def run(self) -> StreamRun:
        configuration = self._child(self._root, "configuration", _ROOT)
        processes = self._count(configuration, "processes_per_node", "configuration")
        sizes = {name: self._count(configuration, f"{name.lower()}_size", "configuration") for name in KERNELS}
        nodes = [
            self._node(node, number, processes)
            for number, node in enumerate(self._child(self._root, "results", _ROOT).iter("node"), start=1)
        ]
        if not nodes:
            raise self._wrong("results", "has no node")
        threads = self._count(configuration, "threads_per_process", "configuration")
        return StreamRun(self._text(self._root, "experiment") or "", processes, threads, sizes, nodes)

    def _node(self, node: ElementTree.Element, number: int, processes: int) -> StreamNode:
        name = self._text(node, "name")
        if not name or len(name) > _MAX_NAME:
            raise self._wrong(f"node {number}", f"has no name of 1 to {_MAX_NAME} characters")
        processes_of_node = (
            self._count(node, "processes", f"node {name}") if self._text(node, "processes") else processes
        )
        times, printed = {}, {}
        for kernel in KERNELS:
            element = self._child(node, kernel, f"node {name}")
            times[kernel] = Spread(*(self._number(element, which, f"node {name}, {kernel}") for which in _TIMES))
            printed[kernel] = self._text(element, _TIMES[0]) or ""
        return StreamNode(name, processes_of_node, times, printed)

    def _child(self, parent: ElementTree.Element, name: str, where: str) -> ElementTree.Element:
        child = parent.find(name)
        if child is None:
            raise self._wrong(where, f"has no element '{name}'")
        return child

    @staticmethod
    def _text(parent: ElementTree.Element, name: str) -> str | None:
        text = parent.get(name) or parent.findtext(name)
        return clean_text(text).strip() if text else None

    def _number(self, parent: ElementTree.Element, name: str, where: str) -> float:
        text = self._text(parent, name)
        try:
            value = float(text or "")
        except ValueError:
            value = math.nan
        if not _MIN_NUMBER <= value <= _MAX_NUMBER:
            quoted = (text or "")[:_MAX_QUOTED]
            raise self._wrong(where, f"{name} is '{quoted}', not a number above 0 and up to {_MAX_NUMBER:g}")
        return value

    def _count(self, parent: ElementTree.Element, name: str, where: str) -> int:
        return max(1, round(self._number(parent, name, where)))

    def _wrong(self, where: str, message: str) -> FileError:
        return FileError(f"{self._name}: {where}: {message}")
