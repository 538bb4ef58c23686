"""Judge real slow-downs: how often `compare` finds one, and how often it accuses an area that did not change.

The recorded runs (bench/statistics/slowdowns/recorded.jsonl, by bench/statistics/_record_slowdowns.py) are compared
with the unchanged run of their block, as `compare` does, but without the distance of the CPUs, which is not recorded.
"Size" is the known share by which the same work takes longer, "measured" the median over the blocks of the ratio of
typical times. Rates have exact 95 % bounds (Clopper and Pearson 1934); for an area with several metrics they would hold
if these were independent."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from _slowdowns import CONDITIONS, RECORDED, UNCHANGED, Condition, Line
from power import AREAS, Side, rate, verdicts

from nameplate.statistics.estimate_change import usable

CHANGED = ("SLOWER", "FASTER")


@dataclass(frozen=True)
class Judged:
    """A metric under a condition in one block: its area, the ratio of typical times, and the verdict by question.

    The verdict on the capability is "" for a metric that has none.
    """

    area: str
    ratio: float
    verdicts: Mapping[str, str]


def side(line: Line) -> Side:
    """Return a line as a side of a comparison."""
    capability = line.capability
    return Side(
        usable(capability[0], (capability[1], capability[2]), capability[3]) if capability else None,
        line.rounds,
        line.cpu_share,
    )


def judged(base: Sequence[Line], new: Sequence[Line]) -> Iterator[Judged]:
    """Yield the verdicts on the metrics that two runs share."""
    # A value of 0, such as no retransmission, has no ratio.
    ours, theirs = ({line.experiment: line for line in run if min(line.rounds) > 0} for run in (base, new))
    shared = [name for name in ours if name in theirs]
    sides = [[side(run[name]) for name in shared] for run in (ours, theirs)]
    capable, typical = verdicts(shared, *sides)
    for name, before, after, capability, typical_values in zip(shared, *sides, capable, typical, strict=True):
        ratio = statistics.median(after.rounds) / statistics.median(before.rounds)
        yield Judged(name.partition("_")[0], ratio, {"capability": capability, "typical": typical_values})


def of_condition(lines: Sequence[Line], condition: Condition) -> list[Judged]:
    """Return the verdicts on a condition in all blocks."""
    runs: dict[tuple[str, int], dict[str, list[Line]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if line.plan == condition.plan:
            runs[line.recording, line.block][line.condition].append(line)
    return [judgement for block in runs.values() for judgement in judged(block[UNCHANGED], block[condition.name])]


def print_condition(condition: Condition, judgements: Sequence[Judged]) -> None:
    """Print for each area what was found, and whether it had to be."""
    size = "unknown" if condition.size is None else f"{condition.size:.0%}"
    print(f"{condition.name} ({condition.plan}, size {size})")
    for area in AREAS:
        judgements_of_area = [judgement for judgement in judgements if judgement.area == area]
        if not judgements_of_area:
            continue
        must = condition.moves.get(area, ())  # type: ignore[call-overload]
        print(f"  {area:6} measured {statistics.median(judgement.ratio for judgement in judgements_of_area) - 1:+.1%}")
        for question in ("capability", "typical"):
            counts = Counter(filter(None, (judgement.verdicts[question] for judgement in judgements_of_area)))
            n_changed = sum(counts[verdict] for verdict in CHANGED)
            requirement = "must move" if question in must else "must not "
            print(f"    {question:10} {requirement}: SLOWER {rate(counts['SLOWER'], counts.total())}, changed "
                  f"{rate(n_changed, counts.total())}, SAME {counts['SAME'] / max(1, counts.total()):.0%}")  # fmt: skip


def main() -> None:
    """Print the rates of all conditions."""
    decode = msgspec.json.Decoder(Line).decode
    lines = [decode(text) for text in RECORDED.read_bytes().splitlines()]
    for condition in CONDITIONS:
        if condition.name != UNCHANGED:
            print_condition(condition, of_condition(lines, condition))


if __name__ == "__main__":
    main()
