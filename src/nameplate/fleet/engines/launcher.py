"""Measure the hosts on which a launcher starts one process each, such as srun, flux exec or mpirun.

The processes and the controller exchange files in the fleet's folder, which all hosts must see under the same path. A
process announces itself by a directory with the name of its host, and waits until the controller lets it measure. So
nothing depends on how a launcher passes on standard input, output or signals.
"""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from nameplate.control_characters import clean_text
from nameplate.errors import CoreError, FileError, NameplateError
from nameplate.execution import child_process
from nameplate.execution.child_process import Streams
from nameplate.fleet.fleet_plan import HostRequest
from nameplate.fleet.host_outcome import CoreEnd, HostOutcome, start_outcome
from nameplate.fleet.sink import MAX_RECORDS_BYTES, Sink, too_large, write_part
from nameplate.hostlist import compress
from nameplate.records.inputs import read_input

_POLL_S = 0.5
# The time in which a process ends after its core, and in which a launcher ends after its processes.
_END_S = 30.0
# The time after which a core that was asked to end is killed.
_STOP_S = 20
_MESSAGES = "launcher.messages"
_TAIL_CHARACTERS = 1000
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")

# The program of each process. The announcement is a directory, since only one process can make it: a second process on
# a host ends at once.
_SCRIPT = r"""#!/bin/sh
# Written by nameplate fleet run, which waits for the files that this script makes.
cd {exchange} || exit
name={name}
mkdir "$name" 2>/dev/null || exit 0
exec 2>>"$name/messages"
say() {{ printf '%s\n' "$2" >"$name/.$1" && mv "$name/.$1" "$name.$1"; }}
for base in /var/tmp /tmp; do
  work=$(mktemp -d "$base/nameplate-XXXXXXXX") && break
done
[ -n "$work" ] || {{ say failed "space /var/tmp"; exit 0; }}
pid=
trap 'rm -rf "$work"' EXIT
trap '[ -z "$pid" ] || kill -TERM "$pid"; exit 143' HUP INT TERM
core={installed}
if [ -z "$core" ]; then
  machine=$(uname -m)
  [ -f "core-$machine" ] || {{ say failed "architecture $machine"; exit 0; }}
  core=$work/core
  {{ cp "core-$machine" "$core" && chmod 700 "$core"; }} || {{ say failed "space $base"; exit 0; }}
fi
[ -f "$core" ] || {{ say failed "missing $core"; exit 0; }}
reason=$("$core" --version 2>&1 >/dev/null) ||
  {{ say failed "core $core $(printf %s "$reason" | tr '\n' ' ')"; exit 0; }}
say machine "$("$core" --machine)"
while [ ! -e "$name.go" ]; do
  # The controller removes its files at the end.
  {{ [ -e node.sh ] && [ ! -e stop ] && [ ! -e "$name.stop" ]; }} || exit 0
  sleep 0.2
done
exchange=$PWD
[ ! -e "$name.request" ] || cp "$name.request" "$work/request" || {{ say failed "space $base"; exit 0; }}
arguments=$(cat "$name.go")
mkdir "$work/files" && cd "$work/files" || exit
"$core" $arguments >"$work/records" </dev/null &
pid=$!
# The seconds since the core was asked to end; a second signal would end it at once.
stopped=
while kill -0 "$pid" 2>/dev/null; do
  if [ -n "$stopped" ]; then
    stopped=$((stopped + 1))
    [ "$stopped" -lt {stop_s} ] || kill -KILL "$pid"
  elif [ ! -e "$exchange/node.sh" ] || [ -e "$exchange/stop" ] || [ -e "$exchange/$name.stop" ]; then
    stopped=0
    kill -TERM "$pid"
  fi
  sleep 1
done
wait "$pid"
code=$?
pid=
cd "$exchange" && head -c {limit} "$work/records" >"$name/records"
say exit "$code"
"""


@dataclass
class LauncherEngine:
    """Measures hosts with the processes that a launcher starts.

    - ``command``: the launcher with its options, to which the path of a program is added
    - ``exchange``: a directory that all hosts see, for the files of this run; it must not exist, and is removed
    - ``name``: shell text that gives the name of the host of a process
    - ``installed``: the path of the core on the hosts; "" if ``cores`` has it for each architecture
    - ``arguments``: those of the core if there is no request file
    - ``sink``, ``deadline_s``, ``at_once``, ``groups``, ``request_of``: as in ``SshEngine``
    """

    command: Sequence[str]
    exchange: Path
    name: str
    installed: str
    cores: Mapping[str, bytes]
    arguments: Sequence[str]
    sink: Sink
    deadline_s: float
    at_once: int | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    request_of: Callable[[bytes], HostRequest] | None = None
    _announced: set[str] = field(default_factory=set)
    _waiting: list[str] = field(default_factory=list)
    # The time at which the core of a host is ended.
    _deadlines: dict[str, float] = field(default_factory=dict)
    _late: set[str] = field(default_factory=set)
    _ended: set[str] = field(default_factory=set)
    _requested: frozenset[str] = frozenset()
    _is_stopping: bool = False

    def measure(self, addresses: Sequence[str], measured: Iterable[str] = ()) -> None:
        """Measure hosts, and tell the sink of each outcome.

        ``addresses`` are the hosts to measure, empty for all that the launcher starts; one that it does not start is
        unreachable. The hosts in ``measured`` are not measured again. KeyboardInterrupt ends the cores on all hosts;
        their records are collected.

        Raises:
            CoreError: the launcher cannot be started.
            FileError: the exchange cannot be written.
        """
        self._ended, self._requested = set(measured), frozenset(addresses)
        script = self._prepare()
        try:
            process = self._start_launcher(script)
            try:
                self._follow(process)
            except KeyboardInterrupt:
                self._is_stopping = True
                (self.exchange / "stop").touch()
                self._follow(process)
                raise
            finally:
                _end_gently(process)
                self._end_missing(addresses, process.returncode)
        finally:
            shutil.rmtree(self.exchange, ignore_errors=True)

    def _start_launcher(self, script: Path) -> subprocess.Popen[bytes]:
        try:
            with (self.exchange / _MESSAGES).open("wb") as messages:
                streams = Streams(stdout=messages.fileno(), stderr=messages.fileno())
                command = [*self.command, str(script)]
                return child_process.start(command, streams=streams, death_signal=signal.SIGTERM)
        except OSError as error:
            raise CoreError(f"cannot run {self.command[0]}: {error.strerror}") from None

    def _prepare(self) -> Path:
        script = self.exchange / "node.sh"
        text = _SCRIPT.format(
            exchange=shlex.quote(str(self.exchange)), name=self.name, installed=shlex.quote(self.installed),
            limit=MAX_RECORDS_BYTES + 1, stop_s=_STOP_S,
        )  # fmt: skip
        try:
            self.exchange.mkdir(mode=0o700)
            script.write_text(text)
            script.chmod(0o700)
            for architecture, core in {} if self.installed else self.cores.items():
                (self.exchange / f"core-{architecture}").write_bytes(core)
        except OSError as error:
            raise FileError(f"cannot write to {self.exchange}: {error.strerror}") from None
        return script

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        """Handle what hosts announce until the launcher has ended, or does not end although its hosts have.

        A launcher may wait for a long time before it starts anything.
        """
        quiet_since = monotonic()
        while True:
            has_ended = process.poll() is not None
            is_new = self._read_announcements()
            all_ended = self._requested <= self._ended and self._announced and self._announced <= self._ended
            if is_new or not (self._is_stopping or all_ended):
                quiet_since = monotonic()
            if has_ended or monotonic() - quiet_since > _END_S:
                return
            if not self._is_stopping:
                self._start_next()
            self._stop_late()
            sleep(_POLL_S)

    def _read_announcements(self) -> bool:
        """Handle the files that hosts have made since the last call, and return whether there were any."""
        is_new = False
        for path in sorted(self.exchange.iterdir()):
            host, _, kind = path.name.rpartition(".")
            if not _HOST.fullmatch(host):
                continue
            if self._requested and host not in self._requested:
                self._ended.add(host)
            if kind == "machine" and host not in self._announced:
                is_new = True
                self._announce(host)
            elif host not in self._ended and kind == "failed":
                self._end(start_outcome(host, self._text(path)))
            elif host not in self._ended and kind == "exit":
                self._collect(host, self._text(path))
        return is_new

    def _announce(self, host: str) -> None:
        """Add a host to the queue, or end it if it is not to measure."""
        self._announced.add(host)
        if host in self._ended:
            (self.exchange / f"{host}.stop").touch()
        else:
            self._waiting.append(host)

    def _start_next(self) -> None:
        busy = {self.groups.get(host) for host in self._deadlines} - {None}
        for host in [*self._waiting]:
            if self.at_once is not None and len(self._deadlines) >= self.at_once:
                return
            group = self.groups.get(host)
            if group not in busy:
                self._waiting.remove(host)
                busy |= {group} - {None}
                self._start(host)

    def _start(self, host: str) -> None:
        deadline_s = self.deadline_s
        if self.request_of is not None:
            try:
                request = self.request_of(self._bytes(self.exchange / f"{host}.machine"))
            except NameplateError as error:
                (self.exchange / f"{host}.stop").touch()
                self._end(HostOutcome(address=host, outcome="cannot run", reason=str(error),
                                      advice="measure another plan there"))  # fmt: skip
                return
            deadline_s = request.deadline_s
            (self.exchange / f"{host}.request").write_bytes(request.text)
        part = self.exchange / f"{host}.go-part"
        part.write_text(" ".join(self.arguments))
        part.rename(self.exchange / f"{host}.go")
        self._deadlines[host] = monotonic() + deadline_s
        self.sink.started(host, deadline_s)

    def _stop_late(self) -> None:
        for host, deadline in [*self._deadlines.items()]:
            if monotonic() > deadline and host not in self._late:
                self._late.add(host)
                (self.exchange / f"{host}.stop").touch()
            elif monotonic() > deadline + _END_S:
                self._end(HostOutcome(address=host, outcome="timed out", reason="its core does not end",
                                      advice="check the host"))  # fmt: skip

    def _collect(self, host: str, exit_code: str) -> None:
        records = self._bytes(self.exchange / host / "records")
        if len(records) > MAX_RECORDS_BYTES:
            self._end(too_large(host))
            return
        write_part(self.sink.part(host), [records])
        message = self._last_line(self.exchange / host / "messages")
        self.sink.collected(host, CoreEnd(exit_code, message, host in self._late, self._is_stopping))
        self._forget(host)

    def _end_missing(self, addresses: Sequence[str], exit_code: int) -> None:
        """Note the outcome of the hosts that have none yet."""
        message = self._last_line(self.exchange / _MESSAGES) or f"{self.command[0]} ended with {exit_code}"
        for host in dict.fromkeys([*addresses, *sorted(self._announced)]):
            if host in self._ended:
                continue
            if self._is_stopping:
                reason = "its core did not end" if host in self._deadlines else "it had not begun to measure"
                outcome = HostOutcome(address=host, outcome="stopped", reason=reason)
            elif host in self._announced:
                outcome = HostOutcome(address=host, outcome="killed", reason=message,
                                      advice="measure it again with --resume")  # fmt: skip
            else:
                further = sorted(self._announced - {*addresses})
                if further:
                    message = f"{message}; processes started on {compress(further)}, which the run does not include"
                outcome = HostOutcome(address=host, outcome="unreachable", reason=message,
                                      advice=f"check that {self.command[0]} starts programs there, and that it sees "
                                      f"{self.exchange.parent}")  # fmt: skip
            self._end(outcome)

    def _end(self, outcome: HostOutcome) -> None:
        self._forget(outcome.address)
        self.sink.ended(outcome)

    def _forget(self, host: str) -> None:
        self._deadlines.pop(host, None)
        self._ended.add(host)
        if host in self._waiting:
            self._waiting.remove(host)

    def _last_line(self, path: Path) -> str:
        lines = [clean_text(line).strip() for line in self._text(path)[-_TAIL_CHARACTERS:].splitlines()]
        return next(filter(None, reversed(lines)), "")

    def _text(self, path: Path) -> str:
        return clean_text(self._bytes(path).decode(errors="replace")).strip()

    def _bytes(self, path: Path) -> bytes:
        """Return the content of a file that a host wrote, empty if there is none."""
        with suppress(FileError):
            return read_input(path, MAX_RECORDS_BYTES + 1, "file")
        return b""


def _end_gently(process: subprocess.Popen[bytes]) -> None:
    """End a launcher, which gets the time to end its processes on other hosts."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_S)
    child_process.end(process)
