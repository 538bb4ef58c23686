"""Adapter for iperf3 (https://software.es.net/iperf/): bulk transfer, single-threaded before version 3.16.

The bandwidth that the receiver counted is read from the output of ``iperf3 --json`` or ``--json-stream``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from nameplate.errors import Unreadable
from nameplate.records.numbers import AtLeastOne, Count, Int64, Real
from nameplate.records.plan_record import Value
from nameplate.tools.output import Imported, ToolOutput, decoded_object, json_objects, positive, tool_output
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork

_TCP_BLOCK, _UDP_BLOCK = 128 << 10, 1024


class _Test(msgspec.Struct):
    """The settings of a test. Versions print different settings; a setting is None if the output lacks it."""

    protocol: str
    num_streams: AtLeastOne
    blksize: AtLeastOne
    duration: Count = 0
    bytes: Count = 0
    blocks: Count = 0
    reverse: int = 0
    bidir: int = 0
    target_bitrate: Count | None = None
    fqrate: Count = 0
    gso: int = 0
    gro: int = 0


class _Connection(msgspec.Struct):
    local_host: str = ""
    remote_host: str = ""


class _Start(msgspec.Struct):
    version: str = ""
    connected: list[_Connection] = []
    test_start: _Test | None = None
    accepted_connection: Any = None
    target_bitrate: Count | None = None
    sock_bufsize: Count | None = None
    tcp_mss: Count | None = None
    tcp_mss_default: Count | None = None
    fq_rate: Count = 0


class _Direction(msgspec.Struct):
    """The direction of a stream: ``sender`` is true if this host sends, and None if the output does not report it."""

    sender: bool | None = None


class _Stream(msgspec.Struct):
    """A stream. ``diskfile`` is set if ``--file`` read or wrote a file."""

    sender: _Direction | None = None
    diskfile: Any = None
    udp: _Direction | None = None


class _Sum(msgspec.Struct):
    seconds: Real = 0.0
    bytes: Count = 0
    bits_per_second: Real | None = None
    lost_packets: Int64 = 0
    packets: Int64 = 0


class _End(msgspec.Struct):
    streams: list[_Stream] = []
    sum_received: _Sum | None = None
    sum: _Sum | None = None
    sender_tcp_congestion: str = ""
    sum_sent_bidir_reverse: Any = None
    sum_received_bidir_reverse: Any = None
    sum_bidir_reverse: Any = None


class _Output(msgspec.Struct):
    start: _Start = msgspec.field(default_factory=_Start)
    end: _End = msgspec.field(default_factory=_End)
    error: str | None = None
    event: str = ""
    data: msgspec.Raw = msgspec.Raw(b"{}")


def _bandwidth(text: str) -> float:
    return read(text).values[0].value


def _works(setting: ToolSetting) -> list[ToolWork]:
    program = setting.programs["iperf3"].path
    # One sample, as iperf3 makes one transfer: a congestion control that paces (BBR) starts again after each pause.
    length_s = float(setting.seconds)
    port = ["-p", str(setting.port)]
    client = [program, "-c", setting.host, *port, "-t", str(setting.seconds), "-J"]
    server = [program, "-s", "-B", setting.host, *port]
    tcp = ComparedMetric(
        "", "net_stream", {"protocol": "tcp", "block": _TCP_BLOCK}, "bandwidth", _bandwidth, sample_s=length_s
    )
    udp = ComparedMetric(
        "", "net_stream", {"protocol": "udp", "block": _UDP_BLOCK}, "bandwidth", _bandwidth, sample_s=length_s
    )
    return [
        ToolWork("tcp, 128 KiB, 1 connection", [*client, "-l", str(_TCP_BLOCK)], [tcp], server=server),
        ToolWork("udp, 1 KiB, as fast as possible", [*client, "-l", str(_UDP_BLOCK), "-u", "-b", "0"], [udp],
             server=server),
    ]  # fmt: skip


REFERENCE = ReferenceTool(
    name="iperf3",
    programs=("iperf3",),
    identify=("--version",),
    version=re.compile(r"^iperf (3\.\S+)"),
    install="apt install iperf3",
    works=_works,
)

# The measured rate may exceed the requested rate by this factor, since bursts are sent at once.
_MAX_OVER_RATE = 2
# The first minor version that prints the requested rate, and the first one with threads, whose client notices the last
# byte only at the end of a report interval.
_PRINTS_BITRATE = 7
_HAS_THREADS = 16
_VERSION = re.compile(r'"version"\s*:\s*"iperf (3\S*)"')
# The headings of the normal output, the first of which iperf 2 has as well.
_NORMAL = re.compile(r"^\[ *ID\] +Interval +Transfer +(?:Bitrate|Bandwidth)", re.MULTILINE)
_CONNECTED = re.compile(r"^\[ *\d+\] local \S+ port \d+ connected to", re.MULTILINE)


def recognises(text: str) -> bool:
    """Return whether ``text`` contains iperf3's output: JSON with its version or error, or its normal output."""
    return bool(_VERSION.search(text) or (_NORMAL.search(text) and _CONNECTED.search(text)))


def read(text: str) -> ToolOutput:
    """Return one value: the received bandwidth of all streams together, in B/s.

    The probe is net_stream with the parameters ``protocol`` ("tcp" or "udp"), ``direction`` ("down" with ``--reverse``,
    otherwise "up"; from the client's view, even in a server's output), ``connections``, ``block`` in bytes, ``mode``
    and ``receive`` for UDP, and, if they were given, ``rate`` in bit/s, ``window`` and ``mss`` in bytes.
    ``restriction`` says why the value may be below what the network delivers, for example a rate given for TCP.

    Raises:
        Unreadable: the output has an unexpected form, several tests, or no received bandwidth; or the test failed or
            was bidirectional.
    """
    if not _VERSION.search(text):
        raise Unreadable("this is iperf3's normal output; run iperf3 with --json")
    output = _output(text)
    test = _readable_test(output)
    params: dict[str, Value] = {
        "protocol": test.protocol.lower(),
        "direction": "down" if test.reverse else "up",
        "connections": test.num_streams,
        "block": test.blksize,
    }
    if test.protocol == "UDP":
        # Each datagram has a system call of its own, unless --gsro (from 3.21) says otherwise.
        params |= {"mode": "gso" if test.gso else "plain", "receive": "gro" if test.gro else "plain"}
    version = _VERSION.findall(text)[0]
    target = _target_bitrate(output.start, test, version)
    settings = {
        "rate": target and target * test.num_streams,
        "window": output.start.sock_bufsize,
        # Each version prints either the size that was given or the default.
        "mss": output.start.tcp_mss or (None if output.start.tcp_mss_default is None else 0),
    }
    params |= {name: value for name, value in settings.items() if value}
    possible: dict[str, tuple[Value, ...]] = {name: () for name, value in settings.items() if value == 0}
    if test.protocol == "TCP":
        # --zerocopy is not in the output.
        possible["mode"] = ("plain", "zerocopy")
    if output.end.sender_tcp_congestion:
        possible["congestion"] = (output.end.sender_tcp_congestion,)
    received_bits = _received_bits(output.end, test.protocol)
    if target and received_bits > _MAX_OVER_RATE * target * test.num_streams:
        raise Unreadable(f"{received_bits:.3g} bit/s arrived, far more than the given --bitrate: the test is too short")
    value = positive(received_bits, 1 / 8)
    restriction = _restriction(output.start, test, target, version)
    hosts = "; ".join(dict.fromkeys(f"{link.local_host} to {link.remote_host}" for link in output.start.connected))
    imported = Imported("net_stream", params, "bandwidth", value, possible, restriction, location=hosts)
    return tool_output(version, [imported], "streams", is_dated=True)


def _restriction(start: _Start, test: _Test, target: int | None, version: str) -> str:
    """Return why the value may be below what the network delivers, or ""."""
    if (test.bytes or test.blocks) and _minor(version) >= _HAS_THREADS:
        return "a test of --bytes or --blockcount may end later than its last byte in this version"
    if test.fqrate or start.fq_rate or (test.protocol == "TCP" and target):
        return "--bitrate or --fq-rate limited it"
    if test.protocol == "UDP" and target is None:
        return "--bitrate (by default 1 Mbit/s), which this version does not print, may have limited it"
    return ""


def _target_bitrate(start: _Start, test: _Test, version: str) -> int | None:
    """Return the requested rate of each stream in bit/s, 0 for no limit, or None if it is not known.

    iperf3 from 3.11 prints it in the settings of the test; from 3.7 at the start of the output, unless it is 0.
    """
    if test.target_bitrate is not None:
        return test.target_bitrate
    return start.target_bitrate or (0 if _minor(version) >= _PRINTS_BITRATE else None)


def _minor(version: str) -> int:
    """Return the minor number of a version 3.x, or 0 if there is none."""
    match = re.match(r"3\.(\d{1,3})", version)
    return int(match[1]) if match else 0


def _readable_test(output: _Output) -> _Test:
    """Return the settings of a test that measured the network. Raises Unreadable for other tests."""
    test = output.start.test_start
    if output.error and not (_is_end_of_server(output.error) and test and _is_complete(test, output.end.sum_received)):
        raise Unreadable(f"iperf3 failed: {output.error}")
    if test is None:
        raise Unreadable("no test of the output has started")
    if test.protocol not in ("TCP", "UDP"):
        raise Unreadable(f"protocol {test.protocol}: nameplate measures TCP and UDP")
    if _is_bidirectional(output, test):
        raise Unreadable("--bidir: the output has two bandwidths; measure each direction alone")
    if any(stream.diskfile is not None for stream in output.end.streams):
        raise Unreadable("--file: a disk was read or written as well")
    if test.reverse and output.start.accepted_connection is not None:
        raise Unreadable("the server of a reverse test does not know what arrived; use the client's output")
    return test


def _output(text: str) -> _Output:
    """Return the only test in an output, which may consist of the events of ``--json-stream``.

    Raises Unreadable if there are several tests, or the output is incomplete.
    """
    outputs = [decoded_object(json, _Output) for json in json_objects(text)]
    documents = [
        output
        for output in outputs
        if not output.event and (output.error or output.start.test_start or output.start.version)
    ]
    # A server that is ended while it waits writes one more output.
    tests = [output for output in documents if output.start.test_start or not _is_end_of_server(output.error)]
    starts, ends, errors = (
        [output.data for output in outputs if output.event == event] for event in ("start", "end", "error")
    )
    if len(tests) + len(starts) > 1 and not (len(tests) == len(starts) == 1):
        raise Unreadable(f"{len(tests) + len(starts)} outputs in one file: put each into a separate file")
    if documents and not errors:
        return (tests or documents)[0]
    return _of_events(starts, [end for end in ends if bytes(end) != b"{}"], errors)


def _of_events(starts: Sequence[msgspec.Raw], ends: Sequence[msgspec.Raw], errors: Sequence[msgspec.Raw]) -> _Output:
    """Return the test of a ``--json-stream`` output. Raises Unreadable if it has neither an end nor an error."""
    if not errors and not (starts and ends):
        raise Unreadable("the test does not end: the output is cut off")
    return _Output(
        start=decoded_object(starts[0], _Start) if starts else _Start(),
        end=decoded_object(ends[-1], _End) if ends else _End(),
        error=decoded_object(errors[0], str) if errors else None,
    )


def _is_end_of_server(error: str | None) -> bool:
    return error is not None and "the server has terminated" in error


def _is_complete(test: _Test, received: _Sum | None) -> bool:
    """Return whether all requested data arrived. A server that is stopped prints the results of its last test again."""
    asked = test.bytes or test.blocks * test.blksize
    if received is None or not (asked or test.duration):
        return False
    return received.bytes >= asked and received.seconds >= test.duration


def _is_bidirectional(output: _Output, test: _Test) -> bool:
    """Return whether data flowed in both directions. iperf3 before 3.13 does not report this setting."""
    end = output.end
    parts = (stream.sender or stream.udp for stream in end.streams)
    directions = {part.sender for part in parts if part is not None and part.sender is not None}
    return (
        bool(test.bidir)
        or len(output.start.connected) >= 2 * test.num_streams
        or len(directions) > 1
        or any(
            part is not None
            for part in (end.sum_sent_bidir_reverse, end.sum_received_bidir_reverse, end.sum_bidir_reverse)
        )
    )


def _received_bits(end: _End, protocol: str) -> float:
    """Return the received bandwidth in bit/s. Raises Unreadable if the output does not report it."""
    if end.sum_received is not None:
        return _possible(end.sum_received.bits_per_second)
    if protocol == "TCP":
        raise Unreadable("no sum_received: the output does not show what arrived")
    # Versions before 3.11 count datagrams of UDP as sent; datagrams out of order were counted as lost before.
    if end.sum is None or end.sum.packets <= 0:
        raise Unreadable("no datagrams")
    return _possible(end.sum.bits_per_second) * (1 - max(0, end.sum.lost_packets) / end.sum.packets)


def _possible(bits: float | None) -> float:
    if bits is None:
        raise Unreadable("iperf3 wrote a bandwidth that is not a number, such as -nan")
    if bits == 0:
        raise Unreadable("no data arrived, or this side of the test did not count it")
    return bits
