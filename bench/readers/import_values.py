"""Read outputs of other tools whose values are known, and show what is read wrongly, a kind of fault once.

python bench/readers/import_values.py [OUTPUTS [FIRST]]      default: 5,000 outputs from number 0; exit code 1 if a
    value is
wrong, or if less than 95 % of the outputs with harmless options are read

An output depends on its number alone, so ``python bench/readers/import_values.py 1 NUMBER`` reproduces it. An output
that is read wrongly is saved in the folder ``build/import-values``. The generators are in
``tests/support/tool_outputs``."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from import_check import MIN_HARMLESS_SHARE, Import, check_import

OUTPUTS_OF_PROCESS = 250
SAVED = Path("build/import-values")


def check_imports(first: int, count: int) -> list[Import]:
    """Return how the import of each output ended."""
    with tempfile.TemporaryDirectory() as folder:
        return [check_import(number, Path(folder)) for number in range(first, first + count)]


def _show_faults(imports: Iterable[Import], seen: Counter[tuple[str, str]]) -> None:
    """Print each kind of fault once, and save its output."""
    for one in imports:
        for kind, text in one.faults:
            seen[one.output.tool, kind] += 1
            if seen[one.output.tool, kind] == 1:
                SAVED.mkdir(parents=True, exist_ok=True)
                path = SAVED / f"{one.number}-{one.output.name}"
                path.write_bytes(one.output.content)
                print(f"output {one.number} ({', '.join(one.output.kinds)}): {kind}: {text}; see {path}", flush=True)


def main(count: int = 5_000, first: int = 0) -> int:
    """Read the outputs on all CPUs, print each kind of fault once and a table, and return the exit code."""
    began = time.monotonic()
    starts = range(first, first + count, OUTPUTS_OF_PROCESS)
    counts = [min(OUTPUTS_OF_PROCESS, first + count - start) for start in starts]
    seen: Counter[tuple[str, str]] = Counter()
    endings: Counter[tuple[str, str]] = Counter()
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for imports in pool.map(check_imports, starts, counts):
            _show_faults(imports, seen)
            endings.update((one.output.tool, ending) for one in imports for ending in one.endings())
    for (tool, kind), times in seen.most_common():
        print(f"{times:6} {tool}: {kind}")
    is_good = not seen
    print(f"{'tool':8}{'outputs':>9}{'read':>9}{'refused':>9}{'wrong':>9}{'unclear':>9}   harmless ones that are read")
    for tool in sorted({tool for tool, _ in endings}):
        of_tool = {ending: endings[tool, ending] for ending in
                   ("outputs", "read", "refused", "wrong", "unclear", "harmless", "harmless and read")}  # fmt: skip
        share = of_tool["harmless and read"] / of_tool["harmless"] if of_tool["harmless"] else 1.0
        is_good = is_good and share >= MIN_HARMLESS_SHARE
        print(f"{tool:8}" + "".join(f"{of_tool[name]:9}" for name in ("outputs", "read", "refused", "wrong", "unclear"))
              + f"   {of_tool['harmless and read']} of {of_tool['harmless']} ({share:.1%})")  # fmt: skip
    print(
        f"{count} outputs from number {first} in {time.monotonic() - began:.0f} s: {'good' if is_good else 'not good'}"
    )
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
