"""``nameplate fleet run --engine kubernetes``, against a program that acts as kubectl, and valid manifests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml  # type: ignore[import-untyped]

from nameplate.fleet.engines import kubernetes
from nameplate.fleet.engines.kubernetes import Node, PodWork, jobs_of, manifest_of
from nameplate.fleet.fleet_folder import FleetFolder
from nameplate.fleet.host_outcome import HostOutcome
from recorded_runs import quieted, unpacked

FAKE = Path(__file__).parents[1] / "support" / "fake_kubectl.py"
WORK = PodWork("id", "registry.example/nameplate:1", ["nameplate-core", "quick"], 240)
TAINT = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}


@dataclass
class Cluster:
    folder: Path

    def set_nodes(self, nodes: dict[str, dict[str, Any]]) -> None:
        (self.folder / "cluster.json").write_text(json.dumps({"nodes": nodes}))

    def fleet(self, *arguments: str | Path) -> tuple[int, str, str]:
        path = f"{self.folder}:{os.environ['PATH']}"
        done = subprocess.run([sys.executable, "-m", "nameplate", "fleet", "run", *map(str, arguments)], text=True,
                              capture_output=True, check=False, timeout=120, cwd=self.folder,
                              env={**os.environ, "PATH": path, "FAKE_CLUSTER": str(self.folder)})  # fmt: skip
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    def measured(self, *arguments: str) -> tuple[int, str, str]:
        return self.fleet("--engine", "kubernetes", "--image", "nameplate:1", "-o", "fleet", "-q", *arguments)

    def outcomes(self) -> dict[str, HostOutcome]:
        return FleetFolder.open(self.folder / "fleet").outcomes

    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    (tmp_path / "kubectl").write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
    (tmp_path / "kubectl").chmod(0o755)
    lines = quieted(unpacked("quick")).splitlines(keepends=True)
    records = b"".join(line for line in lines if b'"figures"' not in line[:30])
    name = json.loads(lines[1])["machine"]["hostname"].encode()
    (tmp_path / "run.jsonl").write_bytes(records.replace(b'"hostname":"%b"' % name, b'"hostname":"vm"'))
    return Cluster(tmp_path)


@pytest.mark.parametrize("version", ["1.29", "1.31"])
def test_the_manifests_are_valid(version: str) -> None:
    nodes = [Node("a", 7850, True), Node("b", 7850, True), Node("c", 3900, False)]
    jobs = jobs_of(nodes, WORK)
    assert [job["spec"]["completions"] for job in jobs] == [1, 2]
    for job in yaml.safe_load_all(manifest_of(jobs)):
        kubernetes_validate.validate(job, version, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            {**jobs[0], "spec": {**jobs[0]["spec"], "completions": "two"}}, version, strict=True
        )


def test_a_pod_requests_the_cpus_of_its_node_and_no_right() -> None:
    (job,) = jobs_of([Node("a", 7850, True)], WORK)
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["resources"]["requests"]["cpu"] == "7850m"
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert not pod["automountServiceAccountToken"]
    assert container["env"][0]["valueFrom"]["fieldRef"]["fieldPath"] == "spec.nodeName"
    assert pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]


def test_with_a_limit_there_is_one_job_for_the_smallest_node() -> None:
    limited = PodWork("id", "image", ["x"], 240, at_once=1)
    (job,) = jobs_of([Node("a", 7850, True), Node("c", 3900, False)], limited)
    assert (job["spec"]["parallelism"], job["spec"]["completions"]) == (1, 2)
    assert job["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "3900m"


def test_each_node_is_a_row_under_the_name_that_the_cluster_gives(cluster: Cluster) -> None:
    cluster.set_nodes({**{f"n{number}": {} for number in range(1, 5)}, "control": {"taints": [TAINT]},
                       "away": {"cordoned": True}})  # fmt: skip
    code, output, messages = cluster.measured()
    assert code == 0, messages
    assert output.startswith("None of 4 nodes is slow.")
    assert {name: end.outcome for name, end in cluster.outcomes().items()} == {f"n{n}": "measured" for n in range(1, 5)}
    assert cluster.calls()[-1].startswith("delete jobs -l nameplate.fleet=")
    assert json.loads((cluster.folder / "jobs.json").read_text()) == []


def test_pods_that_fail_are_rows_and_are_measured_again(cluster: Cluster) -> None:
    pods = {"n1": "ok", "n2": "fail", "n3": "image", "n4": "killed"}
    cluster.set_nodes({name: {"pod": pod} for name, pod in pods.items()})
    code, _, messages = cluster.measured()
    assert code == 3, messages
    ends = cluster.outcomes()
    assert {name: end.outcome for name, end in ends.items()} == {
        "n1": "measured", "n2": "cannot run", "n3": "cannot run", "n4": "killed",
    }  # fmt: skip
    assert ends["n2"].reason == "nameplate-core: cannot do this"
    assert ends["n3"].reason == "ErrImagePull: not found"
    assert ends["n4"].reason == "OOMKilled"
    cluster.set_nodes({name: {} for name in pods})
    code, _, messages = cluster.fleet("--resume", "fleet", "-q")
    assert code == 0, messages
    assert {end.outcome for end in cluster.outcomes().values()} == {"measured"}


def test_a_node_that_has_no_room_is_named(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{cluster.folder}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_CLUSTER", str(cluster.folder))
    monkeypatch.setattr(kubernetes, "_POLL_S", 0.1)
    cluster.set_nodes({"n1": {"pod": "pending"}})
    sink = Notes()
    kubernetes.KubernetesEngine(jobs_of(kubernetes.read_nodes(), WORK), "id", sink, 1.0).measure(["n1"])
    (end,) = sink.outcomes
    assert (end.address, end.outcome) == ("n1", "unreachable")
    assert end.reason == "0/4 nodes are available: 1 Insufficient cpu."


class Notes:
    """A sink that notes outcomes."""

    def __init__(self) -> None:
        self.outcomes: list[HostOutcome] = []

    def started(self, address: str) -> None:
        pass

    def records(self, address: str, lines: object) -> HostOutcome:
        raise AssertionError(address)

    def ended(self, outcome: HostOutcome) -> None:
        self.outcomes.append(outcome)

    def not_removed(self, address: str, reason: str) -> None:
        raise AssertionError(reason)


def test_write_only_writes_the_jobs(cluster: Cluster) -> None:
    cluster.set_nodes({"n1": {}, "n2": {}})
    code, output, messages = cluster.fleet("cpu_flops", "threads=1", "--engine", "kubernetes", "--image", "nameplate:1",
                                           "--rounds", "2", "--write", "job.yaml")  # fmt: skip
    assert code == 0, messages
    assert output.startswith("wrote job.yaml, with a pod for each of 2 nodes")
    job = yaml.safe_load((cluster.folder / "job.yaml").read_text())
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["nameplate", "run", "cpu_flops", "threads=1", "--rounds", "2", "-o", "/dev/stdout"]
    assert not any(call.startswith("create") for call in cluster.calls())
    assert not (cluster.folder / "fleet").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "kubernetes"], "--image REGISTRY/nameplate:VERSION and --engine kubernetes: give both or none"),
        (["--hosts", "n9", "--engine", "kubernetes", "--image", "x"], "--hosts n9: the cluster has no such node; "),
        (["my.toml", "--engine", "kubernetes", "--image", "x"], "my.toml: the image does not have this file; "),
        (["--hosts", "a", "--write", "x"], "--write is for --engine kubernetes: leave it out"),
    ],
)
def test_options_that_are_impossible_together(cluster: Cluster, arguments: list[str], message: str) -> None:
    cluster.set_nodes({"n1": {}})
    code, _, messages = cluster.fleet(*arguments)
    assert (code, messages.startswith(f"nameplate: {message}")) == (2, True), messages
