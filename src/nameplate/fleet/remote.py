"""The scripts that hosts of a fleet run, and the answers that they print.

A host needs a POSIX shell and the usual small programs only. ssh's remote command is the same fixed text for every
host (``COMMAND``), which sh, dash, csh and fish understand; script and parameters arrive on standard input, so that no
name from outside is ever part of a command line.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameplate.fleet.sink import MAX_RECORDS_BYTES

# dash reads its standard input ahead, so the script is read by dd, which takes no byte more.
SCRIPT_BYTES = 6000
COMMAND = f"""exec sh -c 'eval "$(dd bs=1 count={SCRIPT_BYTES} 2>/dev/null)"'"""
_TAIL_BYTES = 1000
_STOP_S = 20

_COMMON = r"""
say() { printf '\n%s\n' "$token $*"; }
dir=${XDG_CACHE_HOME:-$HOME/.cache}/nameplate
work=
find_work() {
  for base in /var/tmp /tmp; do
    [ -O "$base/nameplate-$id" ] && work=$base/nameplate-$id
  done
}
find_work
"""

_START = r"""
[ -z "$work" ] || { say started; exit 0; }
part=
new=
trap 'rm -rf "$part" "$new"' EXIT
core=$installed
if [ -z "$core" ]; then
  core=$dir/core-$sha
  if [ "$size" -gt 0 ]; then
    mkdir -p "$dir" 2>/dev/null || { say failed cache "$dir"; exit 0; }
    part=$dir/.part-$id-$$
    { head -c "$size" >"$part" && chmod 700 "$part"; } 2>/dev/null || { say failed space "$dir"; exit 0; }
    [ "$(sha256sum <"$part" | cut -c 1-64)" = "$sha" ] || { say failed transfer "$dir"; exit 0; }
    # Other hosts that share this home may run the file that is there.
    [ -f "$core" ] && [ "$(sha256sum <"$core" | cut -c 1-64)" = "$sha" ] || mv -f "$part" "$core" ||
      { say failed cache "$dir"; exit 0; }
  fi
  ls "$dir" >/dev/null 2>&1
  if [ ! -f "$core" ] || [ "$(sha256sum <"$core" | cut -c 1-64)" != "$sha" ]; then
    say need "$(uname -m)" "$(df -P "$HOME" 2>/dev/null | tail -n 1 | cut -d ' ' -f 1)"
    exit 0
  fi
fi
[ -f "$core" ] || { say failed missing "$core"; exit 0; }
reason=$("$core" --version 2>&1 >/dev/null) ||
  { say failed core "$core" "$(printf %s "$reason" | tr '\n' ' ')"; exit 0; }
for base in /var/tmp /tmp; do
  new=$base/nameplate-$id-$$
  mkdir -m 700 "$new" 2>/dev/null && mkdir "$new/files" 2>/dev/null && break
  rmdir "$new" 2>/dev/null
  new=
done
[ -n "$new" ] || { say failed space /var/tmp; exit 0; }
if [ "$asks" = 1 ]; then
  say machine
  "$core" --machine 2>/dev/null
  say asks
  IFS= read -r bytes || exit 0
  head -c "$bytes" >"$new/request" 2>/dev/null || { say failed space "$base"; exit 0; }
  [ "$(wc -c <"$new/request")" -eq "$bytes" ] || exit 0
else
  # Without an answer, the controller has been stopped.
  say ready
  IFS= read -r answer && [ "$answer" = "$token" ] || exit 0
fi
work=$base/nameplate-$id
mv "$new" "$work" || { say failed space "$base"; exit 0; }
new=
detach=$(command -v setsid || echo nohup)
$detach sh -c 'cd "$1/files" || exit; shift 1
"$@" >../records 2>../messages </dev/null & echo $! >../pid; wait $!; echo $? >../exit' sh "$work" "$core" $arguments \
  >/dev/null 2>&1 </dev/null &
say started
"""

_COLLECT = r"""
if [ "$stop" = 1 ] && [ -z "$work" ]; then
  sleep 1 # it may just be made
  find_work
fi
[ -n "$work" ] || { say gone; exit 0; }
pid=$(cat "$work/pid" 2>/dev/null)
if [ "$stop" = 1 ] && [ -z "$pid" ]; then
  sleep 1 # it may just be starting
  pid=$(cat "$work/pid" 2>/dev/null)
fi
# After a reboot, the number may be that of another process.
runs() { [ ! -f "$work/exit" ] && [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd")" = "$work/files" ]; }
waited=0
if [ "$stop" = 1 ]; then
  runs && kill -TERM "$pid" && say ended
  while runs && [ "$waited" -lt "$seconds" ]; do sleep 1; waited=$((waited + 1)); done
  runs && kill -KILL "$pid"
elif runs; then
  say running
  exit 0
fi
say exit "$(cat "$work/exit" 2>/dev/null || echo killed)"
tail -c "$tail" "$work/messages" 2>/dev/null | while IFS= read -r line; do say message "$line"; done
if [ "$( { printf x | gzip -1 | base64 -w 3000 | base64 -d | gzip -dc; } 2>/dev/null)" = x ]; then
  say records gzip
  head -c "$limit" "$work/records" 2>/dev/null | gzip -1 | base64 -w 3000
else
  say records
  head -c "$limit" "$work/records" 2>/dev/null
fi
printf '\n'
say end
IFS= read -r answer && [ "$answer" = "$token" ] && rm -rf "$work"
"""

_REMOVE = r"""
[ -z "$work" ] || { say failed; exit 0; }
rm -f "$dir"/core-* && rmdir "$dir" 2>/dev/null
say removed
"""


@dataclass(frozen=True)
class RemoteRun:
    """The task of the hosts of a fleet.

    ``token`` is a random text by which answers are told from login banners. ``id`` is a random text, from which and the
    address of a host the name of the run's folder there is made: several addresses may lead to one machine. ``sha256``
    has the digest of the core for each architecture (``uname -m``), and ``arguments`` are the core's command-line
    arguments, which must not contain spaces. ``installed`` is the path of an installed core on the hosts; "" means that
    the core is sent. With ``asks``, a host asks for its request file, which is ``../request`` in ``arguments``.
    """

    token: str
    id: str
    sha256: Mapping[str, str]
    arguments: Sequence[str]
    installed: str = ""
    asks: bool = False

    def start(self, address: str, size_bytes: int = 0) -> bytes:
        """Return the script that starts the core, detached from the connection.

        With ``size_bytes`` above 0, that many bytes of the core must follow the script. The answers are "started",
        "need ARCHITECTURE FILE-SYSTEM" if the host has no such core, or "failed KIND PATH [REASON]". Before "started",
        a host that ``asks`` answers "machine", a record with the machine, and "asks"; then it reads a line with a
        number of bytes, and the request file. Another host answers "ready", and starts the core when it reads the token
        in a line.
        """
        return self._script(
            _START, address, size=size_bytes, installed=self.installed, arguments=" ".join(self.arguments),
            asks=int(self.asks),
        )  # fmt: skip

    def collect(self, address: str, stop: bool = False) -> bytes:
        """Return the script that prints the records of a core that has ended; with ``stop`` it is ended first.

        The answers are "running", "gone", or "exit CODE", "message LINE"…, "records", the records, and "end"; "ended"
        comes first if the core had to be ended. With "records gzip", the records are compressed, and lines of base64.
        The host keeps the records until it reads the token in a line.
        """
        limits = {"seconds": _STOP_S, "tail": _TAIL_BYTES, "limit": MAX_RECORDS_BYTES + 1}
        return self._script(_COLLECT, address, stop=int(stop), **limits)

    def remove(self, address: str) -> bytes:
        """Return the script that deletes the cores on a host.

        The answer is "removed", or "failed" if records are there.
        """
        return self._script(_REMOVE, address)

    def _script(self, text: str, address: str, **parameters: str | int) -> bytes:
        name = hashlib.sha256(f"{self.id} {address}".encode()).hexdigest()[:16]
        given = {"token": self.token, "id": name, "sha": "", **parameters}
        lines = [f"{name}={shlex.quote(str(value))}" for name, value in given.items()]
        digests = [f"  {shlex.quote(architecture)}) sha={digest};;" for architecture, digest in self.sha256.items()]
        script = "\n".join([*lines, 'case "$(uname -m)" in', *digests, "esac", _COMMON, text]).encode()
        assert len(script) <= SCRIPT_BYTES
        return script.ljust(SCRIPT_BYTES, b"\n")
