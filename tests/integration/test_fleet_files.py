"""Run files of several machines are a fleet, whoever launched the runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from fleet_files import write_fleet
from nameplate.commands._fleet import read_fleet_report
from nameplate.commands.check import command as check
from nameplate.commands.history import command as history
from nameplate.commands.nodes import command as nodes
from nameplate.commands.show import command as show
from nameplate.fleet.fleet_folder import FLEET_FILE, SCHEMA, FleetFolder, FleetStart
from nameplate.fleet.host_outcome import CoreEnd
from nameplate.records.node_record import Nodes
from nameplate.results import digest
from nameplate.results.digest import digest_of_report
from nameplate.results.run_file import append_digest, read_run
from nameplate.results.summarise import summarise
from recorded_runs import recorded_file

HOSTS = [f"web{number}" for number in range(1, 13)]
SLOW = {"web7": ("memory_stream", 1.2)}
SITE = """schema = 1
learned = 2026-11-24
[[class]]
machines = 42
runs = 212
provisional = false
[class.machine]
cpu = "AMD EPYC"
cores = 2
memory_gib = 24.0
hypervisor = "kvm"
[[class.range]]
experiment = "memory_stream op=triad stores=plain"
metric = "bandwidth"
kind = "typical"
unit = "B/s"
low = 7.0e9
typical = 7.7e9
high = 9.0e9
machines = 41
left_out = []
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    write_fleet(folder, HOSTS, SLOW, rounds=6)
    return folder


def test_the_slow_machine_of_a_folder_is_named(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert nodes(fleet) == 1
    text = capsys.readouterr().out
    assert text.startswith("Slow: web7 (1 of 12): memory_stream op=triad stores=plain bandwidth ")
    assert "12 nodes of AMD EPYC, 2 cores, 24 GiB, kvm guest: web[1-12]" in text
    line = next(line for line in text.splitlines() if line.startswith("  MEM triad, plain"))
    assert line.split()[-2:] == ["web7", "1"]
    commands = text.splitlines()[-4:]
    assert [line.split()[0] for line in commands] == ["scontrol", "pbsnodes", "badmin", "kubectl"]
    assert all("web7" in line for line in commands)


def test_a_fleet_fits_a_screen_and_all_shows_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    write_fleet(tmp_path, [f"web{number:03}" for number in range(1, 101)], {"web007": ("memory_stream", 1.2)})
    assert nodes(tmp_path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert "--all shows further rankings and a map" in lines
    assert sum(line.split()[-1:] == ["1"] for line in lines) == 2  # every metric with a slow machine
    assert lines[-1].startswith("kubectl cordon web007")
    assert nodes(tmp_path, all=True) == 1
    text = capsys.readouterr().out
    assert "one character per node" in text
    assert text.count("web007") > 5


def test_files_and_folders_give_the_same_fleet(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert nodes(fleet, json=True) == 1
    of_folder = json.loads(capsys.readouterr().out)
    assert nodes(*sorted(fleet.glob("*.jsonl")), json=True) == 1
    assert json.loads(capsys.readouterr().out)["metrics"] == of_folder["metrics"]
    assert of_folder["names"] == HOSTS
    assert [host["path"] for host in of_folder["hosts"]] == [str(fleet / f"{name}.jsonl") for name in HOSTS]
    assert of_folder["left_out"] == []


def test_a_healthy_fleet_has_no_slow_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_fleet(tmp_path, HOSTS)
    assert nodes(tmp_path) == 0
    assert capsys.readouterr().out.startswith("None of 12 nodes is slow.")


def test_one_round_on_each_machine_finds_the_slow_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The variation between the machines includes that of a measurement, so no machine needs several rounds."""
    write_fleet(tmp_path, HOSTS, SLOW)
    assert nodes(tmp_path) == 1
    assert "Slow: web7 (1 of 12)" in capsys.readouterr().out


def test_what_does_not_count_is_left_out_with_the_reason(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(fleet, folder)
    older = (folder / "web3.jsonl").read_text().replace('"started": "2026-11-24', '"started": "2026-11-23', 1)
    (folder / "web3-older.jsonl").write_text(older)
    (folder / "notes.jsonl").write_text("no run\n")
    recorded_file("series.jsonl", folder)
    recorded_file("per_node.jsonl", folder)
    (folder / "web4.jsonl").write_text((folder / "web4.jsonl").read_text().replace('"version": "', '"version": "9', 1))
    assert nodes(folder, json=True) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["names"] == [name for name in HOSTS if name != "web4"]
    reasons = {Path(item["name"]).name: item["reason"] for item in answer["left_out"]}
    assert reasons["web3-older.jsonl"] == "a newer run of this machine counts"
    assert reasons["notes.jsonl"] == "line 1 is not a nameplate record: this is not a run file"
    assert reasons["series.jsonl"] == "it is a run of cpu_flops, and the fleet's are of quick"
    assert reasons["per_node.jsonl"] == "it is a job of 4 nodes"
    assert reasons["web4.jsonl"].startswith("nameplate 9")
    assert nodes(folder) == 1
    text = capsys.readouterr().out
    assert text.count("! left out:") == 5


def test_machines_of_one_name_differ_by_their_boot_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(4):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        # The first host of each fleet gets another boot id than that of a fleet with hosts before it.
        hosts = [*(f"other{index}" for index in range(number)), "localhost"]
        for path in write_fleet(folder, hosts)[:-1]:
            path.unlink()
    assert nodes(tmp_path, json=True) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["names"] == ["localhost", "localhost (2)", "localhost (3)", "localhost (4)"]
    assert {host["hostname"] for host in answer["hosts"]} == {"localhost"}


def test_a_folder_of_several_machines_is_shown_as_one(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show(fleet) == 0
    text = capsys.readouterr().out
    assert text.startswith("web1 and 11 further machines · AMD EPYC, 2 cores")
    assert "Nodes: slow: web7 (1 of 12)." in text
    assert "! each value is the median of 12 machines (AMD EPYC, 2 cores, 24 GiB, kvm guest)" in text
    assert len(text.splitlines()) <= 25
    assert show(fleet, json=True) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert nodes(fleet, json=True) == 1
    answer = json.loads(capsys.readouterr().out)
    metric = next(m for m in answer["metrics"] if m["experiment"] == "memory_stream op=triad stores=plain")
    row = next(row for row in rows if row["probe"] == "memory_stream" and row["params"]["stores"] == "plain"
               and row["metric"] == "bandwidth" and row["params"]["op"] == "triad")  # fmt: skip
    values = sorted(metric["value"])
    assert row["value"] == pytest.approx((values[5] + values[6]) / 2, rel=1e-4)
    assert row["rounds"] == 12


def test_exports_of_a_fleet_have_no_host_names(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show(fleet, format="json") == 0
    text = capsys.readouterr().out
    assert "web" not in text
    assert '"boot_id": ""' in text


def test_each_machine_is_judged_by_its_ranges(fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = tmp_path / "site.toml"
    site.write_text(SITE)
    assert check(fleet, expect=site) == 1
    text = capsys.readouterr().out
    assert text.startswith("BELOW: web7 (1 of 12 machines). AS EXPECTED: 11.")
    assert [line.split()[:5] for line in text.splitlines() if "GB/s" in line] == [
        ["web7", "MEM", "triad,", "plain", "BELOW"]
    ]  # fmt: skip
    assert check(fleet, expect=site, json=True) == 1
    verdicts = {item["machine"]: item["verdict"] for item in json.loads(capsys.readouterr().out)["machines"]}
    assert verdicts == dict.fromkeys(HOSTS, "AS EXPECTED") | {"web7": "BELOW"}


def test_digests_give_the_same_judgement_without_the_records(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site.toml"
    site.write_text(SITE)
    folder = tmp_path / "runs"
    shutil.copytree(fleet, folder)
    for path in folder.iterdir():
        run = read_run(path)
        append_digest(run, digest_of_report(summarise(run)))

    def learned(runs: Path) -> str:
        assert check(learn=(runs,), output=tmp_path / "learned.toml", force=True, quiet=True) == 0
        return (tmp_path / "learned.toml").read_text()

    assert check(fleet, expect=site, json=True) == 1
    from_records = json.loads(capsys.readouterr().out)
    learned_from_records = learned(fleet)
    monkeypatch.setattr(digest, "read_run", None)
    capsys.readouterr()
    assert check(folder, expect=site, json=True) == 1
    assert json.loads(capsys.readouterr().out) == from_records
    assert learned(folder) == learned_from_records


def controlled(folder: Path, hosts: Mapping[str, str]) -> None:
    """Make a fleet of a controller; ``hosts`` has the name that each address gives itself."""
    controller = FleetFolder.create(
        folder, FleetStart(schema=SCHEMA, id="i", token="t", arguments=["quick"], hosts=list(hosts))
    )
    for address, name in hosts.items():
        (path,) = write_fleet(folder / "runs", [name])
        path.rename(controller.part(address))
        controller.note_collected(address, CoreEnd("0"))
    controller.check_collected()


def test_addresses_of_the_same_machine_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    controlled(tmp_path / "fleet", {"10.0.0.1": "vm", "10.0.1.1": "vm", "10.0.0.2": "other", "10.0.0.3": "third"})
    nodes(tmp_path / "fleet")
    text = " ".join(capsys.readouterr().out.split())
    assert "! the same machine: 10.0.0.1, 10.0.1.1: host name and boot id are those of one machine" in text
    assert "10.0.0.2, " not in text.partition("the same machine")[2].partition("!")[0]


def test_the_map_has_the_groups_of_the_controller_or_of_the_names(tmp_path: Path) -> None:
    names = ["r1-web1", "r1-web2", "r2-web1", "r2-web2"]
    controlled(tmp_path / "fleet", {name: name for name in names})
    assert nodes_of(tmp_path / "fleet").groups == ["r1-web", "r1-web", "r2-web", "r2-web"]
    folder = FleetFolder.open(tmp_path / "fleet")
    groups = dict(zip(names, ["a", "b", "a", "b"], strict=True))
    start = msgspec.structs.replace(folder.start, groups=groups)
    file = tmp_path / "fleet" / FLEET_FILE
    file.write_bytes(msgspec.json.encode(start) + b"\n" + file.read_bytes().partition(b"\n")[2])
    assert nodes_of(tmp_path / "fleet").groups == ["a", "b", "a", "b"]
    write_fleet(tmp_path, HOSTS)
    assert nodes_of(*sorted(tmp_path.glob("*.jsonl"))).groups == []


def nodes_of(*paths: Path) -> Nodes:
    report = read_fleet_report(paths)
    assert report.nodes
    return report.nodes


def test_the_history_of_fleets_follows_the_addresses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Machines of one provider may all be called localhost."""
    controlled(tmp_path / "monday", {"10.0.0.1": "localhost", "10.0.0.2": "localhost"})
    assert history(tmp_path, json=True) == 0
    assert {run["machine"] for run in json.loads(capsys.readouterr().out)["runs"]} == {"10.0.0.1", "10.0.0.2"}
    fleet_file = tmp_path / "monday" / FLEET_FILE
    fleet_file.write_bytes(fleet_file.read_bytes().replace(b'"10.0.0.2"', b'"10.0.0.9"'))
    assert history(tmp_path, json=True) == 0
    assert {run["machine"] for run in json.loads(capsys.readouterr().out)["runs"]} == {"10.0.0.1", "10.0.0.9"}
    fleet_file.write_text("damaged\n")
    (tmp_path / "monday/runs/10.0.0.1.jsonl").touch()
    assert history(tmp_path, json=True) == 0


def test_machines_without_a_range_are_named_with_the_reason(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site.toml"
    site.write_text(SITE.replace("memory_gib = 24.0", "memory_gib = 48.0"))
    assert check(fleet, expect=site) == 5
    text = capsys.readouterr().out
    assert text.startswith("NOT JUDGED: none of 12 machines can be judged.")
    assert "! not judged: web1, web2, web3 and 9 more:" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nodes"], "no run: give a run file of several nodes"),
        (["nodes", "EMPTY"], "has no run files (.jsonl)"),
        (["nodes", "BROKEN"], "line 1 is not a nameplate record: this is not a run file; none of 1 run files"),
        (["check", "EMPTY", "--expect", "MISSING"], "has no run files (.jsonl)"),
        (["check", "FLEET", "--expect", "MISSING"], "cannot read MISSING: No such file or directory"),
        (["show"], "nothing to show"),
    ],
)
def test_bad_input_has_one_line(fleet: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "EMPTY").mkdir()
    (tmp_path / "BROKEN").mkdir()
    (tmp_path / "BROKEN" / "x.jsonl").write_text("x\n")
    (tmp_path / "FLEET").symlink_to(fleet)
    done = subprocess.run([sys.executable, "-m", "nameplate", *arguments], capture_output=True, text=True, check=False,
                          cwd=tmp_path)  # fmt: skip
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
