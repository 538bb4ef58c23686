"""Measure the nodes of a Kubernetes cluster by an Indexed Job with one pod per node, driven by kubectl.

Nodes with different numbers of free CPUs get a Job each, since the pods of a Job request the same resources. The log of
a pod has the records, and the API server says on which node it ran, so no pod can report under another node's name.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

import yaml  # type: ignore[import-untyped]

from nameplate.control_characters import clean_text
from nameplate.errors import CoreError, UsageError
from nameplate.fleet.host_outcome import HostOutcome, core_outcome
from nameplate.fleet.remote import MAX_RECORDS_BYTES
from nameplate.fleet.sink import Sink

_POLL_S = 5.0
_KUBECTL_S = 120.0
# The logs that are read at the same time.
_FAN_OUT = 16
# The time for the scheduler and for the image, in addition to that of the measurement.
_START_S = 600.0
# The label of the pods of a fleet, whose value is its identity.
LABEL = "nameplate.fleet"
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
        daemons[node] += sum(map(_mcpu, cpus.split())) if kind == "DaemonSet" else 0
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
    ``deadline_s`` seconds after its start. At most ``at_once`` pods run at the same time, None for any number.
    """

    identity: str
    image: str
    command: Sequence[str]
    deadline_s: float
    at_once: int | None = None


def jobs_of(nodes: Sequence[Node], work: PodWork) -> list[dict[str, Any]]:
    """Return the manifests of the Jobs that do the work once on each node.

    Each pod requests the CPUs that the daemons of its node leave free, so that no other pod computes there at the same
    time. A Job has the nodes with equal numbers of free CPUs; with ``work.at_once`` there is only one Job, for the
    smallest number.
    """
    groups: dict[int, list[str]] = defaultdict(list)
    for node in nodes:
        groups[node.free_mcpu].append(node.name)
    if work.at_once is not None:
        groups = defaultdict(list, {min(groups): [node.name for node in nodes]})
    return [_job(number, names, f"{mcpu}m", work) for number, (mcpu, names) in enumerate(sorted(groups.items()))]


def _job(number: int, nodes: Sequence[str], cpus: str, work: PodWork) -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": "nameplate", LABEL: work.identity}
    is_one_of = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}
    container = {
        "name": "nameplate",
        "image": work.image,
        "command": list(work.command),
        "env": [{"name": "NAMEPLATE_NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "resources": {"requests": {"cpu": cpus, "memory": _MIN_MEMORY}},
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
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [is_one_of]}]
                }
            },
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {LABEL: work.identity}}, "topologyKey": "kubernetes.io/hostname"}
                ]
            },
        },
        "containers": [container],
        "volumes": [{"name": "files", "emptyDir": {}}, {"name": "temporary", "emptyDir": {}}],
    }  # fmt: skip
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"nameplate-{work.identity}-{number}", "labels": labels},
        "spec": {
            "completionMode": "Indexed",
            "completions": len(nodes),
            "parallelism": min(work.at_once or len(nodes), len(nodes)),
            # A pod that fails must not end those of other nodes.
            "backoffLimitPerIndex": 0,
            "maxFailedIndexes": len(nodes),
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

    - ``jobs``: the manifests (see ``jobs_of``); ``identity``: the value of the label by which their pods are found
    - ``sink``: as in ``SshEngine``; ``deadline_s``: the time in seconds for scheduling and measuring all of them
    """

    jobs: Sequence[Mapping[str, Any]]
    identity: str
    sink: Sink
    deadline_s: float
    _started: set[str] = field(default_factory=set)
    _ended: set[str] = field(default_factory=set)

    def measure(self, nodes: Sequence[str]) -> None:
        """Create the Jobs, collect the records of their pods, delete the Jobs, and tell the sink of each outcome.

        KeyboardInterrupt deletes the Jobs, too. A node on which no pod could run until the deadline is unreachable.

        Raises:
            CoreError: kubectl failed.
        """
        missing = HostOutcome(address="", outcome="stopped", reason="it had not begun to measure")
        try:
            kubectl("create", "-f", "-", text=manifest_of(self.jobs))
            deadline = monotonic() + self.deadline_s
            while not self._ended.issuperset(nodes):
                pods = _items(kubectl("get", "pods", "-l", f"{LABEL}={self.identity}", "-o", "json"))
                self._collect(pods)
                if monotonic() > deadline:
                    missing = HostOutcome(address="", outcome="unreachable", reason=_why_pending(pods),
                                          advice="free its CPUs, or measure it later with --resume")  # fmt: skip
                    return
                sleep(_POLL_S)
        finally:
            for node in nodes:
                if node not in self._ended:
                    self._end(_of(node, missing))
            kubectl("delete", "jobs", "-l", f"{LABEL}={self.identity}", "--ignore-not-found", "--wait=false")

    def _collect(self, pods: Sequence[Mapping[str, Any]]) -> None:
        """Note which pods run, and read the logs of those that have ended."""
        ended = {}
        for pod in pods:
            node, status = pod.get("spec", {}).get("nodeName", ""), pod.get("status", {})
            if not node or node in self._ended:
                continue
            if status.get("phase") == "Running" and node not in self._started:
                self._started.add(node)
                self.sink.started(node)
            elif reason := _failed_start(status):
                self._end(HostOutcome(address=node, outcome="cannot run", reason=reason,
                                      advice="check --image"))  # fmt: skip
            elif status.get("phase") in ("Succeeded", "Failed"):
                ended[node] = pod
        with ThreadPoolExecutor(_FAN_OUT) as pool:
            logs = pool.map(lambda pod: _log_of(pod["metadata"]["name"]), ended.values())
            for (node, pod), log in zip(ended.items(), logs, strict=True):
                self._end(self._outcome(node, pod["status"], log))

    def _outcome(self, node: str, status: Mapping[str, Any], log: bytes) -> HostOutcome:
        if len(log) > MAX_RECORDS_BYTES:
            return HostOutcome(address=node, outcome="invalid", reason=f"its log has more than "
                               f"{MAX_RECORDS_BYTES >> 20} MiB", advice="check the image")  # fmt: skip
        lines = log.split(b"\n")
        outcome = self.sink.records(node, [line for line in lines if line.startswith(b"{")])
        said = [clean_text(line.decode(errors="replace")).strip() for line in lines if not line.startswith(b"{")]
        message = next(filter(None, reversed(said)), "")
        states: list[dict[str, Any]] = [container.get("state", {}) for container in status.get("containerStatuses", [])]
        state = states[0].get("terminated", {}) if states else {}
        reason = str(status.get("reason") or state.get("reason") or "")
        message = reason if reason in ("DeadlineExceeded", "OOMKilled", "Evicted") else message
        return core_outcome(outcome, str(state.get("exitCode", "killed")), message, reason == "DeadlineExceeded")

    def _end(self, outcome: HostOutcome) -> None:
        self._ended.add(outcome.address)
        self.sink.ended(outcome)


def deadline_s(measured_s: float, n_nodes: int, at_once: int | None) -> float:
    """Return the time in seconds in which all nodes are measured, of which ``at_once`` measure at the same time.

    ``measured_s`` is the time after which the measurement of one node is ended.
    """
    turns = -(-n_nodes // (at_once or n_nodes)) if n_nodes else 1
    return _START_S + turns * measured_s


def _of(node: str, outcome: HostOutcome) -> HostOutcome:
    return HostOutcome(address=node, outcome=outcome.outcome, reason=outcome.reason, advice=outcome.advice)


def _items(text: bytes) -> list[dict[str, Any]]:
    try:
        return list(json.loads(text)["items"])
    except (ValueError, LookupError, TypeError):
        raise CoreError("kubectl get: its answer is not a list in JSON") from None


def _log_of(pod: str) -> bytes:
    try:
        return kubectl("logs", pod, f"--limit-bytes={MAX_RECORDS_BYTES + 1}")
    except CoreError as error:
        return str(error).encode()


def _failed_start(status: Mapping[str, Any]) -> str:
    """Return why the container of a pod cannot start, "" if it can or has not been tried."""
    for container in status.get("containerStatuses", []):
        waiting = container.get("state", {}).get("waiting", {})
        if waiting.get("reason") in ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerError"):
            return clean_text(f"{waiting['reason']}: {waiting.get('message', '')}").strip(": ")
    return ""


def _why_pending(pods: Sequence[Mapping[str, Any]]) -> str:
    messages = [
        str(condition.get("message", ""))
        for pod in pods
        for condition in pod.get("status", {}).get("conditions", [])
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False"
    ]
    return clean_text(next(filter(None, messages), "no pod ended there in time"))


def _mcpu(text: str) -> int:
    """Return a quantity of CPUs in thousandths; 0 if it is not one."""
    match = _QUANTITY.fullmatch(text)
    return int(float(match[1]) * (1 if match[2] else 1000)) if match else 0
