"""How the measurement of a host ended, with what to do about it."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

import msgspec

Outcome: TypeAlias = Literal[
    "measured", "unreachable", "refused", "unknown host key", "no core", "cannot run", "no space", "killed",
    "timed out", "invalid", "stopped", "busy",
]  # fmt: skip


class HostOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How the measurement of a host ended: a line of the fleet's file.

    ``address`` is the name by which the host was reached. ``file`` is the path of its run file, relative to the fleet's
    folder, "" if it has none. ``reason`` says what went wrong and ``advice`` what to do, both as clauses; both are ""
    for "measured".
    """

    address: str
    outcome: Outcome
    file: str = ""
    reason: str = ""
    advice: str = ""


# Patterns of messages of ssh, of which the first that matches counts: the outcome, what to do, and whether another
# attempt may succeed.
_OF_SSH: tuple[tuple[str, Outcome, str, bool], ...] = (
    (r"Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED", "unknown host key",
     "add its key to known_hosts after you have checked it", False),
    (r"Permission denied|Too many authentication failures", "refused",
     "let ssh log in there without a password", False),
    (r"Could not resolve hostname", "unreachable", "check the name", False),
    (r"", "unreachable", "check that ssh reaches it", True),
)  # fmt: skip


def ssh_outcome(address: str, messages: str) -> tuple[HostOutcome, bool]:
    """Return the outcome of a host that ssh could not reach, and whether another attempt may succeed.

    ``messages`` is what ssh wrote to standard error.
    """
    outcome, advice, may_pass = next(
        (outcome, advice, may_pass) for pattern, outcome, advice, may_pass in _OF_SSH if re.search(pattern, messages)
    )
    lines = [line.strip() for line in messages.splitlines() if line.strip() and not line.startswith("@@")]
    reason = lines[-1] if lines else "ssh ended without a message"
    return HostOutcome(address=address, outcome=outcome, reason=reason, advice=advice), may_pass


_OF_START: dict[str, tuple[Outcome, str, str]] = {
    "cache": ("no space", "cannot write {}", "make it writable, or use --in-place with an installed core"),
    "space": ("no space", "cannot write to {}", "free some space there"),
    "transfer": ("no space", "the core arrived incomplete in {}", "free some space there"),
    "architecture": ("no core", "there is no core for {}", "give one with --core"),
    "missing": ("no core", "{} is not a program that can be run", "check --in-place"),
    "core": ("cannot run", "{} cannot be run: {}", "mount its file system without noexec, and give a core of --core "
             "that runs on this system"),
}  # fmt: skip


def start_outcome(address: str, answer: str) -> HostOutcome:
    """Return the outcome of a host that could not start; ``answer`` is its answer after "failed"."""
    kind, _, rest = answer.partition(" ")
    # A path may have spaces; only that of a core is followed by a reason.
    path, _, reason = rest.partition(" ") if kind == "core" else (rest, "", "")
    outcome, text, advice = _OF_START.get(kind, ("invalid", "it answered '{}'", "check its login shell"))
    return HostOutcome(address=address, outcome=outcome, reason=text.format(path, reason.strip()), advice=advice)


# The exit codes of a core that a signal ended; "killed" if its shell was killed as well.
_KILLED = ("killed", "137", "143", "129")


class CoreEnd(msgspec.Struct, frozen=True):
    """How the core of a host ended.

    ``exit_code`` is its exit code as text, "killed" if it is unknown, and ``message`` the last line that it wrote to
    standard error. ``is_late`` says whether it was ended after its deadline, and ``is_stopped`` whether the user ended
    it.
    """

    exit_code: str
    message: str = ""
    is_late: bool = False
    is_stopped: bool = False


def core_outcome(outcome: HostOutcome, end: CoreEnd) -> HostOutcome:
    """Return the outcome of a host whose core has ended, with its last message if it did not end well.

    ``outcome`` is that of the host's records.
    """
    if outcome.outcome not in ("invalid", "stopped") or end.exit_code == "0" or end.is_stopped:
        return outcome
    kind: Outcome = "timed out" if end.is_late else "killed" if end.exit_code in _KILLED else "cannot run"
    return HostOutcome(address=outcome.address, outcome=kind, file=outcome.file,
                       reason=end.message or f"its core ended with {end.exit_code}",
                       advice="run the core there by hand")  # fmt: skip


def failed_text(outcome: HostOutcome) -> str:
    """Return why a host has no run and what to do, such as "refused: Permission denied; let ssh log in there …"."""
    return "; ".join(filter(None, [f"{outcome.outcome}: {outcome.reason}", outcome.advice]))
