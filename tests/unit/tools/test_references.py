"""Adapters read the values that the tools printed, and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from machines import machine_with
from nameplate.errors import Unreadable, UsageError
from nameplate.probes import load_probes
from nameplate.tools.external import load_references
from nameplate.tools.external.osu import read_size
from nameplate.tools.output import number, positive
from nameplate.tools.reference_tool import ComparedMetric, ToolProgram, ToolSetting, ToolWork

GOLDEN = Path(__file__).parents[2] / "golden" / "references"
MACHINE = machine_with(cpu={"flags": ["sse2", "avx2", "fma", "avx512f"]})


def setting(tool: str, text: str = "") -> ToolSetting:
    reference = load_references()[tool]
    programs = {name: ToolProgram(f"/usr/bin/{name}", "1", text) for name in reference.programs}
    return ToolSetting(
        programs=programs, folder=Path("/nowhere"), host="127.0.0.1", port=7000, seconds=2, cores=2,
        beyond_bytes=1 << 27, machine=MACHINE, launcher=("mpirun", "-n", "2"), ranks=2,
    )  # fmt: skip


def golden(name: str) -> str:
    return (GOLDEN / name).read_text()


def works(tool: str, text: str = "") -> list[ToolWork]:
    return list(load_references()[tool].works(setting(tool, text)))


def compared(tool: str, message: str, text: str = "", index: int = 0) -> ComparedMetric:
    """Return a metric of the work whose name contains these words."""
    work = next(work for work in works(tool, text) if message in work.name)
    return work.metrics[index]


STREAM = golden("stream-5.10.txt")
# Tool, one of its works, the index of the metric, the recorded output, and its value in SI units, read by hand.
READINGS = [
    ("fio", "direct, io_uring", 0, "fio-3.33.json", 14721.115538),
    ("fio", "direct, io_uring", 1, "fio-3.33.json", 45824e-9),
    ("likwid", "avx2 fma fp64, 1 thread", 0, "likwid-5.2.txt", 10134.21e6),
    ("likwid", "copy plain, 1 thread", 0, "likwid-5.2.txt", 2702.46e6),
    ("stream", "arrays of 80 MB, 8 threads", 0, "stream-5.10.txt", 8239.8e6),
    ("stream", "arrays of 80 MB, 8 threads", 3, "stream-5.10.txt", 6125.3e6),
    ("plain_stream", "arrays of 134 MB", 0, "plain-stream-1.txt", 2 * 2**27 / 0.018726324),
    ("plain_stream", "arrays of 134 MB", 3, "plain-stream-1.txt", 3 * 2**27 / 0.023203967),
    ("sysbench", "write 1 MiB", 0, "sysbench-memory-1.0.20.txt", 4711.05 * 2**20),
    ("sysbench", "4 KiB random read", 0, "sysbench-fileio-1.0.20.txt", 16872.76),
    ("iozone", "1KiB records", 0, "iozone-3.489-1k.txt", 710230 * 1024),
    ("iozone", "1KiB records", 1, "iozone-3.489-1k.txt", 733425 * 1024),
    ("iozone", "8KiB records", 2, "iozone-3.489-8k.txt", 7516033 * 1024),
    ("iozone", "1MiB records, 256MiB file, page cache", 3, "iozone-3.489-1024k.txt", 14273290 * 1024),
    ("iozone", "8MiB records", 4, "iozone-3.489-8192k.txt", 12247440 * 1024),
    ("iozone", "8MiB records", 5, "iozone-3.489-8192k.txt", 10233554 * 1024),
    ("iperf3", "tcp", 0, "iperf3-tcp-3.12.json", 2930247944.1487684 / 8),
    ("iperf3", "udp", 0, "iperf3-udp-3.12.json", 56877569.52811371 / 8),
    ("iperf", "1 connection", 0, "iperf-1-2.1.8.txt", 2398e6 / 8),
    ("iperf", "4 connections", 0, "iperf-4-2.1.8.txt", 3247e6 / 8),
    ("sockperf", "tcp", 0, "sockperf-3.7.txt", 2 * 7.345e-6),
    ("imb", "PingPong, 8 B", 0, "imb-pingpong-2021.11.txt", 2.45e-6),
    ("imb", "PingPong, 65,536 B", 0, "imb-pingpong-2021.11.txt", 11.40e-6),
    ("osu", "osu_latency, 8 B", 0, "osu_latency-7.5.txt", 3.34e-6),
    ("osu", "osu_latency, 8 B", 0, "osu_latency-7.1.txt", 3.14e-6),
    ("osu", "osu_multi_lat", 0, "osu_multi_lat-5.6.3.txt", 0.23e-6),
    ("hpcc", "order 5,000", 1, "hpcc-1.5.0.txt", 8.85004e9),
    ("hpcc", "order 5,000", 2, "hpcc-1.5.0.txt", 2 * 5.85461e9),
    ("hpcc", "order 5,000", 4, "hpcc-1.5.0.txt", 2 * 7.73213e9),
    ("hpcc", "order 5,000", 5, "hpcc-1.5.0.txt", 0.128569e-6),
    ("hpcc", "order 5,000", 6, "hpcc-1.5.0.txt", 6.84209e9),
]
IDS = [f"{tool}-{arguments}-{index}" for tool, arguments, index, _, _ in READINGS]


@pytest.mark.parametrize(("tool", "work", "index", "name", "expected"), READINGS, ids=IDS)
def test_recorded_outputs_are_read(tool: str, work: str, index: int, name: str, expected: float) -> None:
    read = compared(tool, work, STREAM, index).read
    assert read(golden(name)) == pytest.approx(expected, rel=1e-9)


def test_osu_bandwidths_are_read() -> None:
    assert read_size("osu_bw", 268435456, golden("osu_bw-7.5.txt")) == pytest.approx(12254.16e6)
    assert read_size("osu_mbw_mr", 8, golden("osu_mbw_mr-5.6.3.txt")) == pytest.approx(73.66e6)


@pytest.mark.parametrize(("tool", "work", "index", "name", "_"), READINGS, ids=IDS)
def test_a_broken_output_gives_no_value(tool: str, work: str, index: int, name: str, _: float) -> None:
    """The output is cut off, lacks its values, has other units or names, or consists of an error message."""
    read = compared(tool, work, STREAM, index).read
    text = golden(name)
    broken = [
        "",
        "Segmentation fault",
        text[: len(text) // 3],
        re.sub(r"\d+(\.\d+)?", "nan", text),
        re.sub(r"\d+(\.\d+)?", "-", text),
        re.sub(r"(?i)mbytes?/s|mflops/s|mib/sec|mbits/sec|kbytes/sec|reads/s|average s", "furlongs", text)
        if not text.lstrip().startswith("{") and tool not in {"stream", "hpcc", "sockperf", "iozone", "osu"}
        else "{}",
        text.replace("bits_per_second", "bits").replace("iops", "io_rate").replace("percentile", "quantile")
        .replace("Latency", "Delay").replace("reread", "again").replace("STREAM", "RIVER").replace("PingPong", "Ping")
        .replace("Copy", "C").replace("Triad", "T").replace("MByte", "MB").replace("MFlops", "FLOPS")
        .replace("transferred", "moved").replace("reads/s", "reads").replace("Mbits", "Gbits")
        .replace("average s", "mean s"),
    ]  # fmt: skip
    for number_of, item in enumerate(broken):
        with pytest.raises(Unreadable):
            print(number_of, read(item))


def test_iozone_runs_the_records_and_the_file_size_that_a_plan_gives() -> None:
    reference = load_references()["iozone"]
    given = {"block": reference.parameters["block"]("8KiB,8MiB"), "size": reference.parameters["size"]("64MiB")}
    chosen = reference.works(replace(setting("iozone"), params=given))
    assert [work.name for work in chosen] == [
        "8KiB records, 64MiB file, page cache", "8MiB records, 64MiB file, page cache"
    ]  # fmt: skip
    command = chosen[0].command[1:]
    assert command[: command.index("-r")] == [word for test in range(8) for word in ("-i", str(test))]
    assert command[command.index("-r") :][:4] == ["-r", "8k", "-s", "65536k"]
    assert [metric.name for metric in chosen[0].metrics] == [
        "write", "rewrite", "read", "reread", "random read", "random write", "backward read", "record rewrite",
        "stride read", "fwrite", "frewrite", "fread", "freread",
    ]  # fmt: skip
    assert [metric.name for metric in chosen[0].metrics if "library" in metric.params] == [
        "fwrite", "frewrite", "fread", "freread"
    ]  # fmt: skip
    for metric in chosen[1].metrics:
        assert (metric.params["block"], metric.params["size"]) == (8 << 20, 64 << 20)


@pytest.mark.parametrize(("key", "text"), [("block", "8"), ("block", "80MiB"), ("block", "1500"), ("size", "100")])
def test_iozone_rejects_parameters_that_it_cannot_run(key: str, text: str) -> None:
    with pytest.raises(UsageError, match="of IOzone"):
        load_references()["iozone"].parameters[key](text)


def test_plain_stream_gives_a_plan_its_fastest_average_and_slowest_pass_over_the_arrays_that_it_sets() -> None:
    reference = load_references()["plain_stream"]
    given = {"size": reference.parameters["size"]("134217728B")}
    (work,) = reference.works(replace(setting("plain_stream"), params=given))
    text = golden("plain-stream-1.txt")
    assert work.command[1:] == ["16777216", "10"]
    assert [(metric.name, metric.take) for metric in work.metrics[-3:]] == [
        ("triad, fastest pass", "best"), ("triad, average pass", "sustained"), ("triad, slowest pass", "worst")
    ]  # fmt: skip
    assert [metric.read(text) for metric in work.metrics[-3:]] == pytest.approx(
        [3 * 2**27 / time_s for time_s in (0.020091058, 0.023203967, 0.025680724)]
    )
    with pytest.raises(UsageError, match="not a size of an array"):
        reference.parameters["size"]("7")


def test_hpcc_must_have_succeeded_with_the_given_order() -> None:
    read = compared("hpcc", "order", index=1).read
    text = golden("hpcc-1.5.0.txt")
    for changed in (text.replace("Success=1", "Success=0"), text.replace("HPL_N=5000", "HPL_N=1000")):
        with pytest.raises(Unreadable):
            read(changed)


def test_stream_must_validate() -> None:
    with pytest.raises(Unreadable, match="Solution Validates"):
        compared("stream", "", STREAM).read(STREAM.replace("Solution Validates", "Failed Validation"))


def test_ambiguous_or_impossible_numbers_are_rejected() -> None:
    assert number("x: 2\n", r"^x: (\d+)$", "line x", 1e6) == 2e6
    for text in ("x: 1\nx: 2\n", "y: 1\n"):
        with pytest.raises(Unreadable):
            number(text, r"^x: (\d+)$", "line x")
    for text in ("0", "-1", "inf", "nan", "1.2.3"):
        with pytest.raises(Unreadable):
            positive(text)


@pytest.mark.parametrize("tool", load_references())
def test_every_metric_belongs_to_a_probe(tool: str) -> None:
    for work in works(tool, STREAM):
        for item in work.metrics:
            probe = load_probes()[item.probe]
            assert item.metric in [metric.name for metric in probe.metrics], item


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("fio", "fio-3.33\n"),
        ("likwid", "Threaded Memory Hierarchy Benchmark --  Version  5.2 \n"),
        ("stream", STREAM),
        ("sysbench", "sysbench 1.0.20\n"),
        ("iozone", "       'Iozone' Filesystem Benchmark Program\n \n        Version $Revision: 3.489 $\n"),
        ("iperf3", "iperf 3.12 (cJSON 1.7.15)\nLinux vm\n"),
        ("iperf", "iperf version 2.1.8 (12 August 2022) pthreads\n"),
        ("sockperf", "sockperf, version 3.7-no.git \n"),
        ("imb", golden("imb-pingpong-2021.11.txt")),
        ("osu", golden("osu_latency-7.5.txt")),
        ("hpcc", "####\nThis is the DARPA/DOE HPC Challenge Benchmark version 1.5.0 October 2012\n"),
    ],
)
def test_a_tool_is_recognised_by_its_own_output_only(tool: str, said: str) -> None:
    known = {name for name, reference in load_references().items() if reference.version.search(said)}
    assert known == {tool}


@pytest.mark.parametrize("tool", load_references())
def test_no_work_replaces_the_file_of_another(tool: str) -> None:
    written: dict[str, str] = {}
    for work in works(tool, STREAM):
        for name, text in work.files.items():
            assert written.setdefault(name, text) == text, name


def test_the_stream_program_of_imagemagick_is_not_stream() -> None:
    said = "Usage: stream [options ...] input-image raw-image\n\nVersion: ImageMagick 6.9.11-60 Q16 x86_64\n"
    assert not load_references()["stream"].version.search(said)


def test_readers_of_one_operation_keep_it() -> None:
    """The values of a write are not those of the read, which fio prints next to them as zeros."""
    with pytest.raises(Unreadable):
        compared("fio", "write").read(golden("fio-3.33.json"))


def test_each_work_finds_the_page_cache_as_nameplate_does() -> None:
    """Direct work begins with nothing of its file in the page cache, the other with all of it."""
    of_files = [(work, work.metrics[0].params["cache"]) for work in [*works("fio"), *works("sysbench")]
                if work.metrics[0].probe == "disk_block"]  # fmt: skip
    assert [cache for _, cache in of_files] == ["direct", "direct", "warm", "direct", "warm"]
    for work, cache in of_files:
        assert bool(work.cached) == (cache == "warm")
        assert ("--invalidate=1" in work.command) == (cache == "direct")
        assert work.prepare
