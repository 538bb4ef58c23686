"""Analyse pairs that exchange messages at the same time: the times of each pair, and where the bandwidth saturates."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import ResolvedExperiment
from nameplate.probes.shared.derived import FITTED, DerivedMetric, derived_result
from nameplate.probes.shared.grid import Row, grouped, quantity_of, without
from nameplate.probes.shared.job import node_names
from nameplate.records.machine_record import Machine
from nameplate.records.result import Quantity, Result, Table
from nameplate.records.run_record import Sample
from nameplate.statistics.stats import median
from nameplate.units import size_text

# With more pairs, the times of single pairs are only in the run file.
MAX_PAIRS = 64
MIN_COUNTS = 3


def pair_evidence(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> dict[str, float]:
    """Return the minimum, median and maximum over samples of each pair's mean time of a message, in seconds.

    The keys for the ranks 0 and 2 are ``0-2 minimum_s``, ``0-2 median_s`` and ``0-2 maximum_s``. The experiment's label
    ``ranks`` names the pairs (``0-2 1-3``) in the order of a sample's workers, each of which must have done at least
    one operation. Samples without workers are ignored. The result is empty without the label, for more than
    ``MAX_PAIRS`` pairs, and if no sample has workers.
    """
    names = experiment.labels.get("ranks", "").split()
    if len(names) > MAX_PAIRS:
        return {}
    evidence: dict[str, float] = {}
    for index, name in enumerate(names):
        times_of_pair = [sample.workers[index] for sample in samples if sample.workers]
        times = [worker.elapsed_s / worker.work.ops for worker in times_of_pair]
        if times:
            evidence |= {f"{name} minimum_s": min(times), f"{name} median_s": median(times),
                      f"{name} maximum_s": max(times)}  # fmt: skip
    return evidence


def pair_tables(results: Sequence[Result], machine: Machine) -> list[Table]:
    """Return tables of bandwidth and message time by number of pairs, and of each pair's times for the largest number.

    ``results`` are the results of mpi_pingpong that have a value. There are such tables for each setting of the other
    parameters, such as ``data``, for which more than one pair was measured. A size that was measured only with a single
    pair is left out. The table of each pair's times is for the largest size with the largest number of pairs. It names
    the nodes of the ranks if ``machine`` has a job, and is left out if the result has no evidence of single pairs.
    """
    kinds = grouped(
        [r for r in results if "size" in r.summary.params], lambda r: without(r.summary.params, ["size", "pairs"])
    )
    several = {kind: [r for r in group if int(r.summary.params.get("pairs", 0)) > 1] for kind, group in kinds.items()}
    measured = [kind for kind, group in several.items() if group]
    tables = []
    for kind in measured:
        sizes = {int(r.summary.params["size"]) for r in several[kind]}
        group = [r for r in kinds[kind] if int(r.summary.params["size"]) in sizes]
        title = f", {kind}" if len(measured) > 1 else ""
        tables += [*_by_number(group, title), *_by_pair(several[kind], title, machine)]
    return tables


def _by_number(results: Sequence[Result], kind: str) -> list[Table]:
    tables = []
    for metric, title in (("bandwidth", "Bandwidth of all pairs together"), ("latency", "Message time")):
        timed = [r for r in results if r.summary.metric == metric]
        counts = sorted({int(r.summary.params["pairs"]) for r in timed})
        timed.sort(key=lambda r: int(r.summary.params["size"]))
        by_size = grouped(timed, lambda r: size_text(float(r.summary.params["size"])))
        rows: list[Row] = []
        for size, group in by_size.items():
            by_count = {int(r.summary.params["pairs"]): r for r in group}
            rows.append([size, *(quantity_of(by_count.get(count)) for count in counts)])
        headings = ["message size", *(f"{count} pair{'s' if count > 1 else ''}" for count in counts)]
        tables.append(Table("mpi_pingpong", f"{title} by number of pairs{kind}", headings, rows))
    return tables


def _by_pair(several: Sequence[Result], kind: str, machine: Machine) -> list[Table]:
    nodes = node_names(machine)
    n_pairs = max(int(r.summary.params["pairs"]) for r in several)
    timed = [r for r in several if int(r.summary.params["pairs"]) == n_pairs and r.summary.metric == "latency"]
    largest = max(timed, key=lambda r: int(r.summary.params["size"]))
    names = [key.removesuffix(" median_s") for key in largest.evidence if key.endswith(" median_s")]
    rows: list[Row] = [
        [
            _with_nodes(name, nodes),
            *(
                Quantity(largest.evidence[f"{name} {statistic}_s"], "s")
                for statistic in ("minimum", "median", "maximum")
            ),
        ]
        for name in names
    ]
    if not rows:
        return []
    title = (
        f"Message time of each pair, {size_text(float(largest.summary.params['size']))}, {n_pairs} pairs at once{kind}"
    )
    return [Table("mpi_pingpong", title, ["ranks", "minimum", "median", "maximum"], rows)]


def _with_nodes(name: str, nodes: Sequence[str]) -> str:
    """Return ``name``, such as ``0-2``, with the nodes that the ranks run on, if they are known."""
    return f"{name} ({', '.join(nodes[int(rank)] for rank in name.split('-'))})" if nodes else name


def saturation_results(results: Sequence[Result]) -> list[Result]:
    """Return the derived results ``backplane_bandwidth`` and ``saturation_pairs`` of each curve that saturates.

    ``backplane_bandwidth`` is the highest bandwidth of all pairs together in B/s. ``saturation_pairs`` is the number of
    pairs that reach it, which need not be a whole number. ``results`` are the results of mpi_pingpong; only the metric
    ``bandwidth`` is used. Experiments that differ only in ``pairs`` form a curve. A curve has no results if it has
    fewer than ``MIN_COUNTS`` numbers of pairs, or does not saturate (see ``find_saturation``).
    """
    from nameplate.statistics.saturation import find_saturation  # noqa: PLC0415 (numpy takes a while to import)

    timed = [r for r in results if r.summary.metric == "bandwidth" and r.round_values]
    derived = []
    for group in grouped(timed, lambda r: without(r.summary.params, ["pairs"])).values():
        ascending = sorted(group, key=lambda r: int(r.summary.params["pairs"]))
        if len(ascending) < MIN_COUNTS:
            continue
        pairs = [int(r.summary.params["pairs"]) for r in ascending]
        saturation = find_saturation(pairs, [r.round_values for r in ascending])
        if saturation is None:
            continue
        params = {name: value for name, value in ascending[0].summary.params.items() if name != "pairs"}
        rounds = min(len(r.round_values) for r in ascending)
        fitted = (("backplane_bandwidth", "B/s", saturation.maximum, saturation.maximum_ci),
                  ("saturation_pairs", "pairs", saturation.knee, saturation.knee_ci))  # fmt: skip
        derived += [
            derived_result(DerivedMetric("mpi_pingpong", metric, "higher"), Quantity(value, unit, interval), rounds,
                           FITTED, params)
            for metric, unit, value, interval in fitted
        ]  # fmt: skip
    return derived
