"""net_pingpong beside sockperf ping-pong over loopback: 64 B, the same CPUs, the same way of waiting.

sockperf states half a round trip. Pass the number of pairs as the first argument (default 7).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

from _net import HOST, bind_clients, core_with_peer, our_server, output, servers
from _pairs import asked_pairs, beside, measure
from nameplate.records.model import Histogram, Value
from nameplate.statistics.stats import histogram_percentile_s, median, merged

SECONDS = 2
PORT, SOCKPERF_PORT = 7602, 7630
BYTES = 64


def mine(params: Mapping[str, Value]) -> tuple[float, float]:
    """Median and p99.9 of a round trip in microseconds."""
    _, samples, _ = measure("net_pingpong", params, SECONDS, 0.25, start=partial(core_with_peer, PORT))
    counts = merged(s.histogram for s in samples if isinstance(s.histogram, Histogram))
    return histogram_percentile_s(counts, 0.5) * 1e6, histogram_percentile_s(counts, 0.999) * 1e6


def sockperf(options: Sequence[str]) -> tuple[float, float]:
    """The same of its half round trips, doubled."""
    text = output(["sockperf", "ping-pong", "-i", HOST, "-p", str(SOCKPERF_PORT), "-m", str(BYTES), "-t", str(SECONDS),
                   *options])  # fmt: skip
    found = [re.search(rf"percentile {share} =\s+([\d.]+)", text) for share in ("50.000", "99.900")]
    return tuple(2 * float(match[1]) for match in found if match)  # type: ignore[return-value]


def main() -> None:
    """Prints two lines per comparison."""
    pairs = asked_pairs()
    bind_clients()
    print(output(["sockperf", "--version"]).strip())
    for protocol in ("tcp", "udp"):
        for wait in ("block", "spin"):
            options = [*(["--tcp"] if protocol == "tcp" else []), *(["--nonblocked"] if wait == "spin" else [])]
            tails: dict[str, list[float]] = {"ours": [], "theirs": []}

            def ours(protocol: str = protocol, wait: str = wait, tails: dict[str, list[float]] = tails) -> float:
                with servers(our_server(PORT)):
                    middle, tail = mine({"protocol": protocol, "wait": wait, "payload": BYTES})
                tails["ours"].append(tail)
                return middle

            def theirs(options: list[str] = options, tails: dict[str, list[float]] = tails) -> float:
                # Not beside ours: while it has nothing to do it spins, too.
                with servers(["sockperf", "server", "-i", HOST, "-p", str(SOCKPERF_PORT), *options]):
                    middle, tail = sockperf(options)
                tails["theirs"].append(tail)
                return middle

            print(beside(f"{protocol}, {wait}, median", ours, theirs, pairs, "us"))
            print(f"    p99.9 {median(tails['ours']):.4g} us, theirs {median(tails['theirs']):.4g}", flush=True)


if __name__ == "__main__":
    main()
