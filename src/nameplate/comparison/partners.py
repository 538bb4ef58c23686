"""Find the metrics of two runs that are compared with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from nameplate.comparison.metric_rows import Key
from nameplate.records.plan_record import Value
from nameplate.records.result import Result


def metrics_by_key(results: Iterable[Result]) -> dict[Key, Result]:
    """Return the results that can be compared, by probe, metric and parameters; derived values are left out.

    Of a metric that was measured both in rounds and as a series, it is the result of the rounds.
    """
    by_key: dict[Key, Result] = {}
    for result in results:
        key = key_of(result)
        if result.kind != "derived" and (key not in by_key or by_key[key].is_series):
            by_key[key] = result
    return by_key


def key_of(result: Result) -> Key:
    """Return the probe, the metric and the parameters of a result."""
    row = result.summary
    return row.probe, row.metric, tuple(sorted(row.params.items()))


def partners(base: Mapping[Key, Result], new: Mapping[Key, Result]) -> dict[Key, Key]:
    """Return the metric of ``new`` that each metric of ``base`` is compared with; those without one are left out.

    It has the same parameters. Outputs of other tools, and of earlier versions of nameplate, have fewer: without a
    metric with the same parameters, it is the one that shares the most, if one of the two has no others, the rest is
    possible (``Result.possible``), and each is the only such metric of the other.
    """
    closest, closest_to_new = _closest_metrics(base, new), _closest_metrics(new, base)
    pairs = {key: key for key in base.keys() & new.keys()} | {
        key: others[0] for key, others in closest.items() if len(others) == 1 and closest_to_new[others[0]] == [key]
    }
    return {key: pairs[key] for key in base if key in pairs}


def ambiguities(base: Mapping[Key, Result], new: Mapping[Key, Result], name: str) -> list[str]:
    """Return a sentence for each probe whose metrics of ``base`` fit several metrics of ``new`` equally well.

    The sentence has the parameters in which those differ, and ``name``, that of the run with the metrics ``new``.
    """
    differences: dict[str, set[str]] = {}
    for key, others in _closest_metrics(base, new).items():
        if len(others) > 1:
            items = Counter(item for other in others for item in other[2])
            varied = {item[0] for item, number in items.items() if number < len(others)}
            differences.setdefault(key[0], set()).update(varied)
    return [
        f"{probe}: several values of {name} fit, which differ in {', '.join(f'{param}=' for param in sorted(params))}: "
        "none is compared"
        for probe, params in differences.items()
    ]


def _closest_metrics(base: Mapping[Key, Result], new: Mapping[Key, Result]) -> dict[Key, list[Key]]:
    """Return for each metric of ``base`` those of ``new`` that may be the same and share the most parameters with it.

    Metrics with the same parameters in both are left out.
    """
    candidates: dict[tuple[str, str], list[Key]] = {}
    for other in (key for key in new if key not in base):
        candidates.setdefault(other[:2], []).append(other)
    closest: dict[Key, list[Key]] = {}
    for key in (key for key in base if key not in new):
        shared = {
            other: len(set(key[2]) & set(other[2]))
            for other in candidates.get(key[:2], [])
            if _may_be_same(key, base[key], other, new[other])
        }
        most = max(shared.values(), default=0)
        closest[key] = [other for other, number in shared.items() if number == most]
    return closest


def _may_be_same(key: Key, result: Result, other: Key, candidate: Result) -> bool:
    params, other_params = set(key[2]), set(other[2])
    return (
        (params <= other_params or other_params <= params)
        and _is_possible(result, dict(other[2]))
        and _is_possible(candidate, dict(key[2]))
    )


def _is_possible(result: Result, params: Mapping[str, Value]) -> bool:
    return all(name not in params or params[name] in choices for name, choices in result.possible.items())
