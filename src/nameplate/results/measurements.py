"""Group the records of a run file into measurements: an experiment in a round with its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from nameplate.errors import FileError
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value
from nameplate.records.run_record import Digest, FileRecord, Header, Outcome, Reference, Run, Sample, Stop
from nameplate.results.earlier_versions import completed_plan, missing_params
from nameplate.results.record_checks import problem_of_node, problem_of_outcome, problem_of_samples


class Measurement(msgspec.Struct, frozen=True):
    """One experiment in one round: its outcome and its samples.

    ``samples`` are in the order of the file. The list is empty if the experiment ended before its first sample. If each
    node of a job ran the experiment on its own, ``of_nodes`` has the outcome of each node by its index in the job's
    list of nodes, and ``outcome`` is that of all nodes together. Otherwise ``of_nodes`` is empty.
    """

    outcome: Outcome
    samples: list[Sample]
    of_nodes: dict[int, Outcome] = {}


class RunFile(msgspec.Struct, frozen=True):
    """The content of a run file, without its digest.

    ``path`` is the file as the caller named it. ``headers`` has one record for each process of nameplate-core, so a
    round has several if its process was restarted. ``measurements`` has one entry for each experiment in each round.
    All lists are in the order of the file. ``stop`` is None if the file does not end with a record of type 'stop',
    because the run was killed or is still running. ``lost`` is the number of samples that are left out, because no
    outcome of their experiment and round follows them. ``whole_bytes`` is the size of the file up to the end of its
    last complete record that is not a digest. ``references`` are the values that reference tools measured before the
    first round.
    """

    path: str
    run: Run
    headers: list[Header]
    measurements: list[Measurement]
    stop: Stop | None
    lost: int
    whole_bytes: int
    references: list[Reference] = []

    @property
    def machine(self) -> Machine | None:
        """Return the machine that the first header describes; None if the run ended before its first header."""
        return self.headers[0].machine if self.headers else None


class Block(NamedTuple):
    """Records in neighbouring lines: the number of the first line, the offset of the end of the last, the records."""

    number: int
    end: int
    records: Sequence[FileRecord | Digest]


class Assembler:
    """Groups the records of a run file. Samples belong to the outcome that follows them; all others are lost."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._run: Run | None = None
        self._stop: Stop | None = None
        self._headers: list[Header] = []
        self._measurements: list[Measurement] = []
        self._pending: list[tuple[int, Sample]] = []
        self._of_nodes: dict[int, Outcome] = {}
        self._references: list[Reference] = []
        self._missing: dict[str, Mapping[str, Value]] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._lost = 0
        self._whole_bytes = 0

    def add(self, block: Block) -> None:
        """Add the records that follow in the file.

        Raises:
            FileError: a record is wrong, or does not fit the earlier ones. The message has its line.
        """
        for line, record in enumerate(block.records, start=block.number):
            if isinstance(record, Sample):  # nearly all are
                self._stop = None
                self._pending.append((line, record))
            elif not isinstance(record, Digest):  # another program may write it in a form that is not skipped above
                self._stop = record if isinstance(record, Stop) else None
                self._add(line, record)
        if not isinstance(block.records[-1], Digest):
            self._whole_bytes = block.end

    def _add(self, line: int, record: FileRecord) -> None:
        match record:
            case Run():
                if self._run is not None:
                    raise FileError(
                        f"{self._path}: has two records of type 'run', as if two run files were joined: split them"
                    )
                self._run = record
            case Reference():
                self._references.append(record)
            case Outcome(node=int(node)):
                outcome = self._completed(record)
                self._check(line, problem_of_node(self._machine, outcome))
                self._of_nodes[node] = outcome
            case Outcome():
                self._take(line, self._completed(record))
            case Header():
                self._headers.append(record)
                self._drop_pending()

    @property
    def _machine(self) -> Machine | None:
        return self._headers[0].machine if self._headers else None

    def _check(self, line: int, problem: str) -> None:
        if problem:
            raise FileError(f"{self._path}: line {line}: {problem}")

    def _completed(self, outcome: Outcome) -> Outcome:
        """Return an outcome with the parameters that its version of nameplate did not have yet."""
        if outcome.ending != "ok":  # it may lack any parameter
            return outcome
        if missing := missing_params(outcome.probe, outcome.params):
            self._missing[outcome.id] = missing
            outcome = replace(outcome, params={**outcome.params, **missing})
        return outcome

    def _take(self, line: int, outcome: Outcome) -> None:
        own = [
            (number, sample)
            for number, sample in self._pending
            if (sample.id, sample.round) == (outcome.id, outcome.round)
        ]
        samples = [sample for _, sample in own]
        if own and outcome.ending == "ok":
            self._check_outcome(line, outcome)
            if found := problem_of_samples(self._machine, outcome, samples):
                self._check(own[found.place][0], found.problem)
        self._lost += len(self._pending) - len(own)
        self._pending = []
        self._measurements.append(Measurement(outcome, samples, self._of_nodes))
        self._of_nodes = {}

    def _check_outcome(self, line: int, outcome: Outcome) -> None:
        """Check an outcome, unless that of an earlier round was the same."""
        checked = self._outcomes.get(outcome.id)
        if (
            checked is None
            or (checked.probe, checked.params, checked.facts) != (outcome.probe, outcome.params, outcome.facts)
            or checked.labels != outcome.labels
        ):
            self._check(line, problem_of_outcome(self._machine, outcome))
            self._outcomes[outcome.id] = outcome

    def _drop_pending(self) -> None:
        self._lost += len(self._pending)
        self._pending = []
        self._of_nodes = {}

    def result(self) -> RunFile:
        """Return the content of the file. Raises FileError if it has no record of type 'run'."""
        if self._run is None:
            raise FileError(f"{self._path} is empty: this is not a run file")
        self._drop_pending()
        return RunFile(
            str(self._path), completed_plan(self._run, self._missing), self._headers, self._measurements, self._stop,
            self._lost, self._whole_bytes, self._references,
        )  # fmt: skip
