"""Outputs of ``iperf3 --json``, versions 3.0 to 3.22, with known values.

What each version prints was read in iperf3's iperf_api.c, and compared with outputs of iperf3 3.12.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from nameplate.records.plan_record import Value
from tool_outputs.reprint import reprinted
from tool_outputs.truth import Expected, Reading, Remark, ToolOutput

# Versions in which the output changed: --bidir from 3.7, separate sums for it from 3.11 (in 3.7 to 3.10 every sum is
# written twice), sum_received for UDP and the target bitrate from 3.11, a mark for --bidir from 3.13, --json-stream
# from 3.17.
VERSIONS = ("3.0.11", "3.1", "3.1.3", "3.1.7", "3.2", "3.5", "3.6", "3.7", "3.9", "3.10.1", "3.11", "3.12", "3.13",
            "3.15", "3.16", "3.17.1", "3.18", "3.20", "3.22")  # fmt: skip
_ERRORS = (
    "unable to connect to server: Connection refused", "unable to connect to server - server may have stopped running",
    "the server is busy running a test. try again later", "interrupt - the client has terminated",
    "control socket has closed unexpectedly", "unable to receive control message: Connection reset by peer",
)  # fmt: skip
_BEFORE = ("warning: Ignoring nonsense TCP MSS 0\n", "+ iperf3 -c host -J > result {json}\n", "Mon Nov 30 01:08 UTC\n")
_AFTER = ("iperf3: error - unable to send control message: Broken pipe\n", "\nreal\t0m10.05s\n", "{}\n")


@dataclass(frozen=True)
class _Test:
    """A test as its client sees it."""

    version: str
    protocol: str
    streams: int
    block: int
    is_reverse: bool
    is_bidirectional: bool
    is_ipv6: bool
    is_server: bool
    target: int
    omit: int
    fq_rate: int = 0
    is_gso: bool = False

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(map(int, self.version.split(".")))


def generate(rng: random.Random) -> ToolOutput:
    """Return an output of a test with harmless options, with ones that change the work, or of a failed run."""
    test = _test(rng)
    share = rng.random()
    if share < 0.6:
        return _plain(rng, test)
    return rng.choice(
        [_limited, _bidirectional, _bidirectional, _failed, _interrupted, _of_server, _streamed, _odd, _sctp, _appended]
    )(rng, test)


def _test(rng: random.Random) -> _Test:
    protocol = rng.choice(["TCP", "TCP", "UDP"])
    block = rng.choice([131072, 131072, 65536, 8192, 1 << 20]) if protocol == "TCP" else rng.choice([1448, 1460, 8192])
    return _Test(
        version=rng.choice(VERSIONS), protocol=protocol, streams=rng.choice([1, 1, 1, 2, 4, 8, 40, 64, 128]),
        block=block, is_reverse=rng.random() < 0.3, is_bidirectional=False, is_ipv6=rng.random() < 0.3,
        is_server=False, target=0, omit=rng.choice([0, 0, 0, 2]), is_gso=protocol == "UDP" and rng.random() < 0.3,
    )  # fmt: skip


def _start(rng: random.Random, test: _Test) -> dict[str, Any]:
    here, there = ("2001:db8:85a3:8d3:1319:8a2e:370:7348", "2001:db8:85a3:8d3:1319:8a2e:370:7344")
    if not test.is_ipv6:
        here, there = "192.168.100.101", "192.168.100.102"
    sockets = test.streams * (2 if test.is_bidirectional else 1)
    start: dict[str, Any] = {
        "connected": [
            {"socket": 5 + 2 * index, "local_host": here, "local_port": 40000 + index, "remote_host": there,
             "remote_port": 5201} for index in range(sockets)
        ],
        "version": f"iperf {test.version}{rng.choice(['', '', '', '', '+', '-mt1'])}",
        "system_info": "Linux vm 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC x86_64",
        "timestamp": {"time": "Mon, 30 Nov 2026 01:09:11 GMT", "timesecs": 1796000951},
    }  # fmt: skip
    if test.is_server:
        start["accepted_connection"] = {"host": there, "port": 47090}
    else:
        start["connecting_to"] = {"host": there, "port": 5201}
    start |= {"cookie": "6g44ism2f7omzi76gczt4pybollagl653d36"}
    if test.protocol == "TCP":
        start["tcp_mss_default"] = 1448
    if test.number >= (3, 11):
        start["target_bitrate"] = test.target
    if test.number >= (3, 13):
        start["fq_rate"] = test.fq_rate
    if test.number >= (3, 3):
        start |= {"sock_bufsize": 0, "sndbuf_actual": 16384, "rcvbuf_actual": 131072}
    start["test_start"] = _test_start(rng, test)
    return start


def _test_start(rng: random.Random, test: _Test) -> dict[str, Any]:
    by_bytes = rng.random() < 0.1
    members: dict[str, Any] = {
        "protocol": test.protocol, "num_streams": test.streams, "blksize": test.block, "omit": test.omit,
        "duration": 0 if by_bytes else 10, "bytes": 1 << 30 if by_bytes else 0, "blocks": 0,
        "reverse": int(test.is_reverse),
    }  # fmt: skip
    if test.number >= (3, 3):
        members["tos"] = 0
    if test.number >= (3, 11):
        members["target_bitrate"] = test.target
    if test.number >= (3, 13):
        members |= {"bidir": int(test.is_bidirectional), "fqrate": test.fq_rate}
    if test.number >= (3, 17):
        members["interval"] = 1
    if test.number >= (3, 21):
        members |= {"gso": int(test.is_gso), "gro": int(test.is_gso)}
    return members


@dataclass(frozen=True)
class _Sums:
    """What one direction of a test transferred."""

    sent: int
    received: int
    sender_s: float
    receiver_s: float
    lost: int
    packets: int


def _sums(rng: random.Random, test: _Test, is_negative: bool = False) -> _Sums:
    sender_s = round(rng.uniform(9.9, 10.1), 6)
    receiver_s = round(sender_s + rng.uniform(0, 0.4), 6) if test.number >= (3, 2) else sender_s
    if test.protocol != "UDP":
        sent = int(10 ** rng.uniform(7, 11))
        received = int(sent * rng.uniform(0.9, 1))
        return _Sums(sent, received, sender_s, receiver_s, 0, 0)
    packets = int(10 ** rng.uniform(3, 6))
    lost = -3 if is_negative else rng.choice([0, 0, packets // 50, packets // 3])
    return _Sums(packets * test.block, (packets - max(0, lost)) * test.block, sender_s, receiver_s, lost, packets)


def _sum(seconds: float, count: int, **more: Any) -> dict[str, Any]:
    return {"start": 0, "end": seconds, "seconds": seconds, "bytes": count, "bits_per_second": count * 8 / seconds,
            **more}  # fmt: skip


def _end(rng: random.Random, test: _Test, sums: Sequence[_Sums]) -> list[tuple[str, Any]]:
    """Return the members of "end": names may occur twice, as iperf3 3.7 to 3.10 writes them."""
    members: list[tuple[str, Any]] = [("streams", _streams(rng, test, sums))]
    for index, one in enumerate(sums):
        suffix = "_bidir_reverse" if index and test.number >= (3, 11) else ""
        sender = {"sender": index == 0} if test.number >= (3, 7) else {}
        if test.protocol == "UDP":
            lost = {"jitter_ms": 0.0097, "lost_packets": one.lost, "packets": one.packets,
                    "lost_percent": 100 * one.lost / one.packets}  # fmt: skip
            both = _sum(one.receiver_s, one.sent, **lost, **sender)
            both["bits_per_second"] = one.sent * 8 / one.sender_s
            members.append((f"sum{suffix}", both))
            if test.number >= (3, 11):
                clean = {"jitter_ms": 0, "lost_packets": 0, "packets": one.packets, "lost_percent": 0}
                members.append((f"sum_sent{suffix}", _sum(one.sender_s, one.sent, **clean, sender=True)))
                members.append((f"sum_received{suffix}", _sum(one.receiver_s, one.received, **lost, sender=False)))
        else:
            retransmits = {"retransmits": 7} if rng.random() < 0.8 else {}
            members.append((f"sum_sent{suffix}", _sum(one.sender_s, one.sent, **retransmits, **sender)))
            members.append((f"sum_received{suffix}", _sum(one.receiver_s, one.received, **sender)))
    load = {f"{end}_{part}": rng.uniform(0, 100) for end in ("host", "remote") for part in ("total", "user", "system")}
    members.append(("cpu_utilization_percent", load))
    if test.protocol == "TCP" and test.number >= (3, 1, 3):
        members += [("sender_tcp_congestion", "cubic"), ("receiver_tcp_congestion", "cubic")]
    return members


def _streams(rng: random.Random, test: _Test, sums: Sequence[_Sums]) -> list[Any]:
    members: list[Any] = []
    for index, one in enumerate(sums):
        for stream in range(test.streams):
            socket = {"socket": 5 + 2 * stream}
            sender = {"sender": index == 0} if test.number >= (3, 7) else {}
            if test.protocol == "UDP":
                members.append({"udp": {**socket, **_sum(one.sender_s, one.sent // test.streams), "jitter_ms": 0.01,
                                      "lost_packets": one.lost // test.streams, "packets": one.packets // test.streams,
                                      "lost_percent": 1.5, "out_of_order": 0, **sender}})  # fmt: skip
            else:
                sent, received = one.sent // test.streams, one.received // test.streams
                members.append({"sender": {**socket, **_sum(one.sender_s, sent), **sender},
                              "receiver": {**socket, **_sum(one.receiver_s, received), **sender}})  # fmt: skip
    return members


def _intervals(rng: random.Random, test: _Test, sums: Sequence[_Sums]) -> list[Any]:
    members = []
    for second in range(rng.choice([0, 1, 2])):
        count = int(sums[0].sent / 10 * rng.uniform(0.5, 1.5))
        one = {**_sum(1.0003, count), "start": second, "end": second + 1, "omitted": second < test.omit}
        members.append({"streams": [{"socket": 5, **one} for _ in range(test.streams)], "sum": one})
    return members


def _print(value: Any, indent: int = 0, word: str = "") -> str:
    """Return JSON as cJSON prints it, with tabs; an object may be a list of pairs; ``word`` replaces None."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        pairs = value
    elif isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        return "[" + ", ".join(_print(item, indent, word) for item in value) + "]"
    elif value is None:
        return word
    elif isinstance(value, float):
        return f"{value:.15g}"
    else:
        return json.dumps(value)
    pad = "\t" * (indent + 1)
    lines = ",\n".join(f'{pad}"{name}":\t{_print(item, indent + 1, word)}' for name, item in pairs)
    return "{\n" + (lines + "\n" if lines else "") + "\t" * indent + "}"


def _document(rng: random.Random, test: _Test, sums: Sequence[_Sums]) -> list[tuple[str, Any]]:
    return [("start", _start(rng, test)), ("intervals", _intervals(rng, test, sums)), ("end", _end(rng, test, sums))]


def _expected(test: _Test, one: _Sums) -> Expected:
    params: dict[str, Value] = {
        "protocol": test.protocol.lower(), "direction": "down" if test.is_reverse else "up",
        "connections": test.streams, "block": test.block,
    }  # fmt: skip
    if test.protocol == "UDP":
        is_gso = test.is_gso and test.number >= (3, 21)
        params |= {"mode": "gso", "receive": "gro"} if is_gso else {"mode": "plain", "receive": "plain"}
    required = frozenset(params)
    received = one.received / one.receiver_s
    low = high = received
    if test.protocol == "UDP" and test.number < (3, 11):
        # Only the sums of both sides together are printed: bytes by the receiver's clock, a rate by the sender's.
        low, high = sorted([received, one.received / one.sender_s])
    return Expected("bandwidth", params, low, high, required)


def _output(test: _Test, text: str, reading: Reading, expected: Sequence[Expected], *kinds: str) -> ToolOutput:
    labels = [f"iperf3 {test.version} {test.protocol}", *kinds]
    return ToolOutput("iperf3", text.encode(), reading, expected, labels, name="output.json")


def _plain(rng: random.Random, test: _Test) -> ToolOutput:
    sums = _sums(rng, test)
    document = _document(rng, test, [sums])
    kinds = ["harmless options", f"-P {test.streams}", "IPv6" if test.is_ipv6 else "IPv4"]
    extra = rng.random()
    if extra < 0.08:
        document.append(("title", 'a {test} of "bidir" and sum_received'))
    elif extra < 0.16 and test.number >= (3, 1):
        server = replace(test, is_server=True)
        document.append(("server_output_json", dict(_document(rng, server, [sums])[:1])))
        kinds.append("--get-server-output")
    elif extra < 0.2 and test.number >= (3, 1):
        text = "-----\nServer listening on 5201\nAccepted connection from 192.168.100.101\n[ 5] 0.00-10.00 sec {0} GB\n"
        document.append(("server_output_text", text))
        kinds.append("--get-server-output of a server without JSON")
    text = _print(document) + "\n"
    if rng.random() < 0.1:
        kinds.append("printed again by another program")
        text = reprinted(rng, text)
    around = rng.random()
    if around < 0.08:
        kinds.append("text before the object")
        text = rng.choice(_BEFORE) + text
    elif around < 0.16:
        kinds.append("text after the object")
        text += rng.choice(_AFTER)
    elif around < 0.2:
        text = text.replace("\n", "\r\n")
    return _output(test, text, Reading.MUST, [_expected(test, sums)], *kinds)


def _limited(rng: random.Random, test: _Test) -> ToolOutput:
    """Return the output of a test with a target bitrate, which a version from 3.11 prints."""
    is_fair_queue = test.number >= (3, 13) and rng.random() < 0.3
    rate = rng.choice([1048576, 100_000_000, 1_000_000_000])
    test = replace(test, fq_rate=rate) if is_fair_queue else replace(test, target=rate)
    sums = _sums(rng, test)
    # The shortest tests send a burst, far faster than the rate.
    is_short = not is_fair_queue and test.number >= (3, 11) and rng.random() < 0.2
    packets = max(1, int((100 if is_short else 1) * rate * test.streams / 8 * sums.sender_s) // test.block)
    sums = replace(sums, sent=packets * test.block, received=packets * test.block, packets=packets, lost=0)
    if is_short:
        return _output(test, _print(_document(rng, test, [sums])), Reading.NEVER, [], "faster than its rate")
    expected = _expected(test, sums)
    if not is_fair_queue:
        expected = replace(expected, params={**expected.params, "rate": rate * test.streams})
    output = _output(test, _print(_document(rng, test, [sums])), Reading.MAY, [expected], "a limited rate")
    if test.number < (3, 11):
        return output
    return replace(output, remarks=[Remark("rate", "rate", True)])


def _bidirectional(rng: random.Random, test: _Test) -> ToolOutput:
    if test.number < (3, 7):
        test = replace(test, version=rng.choice(["3.7", "3.9", "3.10.1", "3.11", "3.12", "3.16"]))
    test = replace(test, is_bidirectional=True, is_reverse=False, is_server=rng.random() < 0.2)
    document = _document(rng, test, [_sums(rng, test), _sums(rng, test)])
    if rng.random() < 0.3:
        document.append(("server_output_text", "Server listening\non 5201\t\u001b[0m"))
    text = _print(document)
    if test.number >= (3, 17) and rng.random() < 0.5:
        events = [("start", dict(document)["start"]), ("end", dict(dict(document)["end"]))]
        text = "\n".join(json.dumps({"event": name, "data": data}) for name, data in events)
    mark = "marked" if test.number >= (3, 13) else "not marked"
    return _output(test, text, Reading.NEVER, [], f"--bidir, {mark}")


def _failed(rng: random.Random, test: _Test) -> ToolOutput:
    """Return the output of a run that did not begin."""
    start = _start(rng, test)
    for name in ("test_start", "cookie", "connecting_to"):
        start.pop(name, None)
    start["connected"] = []
    error = rng.choice(_ERRORS)
    text = _print([("start", start), ("intervals", []), ("end", {}), ("error", error)])
    return replace(_output(test, text, Reading.NEVER, [], "error before the test"), quoted=error)


def _interrupted(rng: random.Random, test: _Test) -> ToolOutput:
    sums = _sums(rng, test)
    if not test.is_reverse or rng.random() < 0.3:
        sums = replace(sums, received=0)
    error = rng.choice(_ERRORS[3:])
    text = _print([*_document(rng, test, [sums]), ("error", error)])
    return replace(_output(test, text, Reading.NEVER, [], "error during the test"), quoted=error)


def _of_server(rng: random.Random, test: _Test) -> ToolOutput:
    """Return the server's output: it counts what it receives, and does not know what a client receives."""
    test = replace(test, is_server=True, version=rng.choice(["3.11", "3.12", "3.16", "3.20"]))
    sums = _sums(rng, test)
    if test.is_reverse:
        text = _print(_document(rng, test, [replace(sums, received=0)]))
        return _output(test, text, Reading.NEVER, [], "server of a reverse test")
    document = _document(rng, test, [sums])
    ending = rng.choice(["", "", "within", "after"])
    if ending == "within":
        document.append(("error", "interrupt - the server has terminated"))
    text = _print(document)
    if ending == "after":
        start = [("connected", []), ("version", f"iperf {test.version}")]
        error = "interrupt - the server has terminated by signal Interrupt(2)"
        text += "\n" + _print([("start", start), ("intervals", []), ("end", {}), ("error", error)])
    asked_s = dict(document)["start"]["test_start"]["duration"]
    if ending == "within" and not 0 < asked_s <= sums.receiver_s:
        return _output(test, text, Reading.NEVER if asked_s else Reading.MAY, [_expected(test, sums)],
                       "server that was ended during a test")  # fmt: skip
    return _output(test, text, Reading.MUST, [_expected(test, sums)], f"server, end {ending or 'not written'}")


def _streamed(rng: random.Random, test: _Test) -> ToolOutput:
    """Return an output of --json-stream: an event in each line."""
    test = replace(test, version=rng.choice(["3.17.1", "3.18", "3.20", "3.22"]))
    sums = _sums(rng, test)
    document = dict(_document(rng, test, [sums]))
    events: list[tuple[str, Any]] = [("start", document["start"])]
    events += [("interval", interval) for interval in document["intervals"]]
    error = rng.choice(_ERRORS[3:]) if rng.random() < 0.3 else ""
    if error:
        events.append(("error", error))
    events.append(("end", dict(document["end"])))
    text = "\n".join(json.dumps({"event": name, "data": data}, separators=(",", ":")) for name, data in events) + "\n"
    if error:
        return replace(_output(test, text, Reading.NEVER, [], "--json-stream with an error"), quoted=error)
    if test.number >= (3, 18) and rng.random() < 0.3:
        text += _print(document) + "\n"
        return _output(test, text, Reading.MAY, [_expected(test, sums)], "--json-stream-full-output")
    return _output(test, text, Reading.MAY, [_expected(test, sums)], "--json-stream")


def _odd(rng: random.Random, test: _Test) -> ToolOutput:
    """Return an output with numbers that a program may stumble over, or one that is cut."""
    kind = rng.choice(["negative loss", "-nan", "cut", "nothing received", "nothing lost of nothing"])
    if kind == "negative loss":
        test = replace(test, protocol="UDP", block=1448)
        sums = _sums(rng, test, is_negative=True)
        return _output(test, _print(_document(rng, test, [sums])), Reading.MAY, [_expected(test, sums)], kind)
    sums = _sums(rng, test)
    if kind == "-nan":
        test = replace(test, version="3.1.3", protocol="UDP", block=1448)
        sums = _sums(rng, test)
        document = dict(_document(rng, test, [sums]))
        document["intervals"] = [{"streams": [], "sum": {"start": 0, "lost_percent": None}}]
        text = _print(document, word=rng.choice(["-nan", "nan", "null", "inf"]))
        return _output(test, text, Reading.MAY, [_expected(test, sums)], kind)
    if kind == "cut":
        text = _print(_document(rng, test, [sums]))
        return _output(test, text[: int(len(text) * rng.uniform(0.2, 0.99))], Reading.NEVER, [], kind)
    if kind == "nothing received" and test.protocol == "TCP":
        text = _print(_document(rng, test, [replace(sums, received=0)]))
        return _output(test, text, Reading.NEVER, [], kind)
    test = replace(test, protocol="UDP", block=1448)
    document = dict(_document(rng, test, [_sums(rng, test)]))
    document["end"] = [
        (name, {**value, "bytes": 0, "bits_per_second": 0, "packets": 0, "lost_packets": 0}
         if name.startswith("sum") else value)
        for name, value in document["end"]
    ]  # fmt: skip
    return _output(test, _print(document), Reading.NEVER, [], "no datagrams")


def _sctp(rng: random.Random, test: _Test) -> ToolOutput:
    test = replace(test, protocol="SCTP", block=65536)
    sums = _sums(rng, test)
    return _output(test, _print(_document(rng, test, [sums])), Reading.MAY, [_expected(test, sums)], "SCTP")


def _appended(rng: random.Random, test: _Test) -> ToolOutput:
    """Return two or three tests of the same kind in one file, of which one may have failed."""
    count = rng.choice([2, 3])
    sums = [_sums(rng, test) for _ in range(count)]
    expected = [_expected(test, one) for one in sums]
    merged = replace(expected[0], low=min(one.low for one in expected), high=max(one.high for one in expected))
    text = "".join(_print(_document(rng, test, [one])) + "\n" for one in sums)
    if rng.random() < 0.3:
        failed = _failed(rng, test)
        text += failed.content.decode()
        return replace(_output(test, text, Reading.MAY, [merged], "several tests, one failed"), max_rounds=count)
    return replace(_output(test, text, Reading.MAY, [merged], "several tests"), max_rounds=count)
