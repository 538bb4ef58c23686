"""The metrics of the nodes of a job."""

from __future__ import annotations

from typing import Literal

import msgspec

from nameplate.records.numbers import Real


class NodeMetric(msgspec.Struct, frozen=True):
    """A metric of every node; each list except ``slow`` has one entry per node, in the order of the job.

    None stands for a node that was not measured or judged. ``experiment`` is the id of the experiment in the plan.
    ``value`` is in the SI base unit ``unit``, adjusted to the usual level of the node's hardware class over the rounds;
    a node that was measured but not judged has the median of its rounds. ``gap`` is the share (0.05 is 5 %) by which a
    node is worse than the median of its class, negative if it is better. ``z`` is the distance from that median in
    robust standard deviations, negative if the node is worse. ``spread`` is the standard error of ``value`` as a share
    of ``value``. ``slow`` has the indices of the slow nodes, ascending, and is empty if there are none. ``minimum`` and
    ``maximum`` are the extreme values of single repeats on each node; both lists are empty if the probe does not report
    repeats.
    """

    experiment: str
    metric: str
    unit: str
    better: Literal["higher", "lower"]
    value: list[Real | None]
    gap: list[Real | None]
    z: list[Real | None]
    spread: list[Real | None]
    slow: list[int]
    minimum: list[Real | None] = []
    maximum: list[Real | None] = []

    @property
    def title(self) -> str:
        """Return the experiment's id and the metric's name, separated by a space, as a title to show."""
        return f"{self.experiment} {self.metric}".rstrip()


class Nodes(msgspec.Struct, frozen=True):
    """The nodes of a job or the machines of a fleet by name, the hardware class of each, and their metrics.

    ``names`` and ``classes`` are in the order of the job. Nodes with the same class should be equally fast. All classes
    are "" if none were recorded. ``groups`` has the group of each node, such as its rack, for charts; it is empty if
    there are none.
    """

    names: list[str]
    classes: list[str]
    metrics: list[NodeMetric]
    groups: list[str] = []
