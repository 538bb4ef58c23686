"""The metadata services of clouds: asked only on request, at their own addresses, in a network of the test's own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from recorded_runs import quiet_file

SERVER = """
import http.server, json, sys
answers = json.loads(sys.argv[1])
class Handler(http.server.BaseHTTPRequestHandler):
    def reply(self):
        wanted = answers.get(self.command + " " + self.path)
        names = {name.lower(): value for name, value in self.headers.items()}
        good = wanted and all(names.get(name.lower()) == value for name, value in wanted["headers"].items())
        body = wanted["body"].encode("latin-1") if good else b"no"
        self.send_response(200 if good else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        print(self.command, self.path, file=sys.stderr, flush=True)
    do_GET = do_PUT = reply
    def log_message(self, *words):
        pass
server = http.server.HTTPServer((sys.argv[2], 80), Handler)
print("ready", flush=True)
server.serve_forever()
"""
ASK = "from nameplate.execution.cloud_metadata import ask_metadata; print(repr(ask_metadata()))"
LINK_LOCAL, ALIBABA = "169.254.169.254", "100.100.100.200"
AWS = {
    "PUT /latest/api/token": {"headers": {"X-aws-ec2-metadata-token-ttl-seconds": "60"}, "body": "secret"},
    "GET /latest/meta-data/instance-type": {"headers": {"X-aws-ec2-metadata-token": "secret"}, "body": "c7i.large\n"},
}
AZURE = {
    "GET /metadata/instance/compute/vmSize?api-version=2021-02-01&format=text":
        {"headers": {"Metadata": "true"}, "body": "Standard_D4s_v5"},
}  # fmt: skip
GOOGLE = {
    "GET /computeMetadata/v1/instance/machine-type":
        {"headers": {"Metadata-Flavor": "Google"}, "body": "projects/123/machineTypes/n2-standard-4"},
}  # fmt: skip
ALIYUN = {"GET /latest/meta-data/instance/instance-type": {"headers": {}, "body": "ecs.g7.xlarge"}}


def asked(folder: Path, address: str, answers: object, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a network with a server at an address of the loopback, and return what it printed."""
    (folder / "server.py").write_text(SERVER)
    script = f"""
        ip link set lo up; ip addr add {address}/32 dev lo
        python3 server.py '{json.dumps(answers)}' {address} > ready 2> requests &
        until grep -q ready ready; do sleep 0.05; done
        "$@"; code=$?; kill $!; exit $code
    """
    return subprocess.run(
        ["unshare", "--net", "bash", "-c", script, "bash", *command], cwd=folder, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("address", "answers", "name"),
    [
        (LINK_LOCAL, AWS, "c7i.large"),
        (LINK_LOCAL, AZURE, "Standard_D4s_v5"),
        (LINK_LOCAL, GOOGLE, "n2-standard-4"),
        (ALIBABA, ALIYUN, "ecs.g7.xlarge"),
        (LINK_LOCAL, {}, ""),
        (LINK_LOCAL, {"GET /computeMetadata/v1/instance/machine-type": {"headers": {}, "body": "bad\x1b[31m"}}, ""),
        (LINK_LOCAL, {"GET /computeMetadata/v1/instance/machine-type": {"headers": {}, "body": "\xff"}}, ""),
    ],
    ids=["aws", "azure", "google", "alibaba", "none", "control characters", "not ASCII"],
)
def test_each_cloud_tells_its_type(tmp_path: Path, address: str, answers: object, name: str) -> None:
    answer = asked(tmp_path, address, answers, sys.executable, "-c", ASK)
    assert answer.stdout.strip() == repr(name), answer.stderr


def test_without_a_network_nothing_is_known(tmp_path: Path) -> None:
    command = ["unshare", "--net", sys.executable, "-c", ASK]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert answer.stdout == "''\n"


def check(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    quiet_file("quick.jsonl", folder)
    return asked(folder, LINK_LOCAL, AWS, sys.executable, "-m", "nameplate", "check", "quick.jsonl", *options)


def test_nothing_is_asked_unless_the_user_wants_it(tmp_path: Path) -> None:
    answer = check(tmp_path)
    assert answer.returncode == 5, answer.stderr
    assert (tmp_path / "requests").read_text() == ""


def test_the_answer_is_taken_as_the_type(tmp_path: Path) -> None:
    answer = check(tmp_path, "--ask-metadata")
    assert (tmp_path / "requests").read_text() == "PUT /latest/api/token\nGET /latest/meta-data/instance-type\n"
    assert answer.returncode == 0, answer.stderr
    assert "machine: aws c7i.large (from the metadata)" in answer.stdout
    assert "had another CPU: Intel" in answer.stdout


def test_no_answer_is_an_error(tmp_path: Path) -> None:
    quiet_file("quick.jsonl", tmp_path)
    command = ["unshare", "--net", sys.executable, "-m", "nameplate", "check", "quick.jsonl", "--ask-metadata"]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 2
    assert answer.stderr.startswith("nameplate: --ask-metadata: no metadata service answered; give the instance type")
