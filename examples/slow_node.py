"""Rank the nodes of a job by a metric, and name the slow ones.

A node is slow if it is worse than the median of the nodes with the same hardware by more than they differ otherwise.
Here the nodes differ so much that none is slow.

    $ python examples/slow_node.py per_node.jsonl
    cpu_flops threads=1 rate
      node4  2.25e+10 FLOP/s  38% worse
      node2  2.72e+10 FLOP/s  25% worse
      node3  4.54e+10 FLOP/s  25% better
      node1  5.24e+10 FLOP/s  44% better
    cpu_flops threads=1 flops_per_cycle
    ...
    slow: none
"""

import sys

import nameplate

nodes = nameplate.summarise(nameplate.read(sys.argv[1])).nodes
if nodes is None:
    sys.exit(f"{sys.argv[1]} has no values of several nodes")
for metric in nodes.metrics:
    print(metric.title)
    judged = [(gap, index) for index, gap in enumerate(metric.gap) if gap is not None]
    for gap, index in sorted(judged, reverse=True):
        relation = f"{abs(gap):.0%} {'worse' if gap > 0 else 'better'}"
        print(f"  {nodes.names[index]}  {metric.value[index]:.3g} {metric.unit}  {relation}")
slow = sorted({nodes.names[index] for metric in nodes.metrics for index in metric.slow})
print(f"slow: {', '.join(slow) or 'none'}")
