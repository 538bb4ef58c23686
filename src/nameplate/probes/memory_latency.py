"""This probe measures the time of a dependent load by region size, from caches to memory, idle and under load."""

from __future__ import annotations

from functools import partial

from nameplate.probes import Counter, ParameterSweep, Probe, Ratio, Scaled, elapsed, operations
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.interface.screen_line import CoreLine, ScreenLine, is_in_catalogue
from nameplate.probes.shared.levels import derived, table
from nameplate.probes.shared.memory import ARRAYS, is_in_memory, page_remarks
from nameplate.records.result import Rated

# The steps of one chain; the chains run concurrently.
_STEPS = Scaled(operations, over=("chains",))
_NO_REFERENCE = Rated(None, "data sheets do not state it; give it with --rated memory_latency=90ns")

PROBE = Probe(
    name="memory_latency",
    title="Memory latency",
    metrics=(
        Ratio("latency", "s", "lower", elapsed, _STEPS),
        Ratio(
            "time_per_load", "s", "lower", elapsed, operations, when=lambda experiment: experiment.params["chains"] != 1
        ),
        Ratio(
            "load_bandwidth",
            "B/s",
            "higher",
            Counter("load_bytes"),
            elapsed,
            when=lambda experiment: experiment.params["load"] != 0,
        ),
    ),
    recorded=Recorded(params=("size", "chains", "load"), numbers={"chains": 1}, facts=ARRAYS, counters=("load_bytes",)),
    rated=lambda _, __, ___: _NO_REFERENCE,
    screen=(
        ScreenLine(
            "latency", ("latency",), when=is_in_catalogue, in_core=CoreLine("latency", {"size": "{beyond_one}"})
        ),
        ScreenLine("latency", ("memory_latency",)),
        # For runs without the curve from which memory_latency is derived, and for comparisons, which need samples.
        ScreenLine("latency", ("latency",), when=is_in_memory),
        ScreenLine("L1/L2/L3 size", ("l1d_size", "l2_size", "l3_size")),
    ),
    quick=(
        ParameterSweep({"size": "4KiB..64MiB*2^(1/2)"}, slice_s=0.004, sample_s=0.0002),
        ParameterSweep({"size": "128KiB..1MiB*2^(1/2)", "stride": "4KiB"}, slice_s=0.004, sample_s=0.0002),
        ParameterSweep({"size": "2MiB..32MiB*2", "stride": "4KiB"}, slice_s=0.004, sample_s=0.0002),
        # The catalogue of ``nameplate check`` has values of this experiment.
        ParameterSweep({"size": "{beyond_one}"}, slice_s=0.02, sample_s=0.0005, overhead_s=0.3),
    ),
    full=(
        ParameterSweep({"size": "4KiB..{beyond}*2^(1/8)"}, slice_s=0.01, sample_s=0.001, curve="size"),
        ParameterSweep({"size": "64KiB..1MiB*2^(1/4)", "stride": "4KiB"}, slice_s=0.01, sample_s=0.001),
        ParameterSweep({"size": "2MiB..{beyond}*2", "stride": "4KiB"}, slice_s=0.01, sample_s=0.001),
        ParameterSweep({"size": "{beyond_one}"}, slice_s=0.03, sample_s=0.0005),
        ParameterSweep({"size": "256MiB,1GiB", "pages": "huge,small"}, slice_s=0.03, sample_s=0.0005),
        ParameterSweep({"chains": "1,2,4,8,16"}, slice_s=0.03, sample_s=0.0005),
        ParameterSweep({"load": "1GB,2GB,4GB,8GB,16GB,32GB"}, slice_s=0.1),
    ),
    sweep=(
        ParameterSweep({"size": "4KiB..{beyond}*2^(1/8)"}, slice_s=0.01, sample_s=0.0005, curve="size"),
        ParameterSweep({"size": "256MiB,512MiB,1GiB"}, slice_s=0.01, sample_s=0.002, probe="memory_latency"),
        ParameterSweep(
            {"size": "64KiB..1MiB*2^(1/4)", "stride": "4KiB"}, slice_s=0.01, sample_s=0.001, probe="memory_latency"
        ),
        ParameterSweep(
            {"size": "2MiB..{beyond}*2", "stride": "4KiB"}, slice_s=0.01, sample_s=0.001, probe="memory_latency"
        ),
    ),
    overhead_s=0.04,
    remarks=page_remarks,
    derive=partial(derived, "memory_latency"),
    tables=partial(table, "memory_latency"),
)
