"""Find the metrics of two runs that are compared with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from nameplate.comparison.metric_rows import Key
from nameplate.records.plan_record import Value
from nameplate.records.result import Result


def metrics_by_key(results: Iterable[Result]) -> dict[Key, Result]:
    """Return the results that can be compared, by (probe, metric, parameters). Derived values are left out.

    If a metric was measured both in rounds and as a series, the result of the rounds is returned.
    """
    by_key: dict[Key, Result] = {}
    for result in results:
        key = key_of(result)
        if result.kind != "derived" and (key not in by_key or by_key[key].is_series):
            by_key[key] = result
    return by_key


def key_of(result: Result) -> Key:
    """Return the key of a result: the probe, the metric, and the parameters in alphabetical order."""
    row = result.summary
    return row.probe, row.metric, tuple(sorted(row.params.items()))


def partners(base: Mapping[Key, Result], new: Mapping[Key, Result]) -> dict[Key, Key]:
    """Return for each metric of ``base`` the key of the metric of ``new`` that it is compared with.

    A metric with equal parameters is preferred. Outputs of other tools and runs of earlier versions of nameplate record
    fewer parameters. Without an equal metric, the one that shares the most parameters is chosen, if the parameters of
    one include those of the other, the values of the remaining parameters are possible (``Result.possible``), and the
    choice is unique in both directions. Metrics without a partner are left out. The result is in the order of ``base``.
    """
    closest, closest_to_new = _closest_metrics(base, new), _closest_metrics(new, base)
    pairs = {key: key for key in base.keys() & new.keys()} | {
        key: candidates[0]
        for key, candidates in closest.items()
        if len(candidates) == 1 and closest_to_new[candidates[0]] == [key]
    }
    return {key: pairs[key] for key in base if key in pairs}


def ambiguities(base: Mapping[Key, Result], new: Mapping[Key, Result], name: str) -> list[str]:
    """Return a sentence for each probe with a metric in ``base`` that matches several in ``new`` equally well.

    ``name`` is the name of the run ``new`` in the sentence, which also lists the parameters in which the candidates
    differ. Such metrics are not compared (``partners``). The sentences are in the order of ``base``; the list is empty
    if all matches are unique.
    """
    differences: dict[str, set[str]] = {}
    for key, candidates in _closest_metrics(base, new).items():
        if len(candidates) > 1:
            items = Counter(item for other in candidates for item in other[2])
            varied = {item[0] for item, number in items.items() if number < len(candidates)}
            differences.setdefault(key[0], set()).update(varied)
    return [
        f"{probe}: several values of {name} fit, which differ in {', '.join(f'{param}=' for param in sorted(params))}: "
        "none is compared"
        for probe, params in differences.items()
    ]


def _closest_metrics(base: Mapping[Key, Result], new: Mapping[Key, Result]) -> dict[Key, list[Key]]:
    """Return for each metric of ``base`` the possible metrics of ``new`` that share the most parameters with it.

    Metrics with equal parameters in both are left out.
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
