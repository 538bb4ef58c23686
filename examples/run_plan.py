"""Run a plan file with a progress line for each experiment, and keep the run file.

The plan is nightly.toml. Each round measures the experiments in another order.

    $ python examples/run_plan.py
      8% round 1: ...
     88% round 2: ...
    wrote nightly.jsonl: 3 experiments, 2 rounds
"""

from pathlib import Path

import nameplate

run = nameplate.measure(
    Path(__file__).with_name("nightly.toml"),
    output="nightly.jsonl",
    on_progress=lambda share, experiment: print(f"{share:4.0%} {experiment}"),
)
report = nameplate.summarise(run)
rounds = max(result.summary.rounds for result in report.results)
print(f"wrote nightly.jsonl: {len(report.run.plan.experiments)} experiments, {rounds} rounds")
