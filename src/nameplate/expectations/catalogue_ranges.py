"""Derive expected ranges of a machine from catalogue values of its instance type or its CPU.

The values were measured with other programs, so each range includes the uncertainty of the conversion to nameplate's
values. docs/measurements/catalogue.md describes how the constants were determined, and how often the ranges are wrong.
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
_TYPICAL_SPREAD = (0.07, 3.0)
# Where no family shows the spread of a type, it is that of a family that varies much.
_TYPICAL_SPREAD_OF_FEW = (0.15, 10.0)
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
    """A value of the catalogue, and the metric of nameplate that is compared with this value.

    ``probe``, ``metric``, ``unit`` (SI base unit), ``kind`` and ``params`` identify the metric. ``value`` reads the
    catalogue's value of a machine, None if it was not measured. ``factors`` are the lowest and the highest known ratio
    of nameplate's value to the value of the catalogue's program, and ``error`` is the standard deviation of the natural
    logarithm of this ratio from machine to machine. ``display`` is (factor, unit): a value times the factor is shown
    with this unit.
    """

    probe: str
    metric: str
    unit: str
    display: tuple[float, str]
    kind: Kind
    better_is_higher: bool
    params: tuple[tuple[str, str], ...]
    value: Callable[[CatalogueMachine], float | None]
    factors: tuple[float, float]
    error: float


VALUES = (
    CatalogueValue("memory_latency", "latency", "s", (1e9, "ns"), "typical", False, (),
                   lambda entry: entry.latency_s, (1.0, 1.0), 0.03),
    CatalogueValue("memory_stream", "bandwidth", "B/s", (1e-9, "GB/s"), "capability", True, (("op", "read"),),
                   lambda entry: entry.read_bytes_per_s, (1.0, 1.16), 0.03),
    CatalogueValue("memory_stream", "bandwidth", "B/s", (1e-9, "GB/s"), "capability", True, (("op", "update"),),
                   lambda entry: entry.update_bytes_per_s, (1.0, 1.17), 0.03),
)  # fmt: skip


@dataclass(frozen=True)
class Family:
    """Machines of the catalogue that should be about as fast as one another.

    ``description`` names their common property, such as "AMD EPYC 9V74 on azure". ``center`` is the catalogue's value
    of the instance type of the judged machine, in the SI base unit of the metric, None if the type is unknown.
    ``error`` is the standard deviation of the natural logarithm of the ratio between the judged machine and the family,
    in addition to the spread within the family; 0 for machines with the same CPU.
    """

    description: str
    machines: tuple[CatalogueMachine, ...]
    center: float | None = None
    error: float = 0.0


def family_of(
    catalogue: Catalogue, machine: CatalogueMachine, quantity: CatalogueValue, is_type_known: bool, generation: str = ""
) -> Family | None:
    """Return the machines from which a value of ``machine`` can be predicted, or None if there are too few.

    ``machine`` is an entry of ``catalogue``, or an entry made from a machine's facts without values. ``quantity`` is
    the value to predict. With ``is_type_known``, the entry's own value is the center of the family. The family has
    machines of the same vendor with the same CPU; if there are too few, machines with a CPU of the same generation.
    ``generation`` is used if the name of the CPU does not show its generation. For a bandwidth, all machines have the
    same number of CPUs; for a latency, a similar number and the same number of sockets.
    """
    value = quantity.value(machine) if is_type_known else None
    have = [
        entry
        for entry in catalogue.machines
        if quantity.value(entry) is not None and _is_like(entry, machine, quantity)
    ]
    same = tuple(entry for entry in have if (entry.vendor, entry.cpu) == (machine.vendor, machine.cpu))
    if value is not None:
        return Family(f"{machine.vendor} {machine.type}", same or (machine,), value)
    if len(same) >= MIN_FAMILY:
        return Family(f"{machine.cpu} on {machine.vendor}", same)
    generation = generation_named(machine.cpu) or generation
    kin = tuple(entry for entry in have if generation and generation_named(entry.cpu) == generation)
    return Family(f"{generation} CPUs of any provider", kin, error=_OTHER_MODEL) if len(kin) >= MIN_FAMILY else None


def _is_like(entry: CatalogueMachine, machine: CatalogueMachine, quantity: CatalogueValue) -> bool:
    if quantity.better_is_higher:
        return entry.vcpus == machine.vcpus
    return (_size(entry.vcpus), entry.sockets) == (_size(machine.vcpus), machine.sockets)


def _size(vcpus: int) -> int:
    return 0 if vcpus <= _SMALL else 1 if vcpus <= _MEDIUM else 2


def predict(family: Family, quantity: CatalogueValue, has_conversion: bool = True) -> tuple[float, float, float]:
    """Return the low end, the middle and the high end of the predicted range, in ``quantity.unit``.

    ``family`` has the machines to predict from. With ``has_conversion``, the range is for nameplate's program and
    includes the error of the conversion; otherwise it is for the catalogue's program.
    """
    sign = 1 if quantity.better_is_higher else -1
    logs = [sign * math.log(value) for entry in family.machines if (value := quantity.value(entry)) is not None]
    center = None if family.center is None else sign * math.log(family.center)
    spread = _TYPICAL_SPREAD if len(logs) >= MIN_FAMILY else _TYPICAL_SPREAD_OF_FEW
    error = math.hypot(family.error, quantity.error if has_conversion else 0.0)
    worst, middle, best = prediction_interval(logs, FALSE_POSITIVE_RATE, spread, center, error)
    if center is not None:
        # One measurement may have been of a slow or a fast instance.
        of_family = prediction_interval(logs, FALSE_POSITIVE_RATE, spread, None, error)
        worst, best = min(worst, of_family[0]), max(best, of_family[2])
    low, middle, high = sorted(math.exp(sign * end) for end in (worst, middle, best))
    least, most = quantity.factors if has_conversion else (1.0, 1.0)
    return low * least, middle * math.sqrt(least * most), high * most


def catalogue_expectation(
    catalogue: Catalogue, machine: Machine, machine_type: MachineType, experiments: Sequence[Experiment]
) -> Expectation:
    """Return the ranges that the catalogue predicts for the experiments of a run on a machine.

    ``machine_type`` is the instance type of ``machine``. At most one experiment for each of ``VALUES`` has a range, and
    only if it does the same work as the catalogue's program (``is_same_work``). A triad may have a range above the
    floor of the vendor's health check. ``ranges`` of the result is empty if no experiment does such work, or the
    catalogue has neither enough similar machines nor such a floor.
    """
    like = machine_type.known or CatalogueMachine(
        machine_type.vendor, "", machine.cpu.architecture, machine.cpu.model, machine.topology.threads, 0,
        machine.topology.packages, "", None, None, None, None,
    )  # fmt: skip
    product = product_of(machine.cpu)
    generation = product.generation if product else ""
    ranges, origins, peers, notes = [], [], [], []
    for quantity in VALUES:
        same = [entry for entry in experiments if is_same_work(entry, quantity, machine)]
        is_known = machine_type.known is not None
        family = family_of(catalogue, like, quantity, is_known, generation) if same else None
        if family is None:
            continue
        # The largest region has the fewest hits in a cache.
        peers.append(_peers(family))
        ranges.append(_range(max(same, key=lambda entry: int(entry.params.get("size", 0))), quantity, family))
        origins.append(
            f"{' '.join(value for _, value in quantity.params) or quantity.metric}: {_source(family, quantity)}"
        )
    if ranges and like.type and like.cpu != machine.cpu.model:
        notes.append(f"the catalogue's {like.type} had another CPU: {like.cpu}")
    floor = _floor(experiments, like)
    if floor is not None:
        ranges.append(floor)
        peers.append(f"{like.vendor}'s health check for {like.type}")
        origins.append(f"triad: the floor of {like.vendor}'s health check for {like.type}")
    return Expectation(
        kind="catalogue",
        machine=_source_text(machine_type, machine, product),
        provisional=False,
        ranges=ranges,
        origins=origins,
        peers=peers,
        notes=notes,
    )


def _source_text(machine_type: MachineType, machine: Machine, product: CpuProduct | None) -> str:
    """Return a description of the machine's type, or of its CPU if no type is known."""
    if machine_type.candidates or product is None:
        return machine_type.description
    by = "its name" if product_named(machine.cpu.model) else "its CPUID signature"
    return f"{machine_type.description}; CPU by {by}: {product.name} ({product.generation})"


def is_same_work(experiment: Experiment, quantity: CatalogueValue, machine: Machine) -> bool:
    """Return whether an experiment does the same work as the catalogue's program, so that the values are comparable.

    ``quantity`` is the catalogue's value. The working set must be beyond the caches of ``machine``, and a bandwidth
    must be measured on all of its CPUs.
    """
    params = {name: str(value) for name, value in experiment.params.items()}
    if experiment.probe != quantity.probe or any(params.pop(name, None) != value for name, value in quantity.params):
        return False
    beyond = beyond_caches_bytes(machine) if quantity.better_is_higher else beyond_one_cache_bytes(machine)
    # The default is large enough for a bandwidth, and a curve for a latency.
    size = int(params.pop("size", beyond if quantity.better_is_higher else 0))
    if 2 * size < beyond:
        return False
    if quantity.better_is_higher:
        cpus = len(machine.topology.allowed_cpus)
        if cpus != machine.topology.threads or int(params.pop("threads", machine.default_threads)) != cpus:
            return False
    return all(_SAME.get(name) in ("", value) for name, value in params.items())


def _range(experiment: Experiment, quantity: CatalogueValue, family: Family) -> ExpectedRange:
    low, typical, high = (float(f"{end:.{_DIGITS}g}") for end in predict(family, quantity))
    return ExpectedRange(
        experiment=experiment.id, metric=quantity.metric, kind=quantity.kind, unit=quantity.unit, low=low,
        typical=typical, high=high, machines=1 if family.center is not None else len(family.machines),
    )  # fmt: skip


def _peers(family: Family) -> str:
    if family.center is None:
        return f"the median of {len(family.machines)} machines ({family.description})"
    return f"the measured {family.description}"


def _source(family: Family, quantity: CatalogueValue) -> str:
    """Return a phrase with the number of machines that a range comes from, and their percentiles."""
    values = sorted(value for entry in family.machines if (value := quantity.value(entry)) is not None)
    count = len(values)
    tenth = (count - 1) / 10
    low, high = (
        value * quantity.display[0] for value in (values[math.floor(tenth)], values[math.ceil(count - 1 - tenth)])
    )
    spread = f"10th to 90th percentile {low:.3g} to {high:.3g} {quantity.display[1]}"
    if family.center is None:
        return f"{family.description}, {count} machines, {spread}"
    if count < MIN_FAMILY:
        return f"{family.description}, 1 machine"
    return f"{family.description}, 1 machine; {count} with its CPU: {spread}"


def _floor(experiments: Sequence[Experiment], like: CatalogueMachine) -> ExpectedRange | None:
    """Return the range of the triad above the floor of a health check, which is a triad with the best stores."""
    floor = like.triad_floor_bytes_per_s
    if floor is None:
        return None
    for entry in experiments:
        params = {name: str(value) for name, value in entry.params.items()}
        if (
            entry.probe == "memory_stream"
            and params.pop("op", None) == "triad"
            and params.pop("stores", None) == "nontemporal"
            and params.keys() <= {"unit", "threads"}
        ):
            return ExpectedRange(
                experiment=entry.id, metric="bandwidth", kind="capability", unit="B/s", low=floor, typical=floor,
                high=MAX_VALUE, machines=1,
            )  # fmt: skip
    return None
