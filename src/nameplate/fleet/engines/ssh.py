"""Measure the hosts of a fleet over ssh, with ClusterShell: start the core on each, detached, and collect its records.

The system's own ssh is used with its configuration, agent and known hosts; it never asks for a password. A broken
connection loses nothing, since the core does not depend on it.
"""

from __future__ import annotations

import logging
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from types import MappingProxyType
from typing import Any

from ClusterShell.Event import EventHandler
from ClusterShell.Task import Task, task_self, task_terminate

from nameplate.control_characters import clean_text
from nameplate.errors import FileError, NameplateError
from nameplate.fleet.fleet_plan import HostRequest
from nameplate.fleet.host_outcome import CoreEnd, HostOutcome, ssh_outcome, start_outcome
from nameplate.fleet.received_records import ReceivedRecords
from nameplate.fleet.remote import COMMAND, RemoteRun
from nameplate.fleet.sink import Sink

# Connections at the same time.
FAN_OUT = 64
_CONNECT_S = 15
_ANSWER_S = 120.0
_SSH_FAILED = 255
_SSH_OPTIONS = "-oServerAliveInterval=15"
# A connection that is slower when it sends the core is given up.
_MIN_BYTES_PER_S = 20e3
_MAX_MESSAGE, _MAX_MESSAGES = 2000, 20
_MAX_MACHINE_LINES = 20
_PIECE_BYTES = 1 << 18
# The pauses before further attempts after ssh itself failed, such as at the limit of unauthenticated connections.
_RETRY_PAUSES_S = (1.0, 3.0, 9.0, 27.0)
_POLL_S, _MAX_POLL_S = 3.0, 30.0


@dataclass
class _Host:
    address: str
    expected_s: float
    deadline_s: float
    attempts: int = 0
    is_contacted: bool = False
    is_started: bool = False
    is_collected: bool = False
    sends_core: bool = False
    started_s: float = 0.0
    polls: int = 0
    home: str = ""


@dataclass
class SshEngine:
    """Measures hosts over ssh.

    - ``remote``: what the hosts do; ``cores``: the core for each architecture, as in ``uname -m``
    - ``expected_s``: the time after which a host is asked for its records; ``deadline_s``: the time after which its
      core is ended; both are for hosts without a request file
    - ``request_of``: returns the request file for the record of a machine, and the two times of its host; used if
      ``remote.asks``. Its errors, of the class NameplateError, are outcomes of the host
    - ``at_once``: the maximum number of hosts that measure at the same time, None for any number
    - ``groups``: the group of some hosts, such as their rack; of each group one host measures at a time
    """

    remote: RemoteRun
    cores: Mapping[str, bytes]
    sink: Sink
    expected_s: float
    deadline_s: float
    at_once: int | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    request_of: Callable[[bytes], HostRequest] | None = None
    fan_out: int = FAN_OUT
    # The hosts of each group, and under "" those without a group.
    _waiting: dict[str, deque[_Host]] = field(default_factory=lambda: defaultdict(deque))
    _busy_groups: set[str] = field(default_factory=set)
    _active: dict[str, _Host] = field(default_factory=dict)
    # Hosts that wait until another one has received the core, by their common home directory.
    _sending: dict[str, list[_Host]] = field(default_factory=dict)
    # ClusterShell would hold what it needs for a connection to each of 10,000 hosts.
    _calls: deque[_Call] = field(default_factory=deque)
    _n_open: int = 0
    _is_stopping: bool = False

    def measure(self, addresses: Iterable[str], running: Mapping[str, float] = MappingProxyType({})) -> None:
        """Measure hosts, and tell the sink of each outcome.

        ``running`` has hosts on which the core was started before, with the time in seconds after which it is ended.
        KeyboardInterrupt ends the cores on all hosts; what they have measured is collected.
        """
        for address in addresses:
            self._waiting[self.groups.get(address, "")].append(self._host(address))
        task = self._task()
        for address, deadline_s in running.items():
            host = self._activated(self._host(address))
            host.is_started, host.started_s, host.deadline_s = True, monotonic(), deadline_s
            self._collect(host)
        self._start_next()
        try:
            task.run()
        except KeyboardInterrupt:
            task_terminate()
            self._stop()
            raise

    def remove(self, addresses: Iterable[str]) -> None:
        """Remove the cores from hosts, and tell the sink of those where that failed."""
        task = self._task()
        for address in addresses:
            host = self._active[address] = self._host(address)
            self._call(host, partial(self.remote.remove, address), self._removed)
        task.run()

    def _host(self, address: str) -> _Host:
        return _Host(address, self.expected_s, self.deadline_s)

    def _task(self) -> Task:
        task = task_self()
        task.set_info("fanout", self.fan_out)
        task.set_info("connect_timeout", _CONNECT_S)
        task.set_info("ssh_options", _SSH_OPTIONS)
        for name, value in (("stdout_msgtree", False), ("stderr_msgtree", False), ("auto_tree", False)):
            task.set_default(name, value)
        # A connection that a host closes is an outcome, and no warning.
        logging.getLogger("ClusterShell").addHandler(logging.NullHandler())
        return task

    def _stop(self) -> None:
        """End the cores of all hosts on which they were started, and collect their records."""
        self._is_stopping = True
        self._waiting.clear()
        self._sending.clear()
        self._calls.clear()
        self._n_open = 0
        task = self._task()
        # A core may have been started without an answer yet.
        for host in [*self._active.values()]:
            if not host.is_collected and (host.is_contacted or host.is_started):
                self._call(host, partial(self.remote.collect, host.address, stop=True), self._collected)
        task.run()

    def _start_next(self) -> None:
        for group, hosts in self._waiting.items():
            while hosts and group not in self._busy_groups:
                if self.at_once is not None and len(self._active) >= self.at_once:
                    return
                host = self._activated(hosts.popleft())
                self._call(host, partial(self.remote.start, host.address), self._start_answered)

    def _activated(self, host: _Host) -> _Host:
        self._active[host.address] = host
        if group := self.groups.get(host.address):
            self._busy_groups.add(group)
        return host

    def _call(
        self, host: _Host, script: Callable[[], bytes], answered: Callable[[_Host, _Call], None], core: bytes = b""
    ) -> None:  # fmt: skip
        self._calls.append(_Call(self, host, script, answered, core))
        self._open_next()

    def _open_next(self) -> None:
        while self._calls and self._n_open < self.fan_out:
            self._n_open += 1
            call = self._calls.popleft()
            call.host.is_contacted = True
            timeout_s = _ANSWER_S + len(call.core) / _MIN_BYTES_PER_S
            worker = task_self().shell(
                COMMAND, nodes=call.host.address, handler=call, timeout=timeout_s, stderr=True, tree=False
            )
            worker._update_task_rc = False  # the task would keep every worker until its end
            call.send(worker)

    def _start_answered(self, host: _Host, call: _Call) -> None:
        call.worker.set_write_eof()

    def _machine_answered(self, host: _Host, call: _Call) -> None:
        """Send the request file for the machine of a host."""
        assert self.request_of is not None
        try:
            # A library may print a line before the record.
            request = self.request_of(next((line for line in call.machine if line.startswith(b"{")), b""))
        except NameplateError as error:
            call.outcome = HostOutcome(address=host.address, outcome="cannot run", reason=str(error),
                                       advice="measure another plan there")  # fmt: skip
        else:
            host.expected_s, host.deadline_s = request.expected_s, request.deadline_s
            call.worker.write(b"%d\n" % len(request.text) + request.text)
        call.machine.clear()
        call.worker.set_write_eof()

    def _finished(self, call: _Call) -> None:
        """Handle the end of a connection to a host."""
        host = call.host
        self._n_open -= 1
        if host.is_collected or call.outcome:
            self._end(host, call.outcome)  # that of a host with records was noted before its receipt
        elif (call.rc == _SSH_FAILED or call.timed_out) and call.answer != "started":
            self._retry(call)
        elif call.answered == self._removed:
            if call.answer != "removed":
                self.sink.not_removed(host.address, "records are still there" if call.answer else "no answer")
            self._end(host, None)
        elif call.answered == self._start_answered:
            self._after_start(host, call)
        else:
            self._after_collect(host, call)
        self._open_next()

    def _retry(self, call: _Call) -> None:
        host = call.host
        outcome, may_pass = ssh_outcome(host.address, call.messages)
        if call.timed_out:
            outcome = HostOutcome(address=host.address, outcome="timed out", reason=f"no answer in {_ANSWER_S:.0f} s",
                                  advice="check the host")  # fmt: skip
            may_pass = host.is_started
        if may_pass and host.attempts < len(_RETRY_PAUSES_S) and not self._is_stopping:
            pause_s = _RETRY_PAUSES_S[host.attempts]
            host.attempts += 1
            self._later(pause_s, lambda: self._call(host, call.script, call.answered, call.core))
            return
        if call.answered == self._removed:
            self.sink.not_removed(host.address, outcome.reason)
            self._end(host, None)
            return
        self._end(host, outcome)

    def _after_start(self, host: _Host, call: _Call) -> None:
        self._release(host)
        kind, _, rest = call.answer.partition(" ")
        if kind == "started":
            host.is_started, host.started_s, host.attempts = True, monotonic(), 0
            self.sink.started(host.address, host.deadline_s)
            self._later(host.expected_s, lambda: self._collect(host))
        elif kind == "need" and not host.sends_core:
            self._send(host, *rest.split(" ", 1))
        else:
            self._end(host, start_outcome(host.address, rest if kind == "failed" else f"{call.answer[:60]}"))

    def _send(self, host: _Host, architecture: str = "", file_system: str = "") -> None:
        """Send the core, but only once at a time to a home directory that a file server gives to several hosts."""
        core = self.cores.get(architecture)
        if core is None:
            reason = f"there is no core for {architecture or 'its architecture'}, only for {', '.join(self.cores)}"
            self._end(host, HostOutcome(address=host.address, outcome="no core", reason=reason,
                                        advice="give one with --core"))  # fmt: skip
            return
        if ":" in file_system:
            if file_system in self._sending:
                self._sending[file_system].append(host)
                return
            self._sending[file_system] = []
            host.home = file_system
        host.sends_core = True
        self._call(host, partial(self.remote.start, host.address, len(core)), self._start_answered, core)

    def _release(self, host: _Host) -> None:
        for other in self._sending.pop(host.home, []) if host.home else []:
            self._call(other, partial(self.remote.start, other.address), self._start_answered)

    def _collect(self, host: _Host) -> None:
        is_late = monotonic() - host.started_s > host.deadline_s
        self._call(host, partial(self.remote.collect, host.address, stop=is_late), self._collected)

    def _collected(self, host: _Host, call: _Call) -> None:
        """Send the receipt of the records, so that the host deletes them."""
        if call.answer != "end" or call.records is None:
            call.worker.set_write_eof()
            return
        call.records.close()
        if call.records.problem:
            call.outcome = call.records.problem
        else:
            message, is_late = call.said[-1] if call.said else "", call.was_ended and not self._is_stopping
            self.sink.collected(host.address, CoreEnd(call.exit_code, message, is_late, self._is_stopping))
            host.is_collected = True
        # Records that arrived damaged stay on the host, where --resume finds them.
        if not call.records.is_damaged:
            call.worker.write(f"{self.remote.token}\n".encode())
        call.worker.set_write_eof()

    def _after_collect(self, host: _Host, call: _Call) -> None:
        if call.answer == "running":
            pause_s = min(_POLL_S * 2**host.polls, _MAX_POLL_S)
            host.polls += 1
            self._later(pause_s, lambda: self._collect(host))
        elif self._is_stopping and call.answer == "gone":
            self._end(host, HostOutcome(address=host.address, outcome="stopped", reason="it had not begun to measure"))
        else:
            reason = "its records are gone" if call.answer == "gone" else "its answer was cut off"
            self._end(host, HostOutcome(address=host.address, outcome="killed", reason=reason,
                                        advice="measure it again with --resume"))  # fmt: skip

    def _removed(self, host: _Host, call: _Call) -> None:
        call.worker.set_write_eof()

    def _end(self, host: _Host, outcome: HostOutcome | None) -> None:
        self._release(host)
        self._active.pop(host.address, None)
        self._busy_groups.discard(self.groups.get(host.address, ""))
        if outcome is not None:
            self.sink.ended(outcome)
        self._start_next()

    def _later(self, pause_s: float, action: Callable[[], None]) -> None:
        task_self().timer(max(pause_s, 0.01), _Timer(action))


# ClusterShell has no types.
class _Timer(EventHandler):  # type: ignore[misc]
    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action

    def ev_timer(self, _: Any) -> None:
        self._action()


class _Call(EventHandler):  # type: ignore[misc]
    """One connection to a host: what it printed, and how it ended."""

    def __init__(
        self, engine: SshEngine, host: _Host, script: Callable[[], bytes], answered: Callable[[_Host, _Call], None],
        core: bytes,
    ) -> None:  # fmt: skip
        self.host, self.script, self.answered, self.core = host, script, answered, core
        self.worker: Any = None
        self.answer = ""
        self.exit_code = ""
        self.messages = ""
        self.said: list[str] = []
        self.machine: list[bytes] = []
        self.records: ReceivedRecords | None = None
        self.was_ended = False
        self.outcome: HostOutcome | None = None
        self.rc: int | None = None
        self.timed_out = False
        self.has_asked = False
        self._engine = engine
        self._token = f"{engine.remote.token} ".encode()
        self._reads_machine = False
        self._unsent_bytes = self._core_bytes = 0

    def send(self, worker: Any) -> None:
        """Send the script to the host."""
        script = self.script()
        self._unsent_bytes = len(script)
        worker.write(script)

    def ev_read(self, worker: Any, _: str, name: str, line: bytes) -> None:
        self.worker = worker
        if name == "stderr":
            self.messages = (self.messages + clean_text(line.decode(errors="replace")) + "\n")[-_MAX_MESSAGE:]
        elif line.startswith(self._token):
            text = line[len(self._token) : len(self._token) + _MAX_MESSAGE]
            self._answer(clean_text(text.decode(errors="replace")))
        elif self._reads_machine and len(self.machine) < _MAX_MACHINE_LINES:
            self.machine.append(line)
        elif self.records and not self.answer:
            self.records.add(line)

    def ev_written(self, worker: Any, _: str, __: str, size: int) -> None:
        """Send the next piece of the core: it would be copied for every piece that the connection takes."""
        self._unsent_bytes -= size
        piece = self.core[self._core_bytes : self._core_bytes + _PIECE_BYTES]
        if self._unsent_bytes <= 0 and piece:
            self._unsent_bytes = len(piece)
            self._core_bytes += len(piece)
            worker.write(piece)

    def _answer(self, text: str) -> None:
        kind, _, rest = text.partition(" ")
        if kind in ("exit", "ended", "message"):
            self._note_end(kind, rest)
        elif kind == "ready":
            self.worker.write(f"{self._engine.remote.token}\n".encode())
        elif kind == "records" and not self.answer:
            self._close_records()
            path = self._engine.sink.part(self.host.address)
            self.records = ReceivedRecords(self.host.address, path, rest == "gzip")
        elif kind == "machine":
            self._reads_machine = True
        elif kind == "asks" and self._engine.remote.asks and not self.has_asked:
            self.has_asked, self._reads_machine = True, False
            self._engine._machine_answered(self.host, self)
        elif not self.answer:
            self.answer = text
            self.answered(self.host, self)

    def ev_hup(self, _: Any, __: str, rc: int | None) -> None:
        self.rc = rc

    def _note_end(self, kind: str, text: str) -> None:
        """Note how the core of the host ended."""
        if kind == "exit":
            self.exit_code = text
        elif kind == "ended":
            self.was_ended = True
        else:
            self.said = [*self.said, text[:_MAX_MESSAGE]][-_MAX_MESSAGES:]

    def _close_records(self) -> None:
        if self.records:
            self.records.close()

    def ev_close(self, _: Any, timedout: bool) -> None:
        # After Ctrl-C or an error of a handler, ClusterShell closes all connections and drops what it has not read.
        if isinstance(sys.exc_info()[1], KeyboardInterrupt | NameplateError):
            with suppress(FileError):
                self._close_records()
            return
        self._close_records()
        self.timed_out = timedout
        self._engine._finished(self)
        # The connection and this object refer to each other, so a decompressor would stay until the next collection.
        self.worker = self.records = None
