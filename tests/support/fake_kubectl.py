"""Act as kubectl and as the cluster behind it, for ``nameplate fleet run --engine kubernetes``.

The answers have the fields of Kubernetes' API (v1.31) that the engine reads. The directory in FAKE_CLUSTER has
``cluster.json``: the nodes with their taints and daemons, and how the pod of each node behaves ("ok", "fail", "image",
"pending", "killed"); ``run.jsonl``, the records that a pod prints; and the state of the cluster. A pod is pending, then
running, then ended, each for one call. ``calls`` lists the arguments of all calls.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

HERE = Path(os.environ["FAKE_CLUSTER"])


def answer(arguments: list[str]) -> int:
    """Print the answer to a call, and return the exit code."""
    with (HERE / "calls").open("a") as calls:
        calls.write(" ".join(arguments) + "\n")
    cluster = json.loads((HERE / "cluster.json").read_text())
    match arguments:
        case ["get", "pods", "--all-namespaces", "-o", _]:
            for name, node in cluster["nodes"].items():
                print(f"{name}\tDaemonSet\t{node.get('daemons', '100m 50m')}\n{name}\tReplicaSet\t1\n\tJob\t")
        case ["get", "nodes", "-o", "json"]:
            print(json.dumps({"items": [described(name, node) for name, node in cluster["nodes"].items()]}))
        case ["create", "-f", "-"]:
            jobs = [job for job in yaml.safe_load_all(sys.stdin) if job]
            save("jobs", jobs)
            save("pods", {})
        case ["get", "pods", "-l", _, "-o", "json"]:
            print(json.dumps({"items": advanced(cluster)}))
        case ["logs", pod, limit]:
            assert re.fullmatch(r"--limit-bytes=\d+", limit)
            print_log(pod, cluster)
        case ["delete", "jobs", "-l", *_]:
            save("jobs", [])
        case _:
            print(f"error: unknown command {arguments}", file=sys.stderr)
            return 1
    return 0


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
    items = []
    for job in load("jobs"):
        terms = job["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]  # fmt: skip
        active = 0
        for index, node in enumerate(terms[0]["matchExpressions"][0]["values"]):
            pod = f"{job['metadata']['name']}-{index}-abcde"
            behaviour = cluster["nodes"][node].get("pod", "ok")
            step = steps.get(pod, 0)
            active += step < 3
            if active > job["spec"]["parallelism"] and step == 0:
                break
            steps[pod] = step if behaviour == "pending" else min(step + 1, 3)
            items.append({"metadata": {"name": pod}, **state(node, behaviour, steps[pod])})
    save("pods", steps)
    return items


def state(node: str, behaviour: str, step: int) -> dict[str, Any]:
    if step < 1:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                     "message": "0/4 nodes are available: 1 Insufficient cpu."}  # fmt: skip
        return {"spec": {}, "status": {"phase": "Pending", "conditions": [condition]}}
    if behaviour == "image":
        waiting = {"waiting": {"reason": "ErrImagePull", "message": "not found"}}
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
    node = next(iter(_node_of(pod)))
    if cluster["nodes"][node].get("pod", "ok") == "ok":
        print((HERE / "run.jsonl").read_text().replace('"hostname":"vm"', f'"hostname":"{pod}"'), end="")
        print(f"{pod} · 2 cores\n\nCPU  fp64  116 GFLOP/s")
    else:
        print("nameplate-core: cannot do this")


def _node_of(pod: str) -> list[str]:
    job, index, _ = pod.rsplit("-", 2)
    term = next(entry for entry in load("jobs") if entry["metadata"]["name"] == job)["spec"]["template"]["spec"]
    affinity = term["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return [affinity["nodeSelectorTerms"][0]["matchExpressions"][0]["values"][int(index)]]


if __name__ == "__main__":
    sys.exit(answer(sys.argv[1:]))
