"""Measure the time, CPU and memory of `fleet run` with 400 hosts of a real sshd, and 10,000 of a stand-in for ssh.

python bench/cost/fleet_ssh.py [HOSTS [STAND_IN_HOSTS]]      needs root: the sshd is in namespaces of its own

The hosts of sshd are loopback addresses, each with a home of its own. A stand-in for ssh answers after up to a second;
one host in a hundred fails in each of five ways. In place of a measurement, hosts print a run that was
measured on this machine before.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from nameplate.execution.launch import core_path
from nameplate.fleet.fleet_folder import FleetFolder

ROOT = Path(__file__).parents[2]
NAMEPLATE = Path(sys.executable).with_name("nameplate")
LIBRARIES = ":".join(str(ROOT / ".venv/sshd" / lib / "x86_64-linux-gnu") for lib in ("lib", "usr/lib"))
SSHD = next(path for path in (Path("/usr/sbin/sshd"), ROOT / ".venv/sshd/usr/sbin/sshd") if path.exists())
# Reads the script of the controller, and answers as a host does. The number of a host decides whether and how it fails.
STAND_IN = """#!/bin/sh
for host; do [ "${host#web}" = "$host" ] || number=${host#web}; done
number=$(echo "$number" | sed 's/^0*//')  # a number that begins with 0 is octal
script=$(head -c 6000)
eval "$(printf '%s\\n' "$script" | grep -m 3 '^token=\\|^stop=')"
sleep "0.$((number % 10))"
case $((number % 100)) in
1) echo "ssh: connect to host: Connection timed out" >&2; exit 255 ;;
2) echo "Permission denied (publickey)." >&2; exit 255 ;;
3) echo "Host key verification failed." >&2; exit 255 ;;
4) echo "$token need riscv64 /dev/sda"; exit 0 ;;
5) echo "$token failed space /root"; exit 0 ;;
esac
case $script in
*"say running"*) echo "$token exit 0"; echo "$token records"
  sed "s/\\"hostname\\":\\"[^\\"]*\\"/\\"hostname\\":\\"h$number\\"/" "$RECORDED"; echo; echo "$token end"; read -r _ ;;
*) echo "$token started" ;;
esac
"""


def fleet(hosts: str, folder: Path, *options: str | Path, **environment: str) -> None:
    """Run `nameplate fleet run` and print what it cost and how many hosts had each outcome."""
    command = [NAMEPLATE, "fleet", "run", "--hosts", hosts, "-o", folder, "--budget", "1s", "-q", *options]
    start_s = time.perf_counter()
    with (folder.parent / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **environment})
        _, _, usage = os.wait4(process.pid, 0)
    took_s = time.perf_counter() - start_s
    outcomes = Counter(outcome.outcome for outcome in FleetFolder.open(folder).outcomes.values())
    cpu_s = usage.ru_utime + usage.ru_stime
    print(f"{took_s:.0f} s, {cpu_s:.0f} s of CPU in the controller, {usage.ru_maxrss / 1e3:.0f} MB: {dict(outcomes)}")


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
    (folder / "config").write_text(
        f"Port 22\nListenAddress 0.0.0.0\nHostKey {folder}/hostkey\nPidFile none\nUsePAM no\nStrictModes no\n"
        f"PermitRootLogin yes\nAuthorizedKeysFile {folder}/authorized\nForceCommand {folder}/session\n"
    )
    (folder / "known").write_text(f"* {(folder / 'hostkey.pub').read_text()}")
    programs = folder / "bin"
    programs.mkdir()
    options = f"-i {folder}/key -o UserKnownHostsFile={folder}/known"
    (programs / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} {options} "$@"\n')
    core = programs / "core"
    core.write_text(f"""#!/bin/sh
[ "$1" = --version ] && exit 0
sed "s/\\"hostname\\":\\"[^\\"]*\\"/\\"hostname\\":\\"h${{HOME##*/}}\\"/" {recorded}
""")
    for program in programs.iterdir():
        program.chmod(0o755)
    sshd = subprocess.Popen([SSHD, "-D", "-f", folder / "config"], env={**os.environ, "LD_LIBRARY_PATH": LIBRARIES})
    time.sleep(1)
    names = folder / "hosts"
    names.write_text("".join(f"127.1.{number // 250}.{number % 250 + 1}\n" for number in range(hosts)))
    try:
        fleet(str(names), folder / "fleet", "--in-place", core, PATH=f"{programs}:{os.environ['PATH']}")
    finally:
        sshd.terminate()
        sshd.wait()
    print(
        f"left in /var/tmp and in the homes: {[*Path('/var/tmp').glob('nameplate-*'), *folder.glob('homes/*/.cache')]}"
    )


def main() -> None:
    """Measure the hosts of sshd in namespaces of their own, then those of the stand-in."""
    if len(sys.argv) > 3:
        real_sshd(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
        return
    hosts = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    stand_ins = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder, recorded = Path(name), Path(name) / "recorded.jsonl"
        with recorded.open("wb") as file:
            subprocess.run([core_path(), "quick"], check=True, stdout=file, stderr=subprocess.DEVNULL)
        for part in ("sshd", "stand-in"):
            (folder / part).mkdir()
        print(f"{hosts} hosts of a real sshd: ", end="", flush=True)
        inside = [sys.executable, __file__, str(hosts), str(folder / "sshd"), str(recorded)]
        subprocess.run(["unshare", "--mount", "--net", *inside], check=True)
        print(f"{stand_ins} hosts of a stand-in for ssh: ", end="", flush=True)
        programs = folder / "bin"
        programs.mkdir()
        (programs / "ssh").write_text(STAND_IN)
        (programs / "ssh").chmod(0o755)
        fleet(f"web[00001-{stand_ins:05}]", folder / "stand-in" / "fleet", PATH=f"{programs}:{os.environ['PATH']}",
              RECORDED=str(recorded))  # fmt: skip


if __name__ == "__main__":
    main()
