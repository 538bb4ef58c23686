"""Compare the time from a clone to the first values with that of an earlier commit: script/run on a bare Debian.

Each takes its turn on a Debian of its own, in alternating order, and downloads what it needs from the same mirrors.
Needs root. Pass the number of pairs as the first argument (default 7), and the earlier commit as the second (default:
a7fc858, where a run took about 160 s on two cores).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from nameplate.tools.pairing import measure_pairs, middle_pair

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import asked_pairs, ratio_of

ROOT = Path(__file__).parents[2]
EARLIER = "a7fc858"


def clone(commit: str, folder: Path) -> Path:
    """Return a clone of this checkout at a commit, in a folder."""
    subprocess.run(["git", "clone", "--quiet", "--no-checkout", ROOT, folder], check=True)
    subprocess.run(["git", "-C", folder, "checkout", "--quiet", "-b", "measured", commit], check=True)
    return folder


def seconds(checkout: Path, command: str) -> float:
    """Return the seconds that a command takes on a bare Debian, in a clone of the checkout.

    Ends the program if the command fails.
    """
    start = time.monotonic()
    done = subprocess.run(
        [ROOT / "script" / "bare-debian", checkout, "sh", "-c", command], check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SystemExit(f"{command} in {checkout} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.monotonic() - start


def main() -> None:
    """Print a line with the middle pair and the ratio of the times."""
    pairs = asked_pairs()
    subprocess.run([ROOT / "script" / "bootstrap", "--tools", "bare"], check=True)
    earlier = sys.argv[2] if len(sys.argv) > 2 else EARLIER
    with tempfile.TemporaryDirectory() as folder:
        current, before = clone("HEAD", Path(folder, "own")), clone(earlier, Path(folder, "before"))
        empty = seconds(current, "true")
        print(f"script/run on a bare Debian, {pairs} pairs, without the {empty:.1f} s to unpack one")
        times = measure_pairs(pairs, partial(seconds, current, "script/run"), partial(seconds, before, "script/run"))
        ours, theirs = ([elapsed_s - empty for elapsed_s in part] for part in times)
        current_s, before_s = middle_pair(ours, theirs)
        values = f"{current_s:.1f} s, at {earlier} {before_s:.1f} s"
        print(f"  from clone to first values: {values}, ratio {ratio_of(ours, theirs)}")


if __name__ == "__main__":
    main()
