"""Derive expected ranges of a machine from the catalogue: what others measured on its type, or on its CPU.

The values were measured with other programs, so each range includes the difference between the programs on another
machine. docs/measurements/catalogue.md says how the constants were found, and how often the ranges are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nameplate.expectations.catalogue_file import Catalogue, CatalogueMachine
from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import MAX_VALUE, ExpectedRange, Kind
from nameplate.expectations.machine_type import MachineType
from nameplate.planning.stand_ins import beyond_caches_bytes, beyond_one_cache_bytes
from nameplate.probes.shared.cpu_product import CpuProduct, generation_named, product_named, product_of
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment
from nameplate.statistics.prediction_interval import prediction_interval

# The share of healthy machines that each of the three ranges may judge BELOW.
FALSE_POSITIVE_RATE = 0.004
# Fewer machines do not show how much a family varies.
MIN_FAMILY = 4
# The median standard deviation of families, in logarithms, and its weight in values.
_USUAL = (0.07, 3.0)
# Where no family shows the spread of a type, it is that of a family that varies much.
_USUAL_OF_FEW = (0.15, 10.0)
# The standard deviation between CPU models of a generation, in logarithms.
_OTHER_MODEL = 0.25
_DIGITS = 4
# Further parameters with which the work is the same; "" is any value.
_SAME = {"unit": "", "stores": "plain", "pages": "huge", "precision": "fp64", "pattern": "sequential", "stride": "64",
         "chains": "1", "load": "0"}  # fmt: skip
# The numbers of CPUs up to which machines have similar latencies.
_SMALL, _MEDIUM = 4, 16


@dataclass(frozen=True)
class CatalogueValue:
    """A value of the catalogue, and the metric that is compared with it.

    ``factors`` are the lowest and the highest value of nameplate ÷ that of the program of the catalogue that programs
    like it had, and ``error`` the standard deviation of its logarithm from machine to machine. ``shown`` is the factor
    and the unit for a reader.
    """

    probe: str
    metric: str
    unit: str
    shown: tuple[float, str]
    kind: Kind
    better_is_higher: bool
    params: tuple[tuple[str, str], ...]
    value: Callable[[CatalogueMachine], float | None]
    factors: tuple[float, float]
    error: float


VALUES = (
    CatalogueValue("memory_latency", "latency", "s", (1e9, "ns"), "typical", False, (),
                   lambda each: each.latency_s, (1.0, 1.0), 0.03),
    CatalogueValue("memory_stream", "bandwidth", "B/s", (1e-9, "GB/s"), "capability", True, (("op", "read"),),
                   lambda each: each.read_bytes_per_s, (1.0, 1.16), 0.03),
    CatalogueValue("memory_stream", "bandwidth", "B/s", (1e-9, "GB/s"), "capability", True, (("op", "update"),),
                   lambda each: each.update_bytes_per_s, (1.0, 1.17), 0.03),
)  # fmt: skip


@dataclass(frozen=True)
class Family:
    """Machines of the catalogue that should be about as fast as one another.

    ``words`` say what they have in common, such as "AMD EPYC 9V74 on azure". ``center`` is the value of the machine's
    own type, None if that is unknown. ``error`` is how much the machine may differ from all of them, as the standard
    deviation of a logarithm.
    """

    words: str
    machines: tuple[CatalogueMachine, ...]
    center: float | None = None
    error: float = 0.0


def family_of(
    catalogue: Catalogue, machine: CatalogueMachine, what: CatalogueValue, is_type_known: bool, generation: str = ""
) -> Family | None:
    """Return the machines from which a value of ``machine`` can be predicted, or None if there are too few.

    ``machine`` is an entry of the catalogue, or one that has the machine's facts and no values. They are those of the
    same vendor with the same CPU, of the same generation otherwise, which is ``generation`` if the name of the CPU does
    not tell. For a bandwidth they have the same number of CPUs, for a latency a similar one.
    """
    own = what.value(machine) if is_type_known else None
    have = [each for each in catalogue.machines if what.value(each) is not None and _is_like(each, machine, what)]
    same = tuple(each for each in have if (each.vendor, each.cpu) == (machine.vendor, machine.cpu))
    if own is not None:
        return Family(f"{machine.vendor} {machine.type}", same or (machine,), own)
    if len(same) >= MIN_FAMILY:
        return Family(f"{machine.cpu} on {machine.vendor}", same)
    generation = generation_named(machine.cpu) or generation
    kin = tuple(each for each in have if generation and generation_named(each.cpu) == generation)
    return Family(f"{generation} CPUs of any vendor", kin, error=_OTHER_MODEL) if len(kin) >= MIN_FAMILY else None


def _is_like(each: CatalogueMachine, machine: CatalogueMachine, what: CatalogueValue) -> bool:
    if what.better_is_higher:
        return each.vcpus == machine.vcpus
    return (_size(each.vcpus), each.sockets) == (_size(machine.vcpus), machine.sockets)


def _size(vcpus: int) -> int:
    return 0 if vcpus <= _SMALL else 1 if vcpus <= _MEDIUM else 2


def predict(family: Family, what: CatalogueValue, has_conversion: bool = True) -> tuple[float, float, float]:
    """Return the low end, the middle and the high end of the range that a family predicts, in ``what.unit``.

    ``has_conversion`` tells to convert from the catalogue's program to nameplate's, and to count the error of that.
    """
    sign = 1 if what.better_is_higher else -1
    logs = [sign * math.log(value) for each in family.machines if (value := what.value(each)) is not None]
    center = None if family.center is None else sign * math.log(family.center)
    usual = _USUAL if len(logs) >= MIN_FAMILY else _USUAL_OF_FEW
    error = math.hypot(family.error, what.error if has_conversion else 0.0)
    worst, middle, best = prediction_interval(logs, FALSE_POSITIVE_RATE, usual, center, error)
    if center is not None:
        # One measurement may have been of a slow or a fast instance.
        of_family = prediction_interval(logs, FALSE_POSITIVE_RATE, usual, None, error)
        worst, best = min(worst, of_family[0]), max(best, of_family[2])
    low, middle, high = sorted(math.exp(sign * end) for end in (worst, middle, best))
    least, most = what.factors if has_conversion else (1.0, 1.0)
    return low * least, middle * math.sqrt(least * most), high * most


def catalogue_expectation(
    catalogue: Catalogue, machine: Machine, found: MachineType, experiments: Sequence[Experiment]
) -> Expectation:
    """Return what the catalogue expects of a machine in those of a run's ``experiments`` that do the same work.

    ``found`` is the type of the machine. There are no ranges if the catalogue has no machine like it.
    """
    like = found.known or CatalogueMachine(
        found.vendor, "", machine.cpu.architecture, machine.cpu.model, machine.topology.threads, 0,
        machine.topology.packages, "", None, None, None, None,
    )  # fmt: skip
    product = product_of(machine.cpu)
    generation = product.generation if product else ""
    ranges, origins, notes = [], [], []
    for what in VALUES:
        same = [each for each in experiments if is_same_work(each, what, machine)]
        is_known = found.known is not None
        family = family_of(catalogue, like, what, is_known, generation) if same else None
        if family is None:
            continue
        # The largest region has the fewest hits in a cache.
        ranges.append(_range(max(same, key=lambda each: int(each.params.get("size", 0))), what, family))
        origins.append(f"{' '.join(value for _, value in what.params) or what.metric}: {_source(family, what)}")
    if ranges and like.type and like.cpu != machine.cpu.model:
        notes.append(f"the catalogue's {like.type} had another CPU: {like.cpu}")
    floor = _floor(experiments, like)
    if floor is not None:
        ranges.append(floor)
        origins.append(f"triad: the floor of {like.vendor}'s health check for {like.type}")
    return Expectation(
        kind="catalogue",
        machine=_words(found, machine, product),
        provisional=False,
        ranges=ranges,
        origins=origins,
        notes=notes,
    )


def _words(found: MachineType, machine: Machine, product: CpuProduct | None) -> str:
    """Return the type of a machine, and what is known of its CPU if no type is known."""
    if found.candidates or product is None:
        return found.words
    by = "its name" if product_named(machine.cpu.model) else "its CPUID signature"
    return f"{found.words}; CPU by {by}: {product.name} ({product.generation})"


def is_same_work(experiment: Experiment, what: CatalogueValue, machine: Machine) -> bool:
    """Return whether an experiment does what the catalogue's program did: on all CPUs if it is a bandwidth."""
    params = {name: str(value) for name, value in experiment.params.items()}
    if experiment.probe != what.probe or any(params.pop(name, None) != value for name, value in what.params):
        return False
    beyond = beyond_caches_bytes(machine) if what.better_is_higher else beyond_one_cache_bytes(machine)
    # The default is large enough for a bandwidth, and a curve for a latency.
    size = int(params.pop("size", beyond if what.better_is_higher else 0))
    if 2 * size < beyond or (what.better_is_higher and not _is_on_all_cpus(params, machine)):
        return False
    return all(_SAME.get(name) in ("", value) for name, value in params.items())


def _is_on_all_cpus(params: dict[str, str], machine: Machine) -> bool:
    cpus = len(machine.topology.allowed_cpus)
    return cpus == machine.topology.threads and int(params.pop("threads", machine.default_threads)) == cpus


def _range(experiment: Experiment, what: CatalogueValue, family: Family) -> ExpectedRange:
    low, typical, high = (float(f"{end:.{_DIGITS}g}") for end in predict(family, what))
    return ExpectedRange(
        experiment=experiment.id, metric=what.metric, kind=what.kind, unit=what.unit, low=low, typical=typical,
        high=high, machines=1 if family.center is not None else len(family.machines),
    )  # fmt: skip


def _source(family: Family, what: CatalogueValue) -> str:
    """Return from how many machines a range comes, and how much they differ."""
    values = sorted(value for each in family.machines if (value := what.value(each)) is not None)
    count = len(values)
    tenth = (count - 1) / 10
    low, high = (value * what.shown[0] for value in (values[math.floor(tenth)], values[math.ceil(count - 1 - tenth)]))
    spread = f"10th to 90th percentile {low:.3g} to {high:.3g} {what.shown[1]}"
    if family.center is None:
        return f"{family.words}, {count} machines, {spread}"
    if count < MIN_FAMILY:
        return f"{family.words}, 1 machine"
    return f"{family.words}, 1 machine; {count} with its CPU: {spread}"


def _floor(experiments: Sequence[Experiment], like: CatalogueMachine) -> ExpectedRange | None:
    """Return the range of the triad above the floor of a health check, which is a triad with the best stores."""
    floor = like.triad_floor_bytes_per_s
    if floor is None:
        return None
    for each in experiments:
        params = {name: str(value) for name, value in each.params.items()}
        if (
            each.probe == "memory_stream"
            and params.pop("op", None) == "triad"
            and params.pop("stores", None) == "nontemporal"
            and params.keys() <= {"unit", "threads"}
        ):
            return ExpectedRange(
                experiment=each.id, metric="bandwidth", kind="capability", unit="B/s", low=floor, typical=floor,
                high=MAX_VALUE, machines=1,
            )  # fmt: skip
    return None
