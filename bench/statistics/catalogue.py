"""Leave each machine out of the catalogue, predict its values from the others, and say how often the ranges are wrong.

Every machine of the catalogue is taken as healthy. A machine that is 20 % slower must be found where its family is
tight: at least eight machines of one vendor and CPU whose 10th and 90th percentiles are within 8 % of their median.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence

from nameplate.expectations.catalogue_file import Catalogue, CatalogueMachine, find_catalogue, read_catalogue
from nameplate.expectations.catalogue_ranges import (
    FALSE_POSITIVE_RATE,
    MIN_FAMILY,
    VALUES,
    CatalogueValue,
    Family,
    family_of,
    predict,
)

LOSS = 0.2
TIGHT, TIGHT_MACHINES = 0.08, 8


def is_tight(values: Sequence[float]) -> bool:
    """Return whether the 10th and the 90th percentile of the values are close to their median."""
    if len(values) < TIGHT_MACHINES:
        return False
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    return tenths[0] > (1 - TIGHT) * tenths[4] and tenths[8] < (1 + TIGHT) * tenths[4]


def is_below(value: float, family: Family, quantity: CatalogueValue, has_conversion: bool) -> bool:
    """Return whether a value is on the worse side of the range that the family predicts.

    With the conversion, nameplate is taken to be no faster than the catalogue's program, which is the worst case.
    """
    low, _, high = predict(family, quantity, has_conversion)
    return value < low if quantity.better_is_higher else value > high


class Tally:
    """Counts of machines of one value of the catalogue."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.below: set[int] = set()
        self.machines: set[int] = set()
        self.tight: set[int] = set()
        self.seen: set[int] = set()

    def add(
        self, index: int, quantity: CatalogueValue, value_of_machine: float, family: Family, has_conversion: bool
    ) -> None:
        """Count a machine of which ``value_of_machine`` is known and ``family`` has the others."""
        slower = value_of_machine * (1 - LOSS) if quantity.better_is_higher else value_of_machine / (1 - LOSS)
        self.seen.add(index)
        if is_below(value_of_machine, family, quantity, has_conversion):
            self.below.add(index)
        if is_below(slower, family, quantity, has_conversion):
            self.machines.add(index)
        values = [value for machine in family.machines if (value := quantity.value(machine))]
        if family.center is None and not family.error and is_tight([value_of_machine, *values]):
            self.tight.add(index)

    def line(self) -> str:
        """Return the shares in words."""
        n, tight = len(self.seen), len(self.tight)
        share = f"{len(self.machines & self.tight) / tight:.1%} of {tight}" if tight else "–"
        return (f"{n} machines, BELOW {len(self.below) / n:.2%}; 20 % slower found {len(self.machines) / n:.1%}, "
                f"in tight families {share}")  # fmt: skip


def left_out(catalogue: Catalogue, has_conversion: bool) -> None:
    """Print how often the range of a machine's family, without the machine, is wrong."""
    tallies = {quantity: Tally() for quantity in VALUES}
    levels: Counter[str] = Counter()
    for index, machine in enumerate(catalogue.machines):
        rest = Catalogue("", [], [other for other in catalogue.machines if other is not machine])
        for quantity, tally in tallies.items():
            value = quantity.value(machine)
            family = family_of(rest, machine, quantity, is_type_known=False) if value else None
            if value and family:
                tally.add(index, quantity, value, family, has_conversion)
                levels["generation" if "any vendor" in family.description else "CPU and vendor"] += 1
    print_tallies(tallies)
    print(f"  ranges: {dict(levels)}")


def print_tallies(tallies: dict[CatalogueValue, Tally]) -> None:
    """Print a line for each value, and one for machines of which any value is BELOW."""
    for quantity, tally in tallies.items():
        print(f"  {quantity.metric} {' '.join(value for _, value in quantity.params)}: {tally.line()}")
    total = Tally()
    for tally in tallies.values():
        total.seen |= tally.seen
        total.below |= tally.below
        total.machines |= tally.machines
        total.tight |= tally.tight
    print(f"  any: {total.line()}", flush=True)


def types(catalogue: Catalogue, has_conversion: bool) -> None:
    """Print how often the range around one machine of a family is wrong for another one, as for a known type."""
    tallies = {quantity: Tally() for quantity in VALUES}
    for quantity, tally in tallies.items():
        families: dict[tuple[object, ...], list[tuple[int, CatalogueMachine]]] = defaultdict(list)
        for index, machine in enumerate(catalogue.machines):
            if quantity.value(machine):
                families[machine.vendor, machine.cpu, machine.vcpus, machine.sockets].append((index, machine))
        for family in families.values():
            for (index, machine), (_, other) in zip(family, family[1:] + family[:1], strict=True):
                value, center = quantity.value(machine), quantity.value(other)
                if machine is not other and value and center:
                    rest = tuple(relative for _, relative in family if relative is not machine)
                    tally.add(index, quantity, value, Family("", rest, center), has_conversion)
    print_tallies(tallies)


def spreads(catalogue: Catalogue) -> None:
    """Print the standard deviations of the families, from which the constants of the ranges come."""
    for quantity in VALUES:
        families: dict[tuple[object, ...], list[float]] = defaultdict(list)
        for machine in catalogue.machines:
            if value := quantity.value(machine):
                key = machine.vcpus if quantity.better_is_higher else (machine.vcpus > 4) + (machine.vcpus > 16)
                families[machine.vendor, machine.cpu, key, machine.sockets].append(math.log(value))
        deviations = [statistics.stdev(values) for values in families.values() if len(values) > MIN_FAMILY]
        quarters = statistics.quantiles(deviations, n=4)
        print(f"  {quantity.metric} {' '.join(value for _, value in quantity.params)}: {len(deviations)} families, "
              f"standard deviation {quarters[1]:.3f} (quartiles {quarters[0]:.3f} and {quarters[2]:.3f})")  # fmt: skip


def main() -> None:
    """Print the spreads, then how often the ranges are wrong, with the catalogue's programs and with nameplate's."""
    path = find_catalogue()
    if path is None:
        raise SystemExit("the catalogue is not installed: run script/bootstrap")
    catalogue = read_catalogue(path)
    print(f"spread of families of more than {MIN_FAMILY} machines")
    spreads(catalogue)
    for has_conversion in (False, True):
        label = "with the error of the conversion" if has_conversion else "without conversion"
        print(f"each machine left out, {label}, {FALSE_POSITIVE_RATE:.2%} for each value")
        left_out(catalogue, has_conversion)
        print(f"each machine by another one of its family, {label}")
        types(catalogue, has_conversion)


if __name__ == "__main__":
    main()
