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

from nameplate.errors import CoreError
from nameplate.fleet.engines import kubernetes
from nameplate.fleet.engines.kubernetes import KubernetesEngine, Node, PodWork, job_of, manifest_of, read_nodes
from nameplate.fleet.fleet_folder import FleetFolder
from nameplate.fleet.host_outcome import CoreEnd, HostOutcome
from recorded_runs import quieted, unpacked

FAKE = Path(__file__).parents[1] / "support" / "fake_kubectl.py"
WORK = PodWork("id", "registry.example/nameplate:1", ["nameplate-core", "quick"], 3)
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

    def engine_parts(self, monkeypatch: pytest.MonkeyPatch, cluster: dict[str, Any]) -> tuple[list[Node], Notes]:
        """Return the nodes of a cluster and a sink, for an engine that is impatient."""
        monkeypatch.setenv("PATH", f"{self.folder}:{os.environ['PATH']}")
        monkeypatch.setenv("FAKE_CLUSTER", str(self.folder))
        monkeypatch.setattr(kubernetes, "_POLL_S", 0.1)
        monkeypatch.setattr(kubernetes, "_START_S", 0.0)
        (self.folder / "cluster.json").write_text(json.dumps(cluster))
        return read_nodes(), Notes()

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


@pytest.mark.parametrize("version", ["1.25", "1.31"])
def test_the_manifests_are_valid(version: str) -> None:
    jobs = [job_of(0, Node("a", 7850, True), WORK), job_of(1, Node("c", 3900, False), WORK)]
    for job in yaml.safe_load_all(manifest_of(jobs)):
        kubernetes_validate.validate(job, version, strict=True)
    wrong = {**jobs[0], "spec": {**jobs[0]["spec"], "backoffLimit": "two"}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, version, strict=True)


def test_a_pod_requests_the_cpus_of_its_node_and_no_right() -> None:
    job = job_of(0, Node("a", 7850, True), WORK)
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["resources"]["requests"]["cpu"] == "7850m"
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert not pod["automountServiceAccountToken"]
    assert container["env"][0]["valueFrom"]["fieldRef"]["fieldPath"] == "spec.nodeName"
    terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms == [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]


def test_each_node_is_a_row_under_the_name_that_the_cluster_gives(cluster: Cluster) -> None:
    cluster.set_nodes({**{f"n{number}": {} for number in range(1, 5)}, "control": {"taints": [TAINT]},
                       "away": {"cordoned": True}})  # fmt: skip
    code, output, messages = cluster.measured()
    assert code == 0, messages
    assert output.startswith("None of 4 nodes is slow.")
    assert {name: end.outcome for name, end in cluster.outcomes().items()} == {f"n{n}": "measured" for n in range(1, 5)}
    assert cluster.calls()[-1].startswith("delete jobs -l nameplate.fleet=")
    assert json.loads((cluster.folder / "jobs.json").read_text()) == []


def test_nodes_measure_in_turn(cluster: Cluster) -> None:
    cluster.set_nodes({f"n{number}": {} for number in range(1, 4)})
    assert cluster.measured("--at-once", "1")[0] == 0
    assert json.loads((cluster.folder / "max_active.json").read_text()) == 1
    assert {end.outcome for end in cluster.outcomes().values()} == {"measured"}


def test_failures_that_pass_cost_nothing(cluster: Cluster) -> None:
    text = {"nodes": {"n1": {}, "n2": {}}, "failures": {"apply": 1, "logs": 1}}
    (cluster.folder / "cluster.json").write_text(json.dumps(text))
    code, _, messages = cluster.measured()
    assert code == 0, messages
    assert {end.outcome for end in cluster.outcomes().values()} == {"measured"}


def test_a_cluster_that_no_longer_answers_is_named(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, sink = cluster.engine_parts(monkeypatch, {"nodes": {"n1": {}}})
    (cluster.folder / "cluster.json").write_text(
        json.dumps({"nodes": {"n1": {}}, "failures": {"get": 99, "delete": 99}})
    )
    with pytest.raises(CoreError, match="kubectl get failed: Unable to connect to the server"):
        KubernetesEngine(WORK, sink).measure(nodes)
    (end,) = sink.outcomes
    assert (end.outcome, "Unable to connect" in end.reason) == ("stopped", True)


def test_pods_that_fail_are_rows_and_are_measured_again(cluster: Cluster) -> None:
    pods = {"n1": "ok", "n2": "fail", "n3": "image", "n4": "killed", "n5": "deleted"}
    cluster.set_nodes({name: {"pod": pod} for name, pod in pods.items()})
    code, _, messages = cluster.measured()
    assert code == 3, messages
    ends = cluster.outcomes()
    assert {name: end.outcome for name, end in ends.items()} == {
        "n1": "measured", "n2": "cannot run", "n3": "cannot run", "n4": "killed", "n5": "killed",
    }  # fmt: skip
    assert ends["n2"].reason == "nameplate-core: cannot do this"
    assert ends["n3"].reason == "InvalidImageName: couldn't parse image name"
    assert ends["n4"].reason == "OOMKilled"
    assert ends["n5"].reason == "its pod was deleted"
    cluster.set_nodes({name: {} for name in pods})
    code, _, messages = cluster.fleet("--resume", "fleet", "-q")
    assert code == 0, messages
    assert {end.outcome for end in cluster.outcomes().values()} == {"measured"}


def test_a_node_that_has_no_room_is_named(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, sink = cluster.engine_parts(monkeypatch, {"nodes": {"n1": {"pod": "pending"}}})
    KubernetesEngine(WORK, sink).measure(nodes)
    (end,) = sink.outcomes
    assert (end.address, end.outcome) == ("n1", "unreachable")
    assert end.reason == "0/4 nodes are available: 1 Insufficient cpu."


class Notes:
    """A sink that notes outcomes."""

    def __init__(self) -> None:
        self.outcomes: list[HostOutcome] = []

    def started(self, address: str, deadline_s: float) -> None:
        pass

    def part(self, address: str) -> Path:
        raise AssertionError(address)

    def collected(self, address: str, end: CoreEnd) -> None:
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
    assert output.startswith("wrote job.yaml, with a Job for each of 2 nodes")
    job, _ = yaml.safe_load_all((cluster.folder / "job.yaml").read_text())
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["nameplate", "run", "cpu_flops", "threads=1", "--rounds", "2", "-o", "/dev/stdout"]
    assert not any(call.startswith("apply") for call in cluster.calls())
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
