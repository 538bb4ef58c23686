"""Measure the nodes of a Kubernetes cluster by a Job for each node, driven by kubectl.

An Indexed Job for all nodes would not do: the scheduler forgets pods that have ended, so a later pod of the Job may run
on a node that was measured before. The log of a pod has the records, and its Job is bound to a node, so no pod can
report under another node's name.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

import yaml  # type: ignore[import-untyped]

from nameplate.control_characters import clean_text
from nameplate.errors import CoreError, UsageError
from nameplate.fleet.host_outcome import CoreEnd, HostOutcome, Outcome
from nameplate.fleet.sink import MAX_RECORDS_BYTES, Sink, too_large, write_part

_POLL_S = 5.0
_KUBECTL_S = 120.0
# The logs that are read at the same time.
_FAN_OUT = 16
# The time for the scheduler and for the image, in addition to that of the measurement.
_START_S = 600.0
# A request to the cluster is given up after this number of failures, since some pass.
_MAX_FAILURES = 5
# Reasons for which a container never starts; others pass when the registry answers again.
_NEVER_STARTS = ("InvalidImageName", "ImageInspectError", "CreateContainerConfigError", "CreateContainerError")
# Pods of these owners belong to a node, and leave it the rest of its CPUs.
_DAEMONS = ("DaemonSet", "Node")
# The labels of the Jobs and pods of a fleet: its identity, and the index of the node.
LABEL, _INDEX = "nameplate.fleet", "nameplate.node"
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(m?)")
_MIN_MEMORY = "2Gi"
_USER = 65532
# The daemons of a node, with the CPUs that they request.
_REQUESTS = (
    '{range .items[*]}{.spec.nodeName}{"\\t"}{.metadata.ownerReferences[0].kind}{"\\t"}'
    '{.spec.containers[*].resources.requests.cpu}{"\\n"}{end}'
)


@dataclass(frozen=True)
class Node:
    """A node of a cluster: its name, and the thousandths of CPUs that its daemons leave to other pods.

    ``takes_any_pod`` says whether a pod without tolerations may run there.
    """

    name: str
    free_mcpu: int
    takes_any_pod: bool


def read_nodes(names: Iterable[str] = ()) -> list[Node]:
    """Return the nodes with these names, or all on which any pod may run, as kubectl lists them.

    Raises:
        UsageError: kubectl is not found, or the cluster lacks one of the names.
        CoreError: kubectl failed.
    """
    daemons: dict[str, int] = defaultdict(int)
    for line in kubectl("get", "pods", "--all-namespaces", "-o", f"jsonpath={_REQUESTS}").decode().splitlines():
        node, kind, cpus = [*line.split("\t"), "", "", ""][:3]
        daemons[node] += sum(map(_mcpu, cpus.split())) if kind in _DAEMONS else 0
    nodes = {}
    for item in _items(kubectl("get", "nodes", "-o", "json")):
        name, spec = item["metadata"]["name"], item.get("spec", {})
        effects = {taint.get("effect") for taint in spec.get("taints", [])}
        takes_any_pod = not spec.get("unschedulable") and not effects & {"NoSchedule", "NoExecute"}
        nodes[name] = Node(name, _mcpu(item["status"]["allocatable"]["cpu"]) - daemons[name], takes_any_pod)
    requested = list(names)
    missing = [name for name in requested if name not in nodes]
    if missing:
        raise UsageError(f"--hosts {missing[0]}: the cluster has no such node; kubectl get nodes lists them")
    return [nodes[name] for name in requested] if requested else [node for node in nodes.values() if node.takes_any_pod]


@dataclass(frozen=True)
class PodWork:
    """The work of each pod of a fleet.

    ``identity`` names the fleet, ``image`` is the container image, and ``command`` runs in it. A pod is ended
    ``deadline_s`` seconds after its start, in addition to the time for its image.
    """

    identity: str
    image: str
    command: Sequence[str]
    deadline_s: float


def job_of(index: int, node: Node, work: PodWork) -> dict[str, Any]:
    """Return the manifest of the Job that does the work on a node; ``index`` is the number of the node in its fleet.

    The pod requests the CPUs that the daemons of the node leave free, so that no other pod computes there at the same
    time.
    """
    labels = {"app.kubernetes.io/name": "nameplate", LABEL: work.identity, _INDEX: f"{index}"}
    # The label with the host name may differ from the name of the node.
    is_node = {"key": "metadata.name", "operator": "In", "values": [node.name]}
    container = {
        "name": "nameplate",
        "image": work.image,
        "command": list(work.command),
        "env": [{"name": "NAMEPLATE_NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "resources": {"requests": {"cpu": f"{node.free_mcpu}m", "memory": _MIN_MEMORY}},
        "securityContext": {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "files", "mountPath": "/data"}, {"name": "temporary", "mountPath": "/tmp"}],
    }  # fmt: skip
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "activeDeadlineSeconds": int(_START_S + work.deadline_s),
        "securityContext": {
            "runAsNonRoot": True, "runAsUser": _USER, "runAsGroup": _USER, "fsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "tolerations": [{"operator": "Exists"}],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [is_node]}]}
            }
        },
        "containers": [container],
        "volumes": [{"name": "files", "emptyDir": {}}, {"name": "temporary", "emptyDir": {}}],
    }  # fmt: skip
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"nameplate-{work.identity}-{index}", "labels": labels},
        "spec": {
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": 86400,
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def manifest_of(jobs: Sequence[Mapping[str, Any]]) -> str:
    """Return the Jobs as YAML, which ``kubectl create -f`` reads."""
    return str(yaml.safe_dump_all(jobs, sort_keys=False))


def kubectl(*arguments: str, text: str = "") -> bytes:
    """Run kubectl with the user's configuration, and return its standard output; ``text`` is its standard input.

    Raises:
        UsageError: kubectl is not found.
        CoreError: it failed, or did not answer in two minutes.
    """
    try:
        done = subprocess.run(["kubectl", *arguments], input=text.encode(), capture_output=True, check=False,
                              timeout=_KUBECTL_S, start_new_session=True)  # fmt: skip
    except OSError as error:
        raise UsageError(f"--engine kubernetes: cannot run kubectl: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CoreError(f"kubectl {arguments[0]} did not answer in {_KUBECTL_S:.0f} s") from None
    if done.returncode != 0:
        lines = clean_text(done.stderr.decode(errors="replace")).strip().splitlines()
        raise CoreError(f"kubectl {arguments[0]} failed: {lines[-1] if lines else f'exit {done.returncode}'}")
    return done.stdout


@dataclass
class KubernetesEngine:
    """Measures nodes by the pods of Jobs.

    - ``work``: what each pod does; ``sink``: as in ``SshEngine``
    - ``at_once``: the maximum number of nodes that measure at the same time, None for any number
    """

    work: PodWork
    sink: Sink
    at_once: int | None = None
    _nodes: Sequence[Node] = ()
    # The time at which a node is given up.
    _deadlines: dict[int, float] = field(default_factory=dict)
    _started: set[int] = field(default_factory=set)
    _ended: set[int] = field(default_factory=set)
    # Why a node has not been measured yet.
    _reasons: dict[int, str] = field(default_factory=dict)
    _log_failures: Counter[int] = field(default_factory=Counter)
    _failures: int = 0

    def measure(self, nodes: Sequence[Node]) -> None:
        """Create the Jobs, collect the records of their pods, delete the Jobs, and tell the sink of each outcome.

        KeyboardInterrupt deletes the Jobs, too. A node is unreachable if its pod has not ended after the time for the
        measurement and twenty minutes.

        Raises:
            CoreError: kubectl failed several times.
        """
        self._nodes = nodes
        why = "the command was stopped"
        try:
            while len(self._ended) < len(nodes):
                try:
                    self._create_next()
                    self._collect()
                    self._failures = 0
                except CoreError as error:
                    self._failures += 1
                    if self._failures >= _MAX_FAILURES:
                        why = str(error)
                        raise
                self._give_up_late()
                sleep(_POLL_S)
        finally:
            for index in set(range(len(nodes))) - self._ended:
                self._end(index, "stopped", why)
            with suppress(CoreError):
                kubectl("delete", "jobs", "-l", f"{LABEL}={self.work.identity}", "--ignore-not-found", "--wait=false")

    def _create_next(self) -> None:
        """Create the Jobs of as many nodes as may measure now."""
        n_active = len(self._deadlines) - len(self._ended)
        n_new = len(self._nodes) if self.at_once is None else self.at_once - n_active
        indices = [index for index in range(len(self._nodes)) if index not in self._deadlines][: max(0, n_new)]
        if indices:
            jobs = [job_of(index, self._nodes[index], self.work) for index in indices]
            # Jobs of an attempt that failed in part stay as they are.
            kubectl("apply", "-f", "-", text=manifest_of(jobs))
            self._deadlines |= dict.fromkeys(indices, monotonic() + 2 * _START_S + self.work.deadline_s)

    def _collect(self) -> None:
        """Note which pods run, and read the logs of the pods that have ended."""
        items = _items(kubectl("get", "jobs,pods", "-l", f"{LABEL}={self.work.identity}", "-o", "json"))
        pods = {_index_of(item): item for item in items if item.get("kind") == "Pod"}
        failed_jobs = {_index_of(item) for item in items if item.get("kind") == "Job" and _has_failed(item)}
        ended = {}
        for index in self._deadlines.keys() - self._ended:
            status = pods[index].get("status", {}) if index in pods else {}
            phase, reason = status.get("phase"), _why_waiting(status)
            if reason:
                self._reasons[index] = reason
            if phase == "Running" and index not in self._started:
                self._started.add(index)
                self.sink.started(self._nodes[index].name, self.work.deadline_s)
            elif reason.startswith(_NEVER_STARTS):
                self._end(index, "cannot run", reason, "check --image")
            elif phase in ("Succeeded", "Failed"):
                ended[index] = pods[index]
            elif index not in pods and index in failed_jobs:
                self._end(index, "killed", "its pod was deleted", "measure it again with --resume")
        with ThreadPoolExecutor(_FAN_OUT) as pool:
            logs = pool.map(lambda pod: _log_of(pod["metadata"]["name"]), ended.values())
            for (index, pod), log in zip(ended.items(), logs, strict=True):
                self._read(index, pod["status"], log)

    def _read(self, index: int, status: Mapping[str, Any], log: bytes | CoreError) -> None:
        """Keep the records of a pod that has ended; another attempt follows if its log cannot be read."""
        if isinstance(log, CoreError):
            self._log_failures[index] += 1
            if self._log_failures[index] >= _MAX_FAILURES:
                self._end(index, "killed", str(log), "measure it again with --resume")
            return
        name = self._nodes[index].name
        if len(log) > MAX_RECORDS_BYTES:
            self._ended.add(index)
            self.sink.ended(too_large(name))
            return
        lines = log.splitlines(keepends=True)
        write_part(self.sink.part(name), [line for line in lines if line.startswith(b"{")])
        said = [clean_text(line.decode(errors="replace")).strip() for line in lines if not line.startswith(b"{")]
        states: list[dict[str, Any]] = [container.get("state", {}) for container in status.get("containerStatuses", [])]
        state = states[0].get("terminated", {}) if states else {}
        reason = str(status.get("reason") or state.get("reason") or "")
        message = next(filter(None, reversed(said)), "")
        message = reason if reason in ("DeadlineExceeded", "OOMKilled", "Evicted") else message
        self._ended.add(index)
        is_late = reason == "DeadlineExceeded"
        self.sink.collected(name, CoreEnd(str(state.get("exitCode", "killed")), message, is_late))

    def _give_up_late(self) -> None:
        for index in self._deadlines.keys() - self._ended:
            if monotonic() > self._deadlines[index]:
                reason = self._reasons.get(index, "no pod ended there in time")
                self._end(index, "unreachable", reason, "free its CPUs, or measure it later with --resume")

    def _end(self, index: int, outcome: Outcome, reason: str, advice: str = "") -> None:
        self._ended.add(index)
        self.sink.ended(HostOutcome(address=self._nodes[index].name, outcome=outcome, reason=reason, advice=advice))


def _items(text: bytes) -> list[dict[str, Any]]:
    try:
        return list(json.loads(text)["items"])
    except (ValueError, LookupError, TypeError):
        raise CoreError("kubectl get: its answer is not a list in JSON") from None


def _log_of(pod: str) -> bytes | CoreError:
    try:
        return kubectl("logs", pod, f"--limit-bytes={MAX_RECORDS_BYTES + 1}")
    except CoreError as error:
        return error


def _index_of(item: Mapping[str, Any]) -> int:
    text = str(item.get("metadata", {}).get("labels", {}).get(_INDEX, ""))
    return int(text) if text.isdecimal() else -1


def _has_failed(job: Mapping[str, Any]) -> bool:
    conditions = job.get("status", {}).get("conditions", [])
    return any(condition.get("type") == "Failed" and condition.get("status") == "True" for condition in conditions)


def _why_waiting(status: Mapping[str, Any]) -> str:
    """Return why a pod does not run, "" if it does or the cluster does not say."""
    for container in status.get("containerStatuses", []):
        waiting = container.get("state", {}).get("waiting", {})
        if waiting.get("message"):
            return clean_text(f"{waiting.get('reason', '')}: {waiting['message']}")
    for condition in status.get("conditions", []):
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return clean_text(str(condition.get("message", "")))
    return ""


def _mcpu(text: str) -> int:
    """Return a quantity of CPUs in thousandths; 0 if it is not one."""
    match = _QUANTITY.fullmatch(text)
    return int(float(match[1]) * (1 if match[2] else 1000)) if match else 0
