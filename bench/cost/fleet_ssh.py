"""Measure the time, CPU and memory of `fleet run` with 400 hosts of a real sshd, and 10,000 of a stand-in for ssh.

python bench/cost/fleet_ssh.py [HOSTS [STAND_IN_HOSTS [KILLS]]]      needs root: the sshd is in namespaces of its own

The hosts of sshd are loopback addresses, each with a home of its own, to which a program of the size of the core is
sent. A stand-in for ssh answers after up to a second; one host in a hundred fails in each of ten ways. In place of a
measurement, hosts print a run that was measured on this machine before. The fleet of the stand-in is measured a second
time by a controller that is killed five times (KILLS) and continued with --resume. The outcome of each host is
checked. Memory is the proportional set size of the controller and of the processes that check records, without ssh.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from nameplate.execution.launch import core_path
from nameplate.fleet.fleet_folder import FleetFolder
from nameplate.results.digest import values_version
from nameplate.results.run_file import read_digest

ROOT = Path(__file__).parents[2]
NAMEPLATE = Path(sys.executable).with_name("nameplate")
LIBRARIES = ":".join(str(ROOT / ".venv/sshd" / lib / "x86_64-linux-gnu") for lib in ("lib", "usr/lib"))
SSHD = next(path for path in (Path("/usr/sbin/sshd"), ROOT / ".venv/sshd/usr/sbin/sshd") if path.exists())
# The outcome of a host whose number ends with these two digits; all others are measured.
FAILURES = {
    1: "unreachable", 2: "refused", 3: "unknown host key", 4: "no core", 5: "cannot run", 6: "cannot run",
    7: "no space", 8: "busy", 9: "killed", 10: "timed out",
}  # fmt: skip
# Reads the script of the controller, and answers as a host does. Programs that it starts would take most of the time.
STAND_IN = """#!/bin/bash
for host; do [[ $host == web* ]] && number=$((10#${host#web})); done
IFS= read -r -N 6000 script
[[ $script =~ token=([0-9a-f]+) ]]; token=${BASH_REMATCH[1]}
sleep "0.$((number % 10))"
answer() { echo "$token exit $1"; echo "$token records gzip"; cat "$RECORDED/$2"; echo; echo "$token end"; read -r _; }
case $((number % 100)) in
1) echo "ssh: connect to host: Connection timed out" >&2; exit 255 ;;
2) echo "Permission denied (publickey)." >&2; exit 255 ;;
3) echo "Host key verification failed." >&2; exit 255 ;;
4) echo "$token need riscv64 /dev/sda"; exit 0 ;;
5) echo "$token failed core /root/core /root/core: version GLIBC_2.36 not found"; exit 0 ;;
6) echo "$token failed core /root/core Permission denied"; exit 0 ;;
7) echo "$token failed space /root"; exit 0 ;;
esac
case $script in
*'say running'*)
  case $((number % 100)) in
  8) answer 0 busy ;;
  9) answer 137 half ;;
  10) case $script in *stop=1*) echo "$token ended"; answer 143 half ;; *) echo "$token running" ;; esac ;;
  *) answer 0 measured ;;
  esac ;;
*) echo "$token started" ;;
esac
"""
# Runs a script, which prints the run with another host name in each home.
SENT = """#include <string.h>
#include <unistd.h>
int main(int n, char **arguments) {
    if (n > 1 && strcmp(arguments[1], "--version") == 0) return 0;
    return execl("SCRIPT", "SCRIPT", (char *)0);
}
"""


def pss_mb(root: int) -> float:
    """Return the memory in MB of a process and of its descendants that are Python, shared pages divided."""
    total, pids = 0.0, [root]
    while pids:
        pid = pids.pop()
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            if "python" in Path(f"/proc/{pid}/exe").readlink().name:
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                total += next(float(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6
            pids += map(int, children)
        except OSError:  # it has just ended
            continue
    return total


def run(
    folder: Path, arguments: Sequence[str | Path], environment: Mapping[str, str], kill_after_s: float | None = None
) -> str:  # fmt: skip
    """Run `nameplate fleet run` and return what it cost; with ``kill_after_s`` it is killed then."""
    start_s, peak_mb = time.perf_counter(), 0.0
    with (folder.parent / "output").open("ab") as output:
        process = subprocess.Popen([NAMEPLATE, "fleet", "run", *arguments, "-q"], stdout=output, stderr=output,
                                   env={**os.environ, **environment})  # fmt: skip
        cpu = Path(f"/proc/{process.pid}/stat")
        self_s = 0.0
        while process.poll() is None:
            peak_mb = max(peak_mb, pss_mb(process.pid))
            fields = cpu.read_text().rsplit(")", 1)[1].split() if cpu.exists() else []
            self_s = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK") if fields else self_s
            if kill_after_s is not None and time.perf_counter() - start_s > kill_after_s:
                process.send_signal(signal.SIGKILL)
            time.sleep(0.25)
    took_s = time.perf_counter() - start_s
    return f"{took_s:.0f} s, {self_s:.0f} s of CPU in the controller itself, {peak_mb:.0f} MB"


def outcomes_of(folder: Path) -> str:
    """Return how many hosts have each outcome, and how many of the runs have a current digest."""
    fleet = FleetFolder.open(folder)
    digests = sum(read_digest(path, values_version()) is not None for path in fleet.addresses)
    return f"{dict(Counter(end.outcome for end in fleet.outcomes.values()))}, {digests} digests"


def wrong_rows(folder: Path, hosts: int) -> list[str]:
    """Return the hosts of the stand-in whose outcome is missing or wrong."""
    outcomes = FleetFolder.open(folder).outcomes
    wrong = []
    for number in range(1, hosts + 1):
        end = outcomes.get(f"web{number:05}")
        expected = FAILURES.get(number % 100, "measured")
        if end is None or end.outcome != expected:
            wrong.append(f"web{number:05}: {end and end.outcome}, not {expected}")
    return wrong


def real_sshd(hosts: int, folder: Path, recorded: Path) -> None:
    """Measure hosts that are loopback addresses of one sshd; this process must be in its namespaces."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for name in ("key", "hostkey"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    users = Path("/etc/passwd").read_text()
    (folder / "passwd").write_text(f"{users}sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n")
    subprocess.run(["mount", "--bind", folder / "passwd", "/etc/passwd"], check=True)
    Path("/run/sshd").mkdir(exist_ok=True)
    (folder / "authorized").write_text((folder / "key.pub").read_text())
    (folder / "session").write_text(
        f'#!/bin/sh\nset -- $SSH_CONNECTION\nHOME={folder}/homes/$3; export HOME; mkdir -p "$HOME"\n'
        'exec sh -c "$SSH_ORIGINAL_COMMAND"\n'
    )
    (folder / "session").chmod(0o755)
    # MaxStartups is the default.
    (folder / "config").write_text(
        f"Port 22\nListenAddress 0.0.0.0\nHostKey {folder}/hostkey\nPidFile none\nUsePAM no\nStrictModes no\n"
        f"PermitRootLogin yes\nAuthorizedKeysFile {folder}/authorized\nForceCommand {folder}/session\n"
    )
    (folder / "known").write_text(f"* {(folder / 'hostkey.pub').read_text()}")
    programs = folder / "bin"
    programs.mkdir()
    options = f"-i {folder}/key -o UserKnownHostsFile={folder}/known"
    (programs / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} {options} "$@"\n')
    (programs / "ssh").chmod(0o755)
    core, source, script = folder / "core", folder / "sent.c", folder / "print"
    script.write_text(f"""#!/bin/sh
exec sed "s/\\"hostname\\":\\"[^\\"]*\\"/\\"hostname\\":\\"h${{HOME##*/}}\\"/" {recorded}
""")
    script.chmod(0o755)
    source.write_text(SENT.replace("SCRIPT", str(script)))
    subprocess.run(["cc", "-static", "-o", core, source], check=True)
    os.truncate(core, max(core.stat().st_size, core_path().stat().st_size))
    sshd = subprocess.Popen([SSHD, "-D", "-f", folder / "config"], env={**os.environ, "LD_LIBRARY_PATH": LIBRARIES})
    time.sleep(1)
    names = folder / "hosts"
    names.write_text("".join(f"127.1.{number // 250}.{number % 250 + 1}\n" for number in range(hosts)))
    fleet = folder / "fleet"
    try:
        arguments: list[str | Path] = ["--hosts", names, "-o", fleet, "--budget", "1s", "--core", core]
        print(run(fleet, arguments, {"PATH": f"{programs}:{os.environ['PATH']}"}), outcomes_of(fleet))
    finally:
        sshd.terminate()
        sshd.wait()
    homes = [path.relative_to(folder / "homes") for path in folder.glob("homes/*/**/*") if path.is_file()]
    kinds = Counter(str(Path(*path.parts[1:]))[:27] for path in homes)
    print(f"left in the homes: {dict(kinds)}; in /var/tmp: {[*Path('/var/tmp').glob('nameplate-*')]}")


def stand_ins(hosts: int, kills: int, folder: Path, recorded: Path) -> None:
    """Measure hosts of the stand-in, once undisturbed and once with a controller that is killed."""
    programs, answers = folder / "bin", folder / "answers"
    for directory in (programs, answers):
        directory.mkdir(parents=True)
    (programs / "ssh").write_text(STAND_IN)
    (programs / "ssh").chmod(0o755)
    measured = recorded.read_bytes()
    half = measured[: measured.index(b"\n", len(measured) // 2) + 1]
    for name, records in {"measured": measured, "half": half, "busy": busy_run()}.items():
        zipped = subprocess.run("gzip -1 | base64 -w 3000", shell=True, check=True, input=records, capture_output=True)
        (answers / name).write_bytes(zipped.stdout)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "RECORDED": str(answers)}
    names = ("--hosts", f"web[00001-{hosts:05}]", "--budget", "1s")
    undisturbed, killed = folder / "fleet", folder / "killed"
    start_s = time.perf_counter()
    print(
        run(undisturbed, [*names, "-o", undisturbed], environment),
        outcomes_of(undisturbed),
        "wrong rows:",
        wrong_rows(undisturbed, hosts),
    )
    took_s = time.perf_counter() - start_s
    shutil.rmtree(undisturbed)
    for number in range(kills):
        which = ("--resume", killed) if number else (*names, "-o", killed)
        run(killed, which, environment, took_s / (kills + 1))
        left = subprocess.run(["pgrep", "-fc", "spawn_main"], check=False, capture_output=True, text=True).stdout
        print(f"killed after {took_s / (kills + 1):.0f} s: {outcomes_of(killed)}; {left.strip()} processes left")
    if kills:
        print("continued:", run(killed, ["--resume", killed], environment), outcomes_of(killed),
              "wrong rows:", wrong_rows(killed, hosts))  # fmt: skip


def busy_run() -> bytes:
    """Return a run that was measured while other programs took the CPUs."""
    spinners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in os.sched_getaffinity(0)]
    try:
        return quick()
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def quick() -> bytes:
    """Return a run of the core's plan quick with a round."""
    return subprocess.run(
        [core_path(), "quick", "--budget", "1s"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ).stdout


def main() -> None:
    """Measure the hosts of sshd in namespaces of their own, then those of the stand-in."""
    if len(sys.argv) > 4:
        real_sshd(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
        return
    hosts, n_stand_ins, kills = (
        int(sys.argv[index]) if len(sys.argv) > index else default for index, default in ((1, 400), (2, 10_000), (3, 5))
    )
    with tempfile.TemporaryDirectory() as name:
        folder, recorded = Path(name), Path(name) / "recorded.jsonl"
        recorded.write_bytes(quick())
        (folder / "sshd").mkdir()
        if hosts:
            print(f"{hosts} hosts of a real sshd: ", end="", flush=True)
            inside = [sys.executable, __file__, str(hosts), str(folder / "sshd"), str(recorded), "inside"]
            subprocess.run(["unshare", "--mount", "--net", *inside], check=True)
        if n_stand_ins:
            print(f"{n_stand_ins} hosts of a stand-in for ssh: ", end="", flush=True)
            stand_ins(n_stand_ins, kills, folder / "stand-in", recorded)


if __name__ == "__main__":
    main()
