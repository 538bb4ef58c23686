"""Run a private sshd whose loopback addresses are hosts with a home directory each."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

VENV = Path(__file__).parents[2] / ".venv"
# sshd listens on at most 16 addresses.
ADDRESSES = [f"127.0.77.{number}" for number in range(1, 17)]


def sshd_path() -> Path | None:
    """Return the path of sshd: that of the system, or the one that script/bootstrap test unpacks; None without one."""
    return next((path for path in (Path("/usr/sbin/sshd"), VENV / "sshd/usr/sbin/sshd") if path.exists()), None)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESSES[0], 0))
        return int(probe.getsockname()[1])


@contextmanager
def private_sshd(folder: Path, mounts: Mapping[str, str] | None = None, profile: str = "") -> Iterator[Path]:
    """Yield a folder with a program ``ssh`` that reaches the addresses; ``folder / "homes"`` has their homes.

    Each address is a host that logs in as this user. ``mounts`` has the options of a tmpfs on the homes of some
    addresses, such as ``noexec``; it needs root. ``profile`` is shell text that each login runs first.
    """
    sshd = sshd_path()
    assert sshd is not None
    homes, port = folder / "homes", _free_port()
    for name in ("key", "hostkey"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    for address in ADDRESSES:
        (homes / address).mkdir(parents=True)
    session = folder / "session"
    session.write_text(f"""#!/bin/sh
set -- $SSH_CONNECTION
HOME={homes}/$3; export HOME; cd "$HOME"
{profile}
exec sh -c "$SSH_ORIGINAL_COMMAND"
""")
    session.chmod(0o755)
    (folder / "authorized").write_text((folder / "key.pub").read_text())
    (folder / "sshd_config").write_text("\n".join([
        f"Port {port}", *(f"ListenAddress {address}" for address in ADDRESSES), f"HostKey {folder}/hostkey",
        "PidFile none", "UsePAM no", "StrictModes no", "PermitRootLogin yes", "PasswordAuthentication no",
        f"AuthorizedKeysFile {folder}/authorized", f"ForceCommand {session}", "",
    ]))  # fmt: skip
    host_key = (folder / "hostkey.pub").read_text()
    (folder / "known_hosts").write_text("".join(f"[{address}]:{port} {host_key}" for address in ADDRESSES))
    (folder / "ssh_config").write_text(
        f"Host *\nPort {port}\nIdentityFile {folder}/key\nIdentitiesOnly yes\nUserKnownHostsFile {folder}/known_hosts\n"
    )
    programs = folder / "bin"
    programs.mkdir()
    (programs / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
    (programs / "ssh").chmod(0o755)
    with _started(folder, _command(folder, sshd, mounts or {}), port):
        yield programs


def _command(folder: Path, sshd: Path, mounts: Mapping[str, str]) -> Sequence[str]:
    start = f"exec {sshd} -D -e -f {folder}/sshd_config"
    if os.geteuid() != 0:
        return ["sh", "-c", start]
    # As root, sshd needs a user of its own; it exists in this mount namespace only.
    users = Path("/etc/passwd").read_text()
    (folder / "passwd").write_text(f"{users}sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n")
    steps = [f"mount --bind {folder}/passwd /etc/passwd", "mkdir -p /run/sshd"]
    steps += [
        f"mount -t tmpfs -o {options} none {folder}/homes/{address}" for address, options in mounts.items()
    ]  # fmt: skip
    return ["unshare", "--mount", "sh", "-c", " && ".join([*steps, start])]


@contextmanager
def _started(folder: Path, command: Sequence[str], port: int) -> Iterator[None]:
    libraries = ":".join(str(VENV / "sshd" / lib / "x86_64-linux-gnu") for lib in ("lib", "usr/lib"))
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
    with (folder / "sshd.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        deadline = time.monotonic() + 20
        while True:
            with socket.socket() as probe:
                if probe.connect_ex((ADDRESSES[0], port)) == 0:
                    break
            assert time.monotonic() < deadline, (folder / "sshd.log").read_text()
            assert process.poll() is None, (folder / "sshd.log").read_text()
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)
