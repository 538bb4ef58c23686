"""Hold a value for each pair of parties, such as nodes or ranks of a job, cores of a machine, or hosts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations, product
from typing import Literal, NamedTuple, TypeAlias

from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value
from nameplate.records.result import Quantity, Result
from nameplate.records.run_record import Sample
from nameplate.statistics.pair_groups import find_groups
from nameplate.statistics.stats import median

# The pairs that a sample has, row by row: the upper triangle (0-1, 0-2, …, 1-2, …) if both directions are measured
# together, all pairs but the diagonal (0-1, 0-2, …, 1-0, 1-2, …), or the whole square (0-0, 0-1, …).
PairLayout: TypeAlias = Literal["triangle", "off_diagonal", "square"]


class Party(NamedTuple):
    """A party: its name, and the name of its group, such as L3 cache 0 for core 3. ``group`` is "" without a group."""

    name: str
    group: str = ""


@dataclass(frozen=True)
class PartyKind:
    """The terms for the parties of a matrix in tables and charts.

    - ``singular``, ``plural``: the nouns for parties, such as "core" and "cores"
    - ``group``: the noun for a group of parties, such as "L3 cache"; "" if the parties have no groups
    - ``slow_party``: the likely cause if a party is slow with all partners, such as "its network card, its cable or its
      processor"
    - ``slow_pair``: the likely cause if a single pair is slow, such as "a slow link between two nodes"
    - ``slow_squares``: the likely cause if groups are slow only with each other, such as "groups that communicate
      across a slower switch"
    """

    singular: str
    plural: str
    group: str
    slow_party: str
    slow_pair: str
    slow_squares: str


@dataclass(frozen=True)
class PairMatrix:
    """A probe's declaration of the values between its parties, which each sample has as ``Sample.pairs``.

    - ``kind``: returns the terms for the parties, given the parameters of the experiment
    - ``parties``: returns the parties of a result in the order of their indices, from its facts and labels and from the
      machine. If their number does not fit the number of values, indices serve as names
    - ``layout``: which pairs a sample has, and in which order (see ``PairLayout``)
    - ``name``, ``unit``, ``better``: the recorded value, such as "time" in "s", for which "lower" is better
    - ``roles``: what the party of a row and the party of a column do, such as ("writer", "reader")
    - ``work``: returns what a pair does, given the parameters of the experiment, such as "messages of 8B"; "" if all
      experiments do the same
    - ``displayed``: returns the name and the quantity to show for a recorded value, given the parameters and the value,
      such as a bandwidth for a time; None shows the recorded value
    """

    kind: Callable[[Mapping[str, Value]], PartyKind]
    parties: Callable[[Result, Machine | None], Sequence[Party]]
    layout: PairLayout = "triangle"
    name: str = "time"
    unit: str = "s"
    better: Literal["higher", "lower"] = "lower"
    roles: tuple[str, str] = ("one", "the other")
    work: Callable[[Mapping[str, Value]], str] = lambda _: ""
    displayed: Callable[[Mapping[str, Value], float], tuple[str, Quantity]] | None = None

    def n_parties(self, n_values: int) -> int:
        """Return the number of parties that have ``n_values`` pairs in this layout; 0 if no number of parties fits."""
        if self.layout == "square":
            n_parties = math.isqrt(n_values)
        else:
            n_parties = (1 + math.isqrt(1 + (8 if self.layout == "triangle" else 4) * n_values)) // 2
        n_pairs = {
            "triangle": n_parties * (n_parties - 1) // 2,
            "off_diagonal": n_parties * (n_parties - 1),
            "square": n_parties**2,
        }
        return n_parties if n_pairs[self.layout] == n_values else 0

    def indices(self, n_parties: int) -> Iterator[tuple[int, int]]:
        """Yield the indices (row, column) of each pair of ``n_parties`` parties, in the order of the layout."""
        if self.layout == "triangle":
            return combinations(range(n_parties), 2)
        if self.layout == "off_diagonal":
            return permutations(range(n_parties), 2)
        return product(range(n_parties), range(n_parties))

    def medians(self, matrices: Sequence[Sequence[float | None]]) -> list[float | None]:
        """Return each pair's median over several matrices of the same parties, None for a pair without a value.

        A matrix has its values in the order of the layout, None for a missing value. The result is empty if there are
        no matrices, if their lengths differ, or if the length does not fit a number of parties.
        """
        lengths = {len(matrix) for matrix in matrices}
        if len(lengths) != 1 or not self.n_parties(*lengths):
            return []
        return [_present_median(values) for values in zip(*matrices, strict=True)]

    def sample_medians(self, samples: Iterable[Sample]) -> list[float | None]:
        """Return each pair's median over the samples (see ``medians``); samples without pairs are ignored."""
        return self.medians([sample.pairs for sample in samples if isinstance(sample.pairs, list)])

    def between_two(self, values: Sequence[float | None]) -> list[float]:
        """Return the values of all pairs of two different parties, without missing values.

        ``values`` are in the order of the layout. Raises ValueError if their number fits no number of parties.
        """
        indices = self.indices(self.n_parties(len(values)))
        return [
            value for (row, column), value in zip(indices, values, strict=True) if value is not None and row != column
        ]

    def party_medians(self, values: Sequence[float | None]) -> list[float | None]:
        """Return each party's median over its partners, in both directions; None for a party without values.

        ``values`` are in the order of the layout. Raises ValueError if their number fits no number of parties. A party
        with a slow link is slow with every partner. The median of a partner stays normal as long as fewer than half of
        its own partners are slow.
        """
        n_parties = self.n_parties(len(values))
        of_parties: list[list[float]] = [[] for _ in range(n_parties)]
        for (row, column), value in zip(self.indices(n_parties), values, strict=True):
            if value is not None and row != column:
                of_parties[row].append(value)
                of_parties[column].append(value)
        return [_present_median(partners) for partners in of_parties]

    def measured(self, result: Result, machine: Machine | None) -> PairValues:
        """Return the values of a result that has ``pairs``, with the names of its parties.

        ``machine`` gives the names of nodes and ranks; if it is None, indices serve as names.
        """
        n_parties = self.n_parties(len(result.pairs))
        parties = self.parties(result, machine)
        if len(parties) != n_parties:
            parties = [Party(str(index)) for index in range(n_parties)]
        return PairValues(result.summary.probe, self, result.summary.params, parties, result.pairs)


@dataclass(frozen=True)
class PairValues:
    """The values of the pairs of ``parties`` in one experiment, in the order of the matrix's layout.

    ``probe`` is the name of the probe, and ``params`` are the parameters of the experiment. A missing value is None.
    """

    probe: str
    matrix: PairMatrix
    params: Mapping[str, Value]
    parties: Sequence[Party]
    values: Sequence[float | None]

    @property
    def kind(self) -> PartyKind:
        """Return the terms for the parties of this experiment."""
        return self.matrix.kind(self.params)

    def displayed(self, value: float) -> tuple[str, Quantity]:
        """Return the name and the quantity that are shown for ``value``, a recorded value of the matrix."""
        matrix = self.matrix
        return matrix.displayed(self.params, value) if matrix.displayed else (matrix.name, Quantity(value, matrix.unit))

    def indexed(self) -> Iterator[tuple[tuple[int, int], float | None]]:
        """Yield ((row, column), value) for each pair, in the order of the layout; a missing value is None."""
        return zip(self.matrix.indices(len(self.parties)), self.values, strict=True)

    def rows(self) -> list[list[float | None]]:
        """Return all rows of the matrix, with None for a missing value; a triangle is mirrored to a full square."""
        n_parties = len(self.parties)
        rows: list[list[float | None]] = [[None] * n_parties for _ in range(n_parties)]
        for (row, column), value in self.indexed():
            rows[row][column] = value
            if self.matrix.layout == "triangle":
                rows[column][row] = value
        return rows

    @cached_property
    def groups(self) -> list[list[int]]:
        """Return the groups that the values show, as lists of indices of the parties; empty if there are none.

        Groups are found from the distances of parties (see ``find_groups``). The distance of two parties is the
        recorded value, or its reciprocal if higher values are better; of two directions, the larger distance counts.
        """
        is_time = self.matrix.better == "lower"
        distances: dict[tuple[int, int], float] = {}
        for (row, column), value in self.indexed():
            if value is not None and row != column:
                pair = min(row, column), max(row, column)
                distances[pair] = max(value if is_time else 1 / value, distances.get(pair, 0.0))
        return find_groups(len(self.parties), [(*pair, distance) for pair, distance in distances.items()])


def _present_median(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return median(present) if present else None
