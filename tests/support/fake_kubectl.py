"""Act as kubectl and as the cluster behind it, for ``nameplate fleet run --engine kubernetes``.

The answers have the fields of Kubernetes' API (v1.31) that the engine reads. The directory in FAKE_CLUSTER has
``cluster.json``: the nodes with their taints and daemons, how the pod of each node behaves ("ok", "fail", "image",
"pending", "killed", "deleted"), and "failures", the number of calls of each kind that fail first; ``run.jsonl``, the
records that a pod prints; and the state of the cluster. A pod is pending, then running, then ended, each for one call.
``calls`` lists the arguments of all calls.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

HERE = Path(os.environ["FAKE_CLUSTER"])


def answer(arguments: list[str]) -> int:  # noqa: C901 (a list of commands)
    """Print the answer to a call, and return the exit code."""
    with (HERE / "calls").open("a") as calls:
        calls.write(" ".join(arguments) + "\n")
    cluster = json.loads((HERE / "cluster.json").read_text())
    if fails(arguments[0], cluster):
        print("Unable to connect to the server: net/http: TLS handshake timeout", file=sys.stderr)
        return 1
    match arguments:
        case ["get", "pods", "--all-namespaces", "-o", _]:
            for name, node in cluster["nodes"].items():
                print(f"{name}\tDaemonSet\t{node.get('daemons', '100m 50m')}\n{name}\tReplicaSet\t1\n\tJob\t")
        case ["get", "nodes", "-o", "json"]:
            print(json.dumps({"items": [described(name, node) for name, node in cluster["nodes"].items()]}))
        case ["apply", "-f", "-"]:
            jobs = {job["metadata"]["name"]: job for job in [*(load("jobs") or []), *yaml.safe_load_all(sys.stdin)]}
            save("jobs", [*jobs.values()])
        case ["get", "jobs,pods", "-l", _, "-o", "json"]:
            print(json.dumps({"items": advanced(cluster)}))
        case ["logs", pod, _]:
            print_log(pod, cluster)
        case ["delete", "jobs", "-l", *_]:
            save("jobs", [])
        case _:
            raise ValueError(arguments)
    return 0


def fails(kind: str, cluster: dict[str, Any]) -> bool:
    if cluster.get("failures", {}).get(kind, 0) == 0:
        return False
    cluster["failures"][kind] -= 1
    save("cluster", cluster)
    return True


def described(name: str, node: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"taints": node.get("taints", []), **({"unschedulable": True} if node.get("cordoned") else {})},
        "status": {"allocatable": {"cpu": node.get("cpu", "8"), "memory": "16Gi"}},
    }


def load(name: str) -> Any:
    path = HERE / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def save(name: str, value: Any) -> None:
    (HERE / f"{name}.json").write_text(json.dumps(value))


def advanced(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pods after another step of their life."""
    steps: dict[str, int] = load("pods")
    items: list[dict[str, Any]] = []
    for job in load("jobs") or []:
        node = node_of(job)
        behaviour = cluster["nodes"][node].get("pod", "ok")
        pod = f"{job['metadata']['name']}-abcde"
        steps[pod] = 0 if behaviour == "pending" else min(steps.get(pod, 0) + 1, 3)
        is_gone = behaviour == "deleted" and steps[pod] == 3
        conditions = [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}] if is_gone else []
        items.append({"kind": "Job", "metadata": job["metadata"], "status": {"conditions": conditions}})
        if not is_gone:
            labels = job["spec"]["template"]["metadata"]["labels"]
            metadata = {"name": pod, "labels": labels}
            items.append({"kind": "Pod", "metadata": metadata, **state(node, behaviour, steps[pod])})
    save("pods", steps)
    save("max_active", max(load("max_active") or 0, sum(0 < step < 3 for step in steps.values())))
    return items


def node_of(job: dict[str, Any]) -> str:
    affinity = job["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return str(term["matchFields"][0]["values"][0])


def state(node: str, behaviour: str, step: int) -> dict[str, Any]:
    if step < 1:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                     "message": "0/4 nodes are available: 1 Insufficient cpu."}  # fmt: skip
        return {"spec": {}, "status": {"phase": "Pending", "conditions": [condition]}}
    if behaviour == "image":
        waiting = {"waiting": {"reason": "InvalidImageName", "message": "couldn't parse image name"}}
        return {"spec": {"nodeName": node}, "status": {"phase": "Pending", "containerStatuses": [{"state": waiting}]}}
    if step < 3:
        phase = "Pending" if step == 1 else "Running"
        return {"spec": {"nodeName": node}, "status": {"phase": phase, "containerStatuses": []}}
    code = {"ok": 0, "fail": 2, "killed": 137}[behaviour]
    ended = {"exitCode": code, "reason": {0: "Completed", 2: "Error", 137: "OOMKilled"}[code]}
    status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [{"state": {"terminated": ended}}]}
    return {"spec": {"nodeName": node}, "status": status}


def print_log(pod: str, cluster: dict[str, Any]) -> None:
    """Print the records of a run on a host that has the name of the pod, and its messages."""
    job = next(entry for entry in load("jobs") if pod == f"{entry['metadata']['name']}-abcde")
    if cluster["nodes"][node_of(job)].get("pod", "ok") == "ok":
        print((HERE / "run.jsonl").read_text().replace('"hostname":"vm"', f'"hostname":"{pod}"'), end="")
        print(f"{pod} · 2 cores\n\nCPU  fp64  116 GFLOP/s")
    else:
        print("nameplate-core: cannot do this")


if __name__ == "__main__":
    sys.exit(answer(sys.argv[1:]))
