"""Time two commands of the user in alternation, for ``nameplate ab -- 'CMD A' 'CMD B'``."""

from __future__ import annotations

import random
import shlex
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from nameplate.commands._busy import refuse_if_busy
from nameplate.commands._verdicts import AGAINST
from nameplate.comparison.two_commands import CommandComparison, compare_commands
from nameplate.errors import UsageError
from nameplate.execution.command_timer import CommandTimer, CommandTimes
from nameplate.execution.core_process import read_machine
from nameplate.interruption import handled
from nameplate.records.run_record import SCHEMA
from nameplate.report.terminal.two_commands import CommandProgress, print_commands

_SHELL = "/bin/sh"


@dataclass(frozen=True)
class CommandOptions:
    """The options for timing commands.

    ``setup`` is a command that runs once before all others, ``prepare`` has the commands that run before each run of A
    and of B, each "" for none. With ``is_shell`` all are run by /bin/sh. ``warmups`` is the number of first runs of
    each command that do not count. With ``may_fail`` a command may end with any exit code. ``detect`` is the size of a
    change that matters, and ``fail_on`` the additional time from which B fails, both as shares; None for no failure.
    ``budget_s`` is the maximum duration in seconds, and ``seed`` decides which command of a pair runs first.
    ``even_if_busy`` allows to measure while other programs take CPU time.
    """

    setup: str
    prepare: tuple[str, str]
    is_shell: bool
    warmups: int
    may_fail: bool
    detect: float
    fail_on: float | None
    budget_s: float
    seed: int
    even_if_busy: bool


def compare_programs(texts: tuple[str, str], options: CommandOptions, *, json: bool, quiet: bool) -> int:
    """Time two commands in pairs, print whether B is FASTER than A, SLOWER or the SAME, and return the exit code.

    The comparison ends when there is a verdict and the interval of the ratio of elapsed times is at most
    ``options.detect`` to each side, or when the budget is spent. The exit code is 1 if B is SLOWER and takes at least
    ``options.fail_on`` more time, else 0.

    Raises:
        UsageError: a command is empty, has an unclosed quote, or cannot be executed.
        CommandFailed: a command ended with another exit code than 0, unless it may.
        CoreError: nameplate-core is missing, or a CPU is busy.
    """
    argvs = [_argv(text, options.is_shell) for text in texts]
    if not options.even_if_busy:
        refuse_if_busy(read_machine())
    began_s = time.monotonic()
    runs = _timed(argvs, options, quiet)
    pair_s = (time.monotonic() - began_s) / len(runs[0])
    comparison = _compared(runs, options)
    if json:
        head = {"schema": SCHEMA, "commands": {"a": texts[0], "b": texts[1]}, "seed": options.seed}
        print(msgspec.json.encode({**head, **msgspec.to_builtins(comparison)}).decode())
    elif not quiet:
        print_commands(texts, comparison, pair_s)
    longer = (comparison.elapsed.ratio or 1.0) - 1
    is_worse = options.fail_on is not None and comparison.verdict == "SLOWER" and longer >= options.fail_on
    return AGAINST if is_worse else 0


def split_command(text: str) -> list[str]:
    """Return the words of a command line as a shell separates them. Raises UsageError if a quote is not closed."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"'{text}': {error}".replace("No closing quotation", "a quote is not closed")) from None


def _argv(text: str, is_shell: bool) -> list[str]:
    # A shell splits its text by other rules.
    argv = text.split() if is_shell else split_command(text)
    if not argv:
        raise UsageError(f"'{text}' is no command: name a program and its arguments, in quotes")
    return [_SHELL, "-c", text] if is_shell else argv


Runs = tuple[list[CommandTimes], list[CommandTimes]]


def _timed(argvs: Sequence[Sequence[str]], options: CommandOptions, quiet: bool) -> Runs:
    """Return what each run of A and of B took, pair by pair."""
    source = random.Random(options.seed)
    began_s = time.monotonic()
    runs: Runs = ([], [])
    with handled(signal.default_int_handler), CommandTimer() as timer, CommandProgress(quiet) as progress:
        prepare = [_argv(text, options.is_shell) if text else [] for text in options.prepare]

        def run(side: int) -> CommandTimes:
            if prepare[side]:
                timer.run(prepare[side])
            return timer.run(argvs[side], may_fail=options.may_fail)

        if options.setup:
            timer.run(_argv(options.setup, options.is_shell))
        for _ in range(options.warmups):
            run(0)
            run(1)
        while True:
            pair_s = time.monotonic()
            for side in source.sample((0, 1), 2):
                runs[side].append(run(side))
            comparison = compare_commands([_elapsed(runs)], _same_within(options))
            now_s = time.monotonic()
            left_s = options.budget_s - (now_s - began_s)
            is_decided = comparison.verdict != "UNSURE" and comparison.half_width <= options.detect
            if is_decided or left_s < now_s - pair_s:
                return runs
            progress.show(comparison, left_s)


def _compared(runs: Runs, options: CommandOptions) -> CommandComparison:
    a, b = runs
    quantities = [
        _elapsed(runs),
        ("cpu", "s", [item.cpu_s for item in a], [item.cpu_s for item in b]),
        ("memory", "B", [float(item.max_memory_bytes) for item in a], [float(item.max_memory_bytes) for item in b]),
    ]
    return compare_commands(quantities, _same_within(options))


def _elapsed(runs: Runs) -> tuple[str, str, list[float], list[float]]:
    a, b = runs
    return "elapsed", "s", [item.elapsed_s for item in a], [item.elapsed_s for item in b]


def _same_within(options: CommandOptions) -> float:
    # A loss that fails must not count as the same.
    return min(options.detect, options.fail_on or options.detect)
