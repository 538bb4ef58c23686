"""Compare net_pingpong with sockperf ping-pong over loopback: 64 B, same CPUs, same way of waiting.

sockperf reports half round trips, which are doubled here. Pass the number of pairs as the first argument (default 7).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from nameplate.records.plan_record import Value
from nameplate.records.run_record import Histogram
from nameplate.statistics.stats import histogram_percentile_s, median, merged

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from net import HOST, bind_clients, core_with_peer, our_server, output, servers
from pairs import asked_pairs, comparison, measure

SECONDS = 2
PORT, SOCKPERF_PORT = 7602, 7630
BYTES = 64


def mine(params: Mapping[str, Value]) -> tuple[float, float]:
    """Measure with net_pingpong and return the median and p99.9 of the round trips in microseconds."""
    _, samples, _ = measure("net_pingpong", params, SECONDS, 0.25, start=partial(core_with_peer, PORT))
    counts = merged([s.histogram for s in samples if isinstance(s.histogram, Histogram)])
    return histogram_percentile_s(counts, 0.5) * 1e6, histogram_percentile_s(counts, 0.999) * 1e6


def sockperf(options: Sequence[str]) -> tuple[float, float]:
    """Run sockperf and return the median and p99.9 of the round trips in microseconds."""
    text = output(["sockperf", "ping-pong", "-i", HOST, "-p", str(SOCKPERF_PORT), "-m", str(BYTES), "-t", str(SECONDS),
                   *options])  # fmt: skip
    matches = [re.search(rf"percentile {share} =\s+([\d.]+)", text) for share in ("50.000", "99.900")]
    return tuple(2 * float(match[1]) for match in matches if match)  # type: ignore[return-value]


def main() -> None:
    """Print two lines per comparison."""
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
                # Runs without nameplate's server on the same CPU, because sockperf's server spins while it is idle.
                with servers(["sockperf", "server", "-i", HOST, "-p", str(SOCKPERF_PORT), *options]):
                    middle, tail = sockperf(options)
                tails["theirs"].append(tail)
                return middle

            print(comparison(f"{protocol}, {wait}, median", ours, theirs, pairs, "us"))
            print(f"    p99.9 {median(tails['ours']):.4g} us, theirs {median(tails['theirs']):.4g}", flush=True)


if __name__ == "__main__":
    main()
