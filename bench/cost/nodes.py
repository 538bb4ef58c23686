"""Measure the time, memory and report size that 10,007 nodes with four operations take.

python bench/cost/nodes.py [NODES]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from nameplate.report.html.document import write_html
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from simulated_cluster import write_stream_run

# One node in a hundred is slower by a tenth.
SLOW_EVERY, SLOW_BY = 100, 0.1


def view(nodes: int, rounds: int, folder: Path) -> str:
    """Analyse a simulated run of ``nodes`` nodes, write its report and return the measurements as a line."""
    slow = set(range(0, nodes, SLOW_EVERY))
    path, page = folder / f"{rounds}.jsonl", folder / f"{rounds}.html"
    write_stream_run(path, nodes, slow=dict.fromkeys(slow, SLOW_BY), rounds=rounds)
    start_s = time.perf_counter()
    report = summarise(read_run(path))
    analysis_s = time.perf_counter() - start_s
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    write_html([report], page)
    page_s = time.perf_counter() - start_s - analysis_s
    assert report.nodes is not None
    slow_indices = set(report.nodes.metrics[0].slow)
    return (
        f"{nodes} nodes, {rounds} rounds, {path.stat().st_size / 1e6:.0f} MB: analysis {analysis_s:.2f} s, "
        f"peak {peak_mb:.0f} MB; report {page.stat().st_size / 1e6:.2f} MB in {page_s:.1f} s; "
        f"{len(slow_indices & slow)} of {len(slow)} slow nodes found, and {len(slow_indices - slow)} false positives"
    )


def main() -> None:
    """Print a line for a run of one round, and one for a run of six."""
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 10_007
    with tempfile.TemporaryDirectory() as folder:
        for rounds in (1, 6):
            print(view(nodes, rounds, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
