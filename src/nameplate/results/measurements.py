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

    ``samples`` are in the order of the file; the list is empty if the experiment ended before its first sample. If each
    node of a job ran the experiment independently, ``of_nodes`` maps the index of a node in the job's list of nodes to
    the outcome on this node, and ``outcome`` summarises all nodes. Otherwise ``of_nodes`` is empty.
    """

    outcome: Outcome
    samples: list[Sample]
    of_nodes: dict[int, Outcome] = {}


class RunFile(msgspec.Struct, frozen=True):
    """The content of a run file, without its digest.

    - ``path``: the path of the file as the caller gave it
    - ``run``: the first record, with the plan, the seed and the start of the run
    - ``headers``: one record for each process of nameplate-core; a round has several if its process was restarted
    - ``measurements``: one entry for each experiment in each round
    - ``stop``: the record that ends a run; None if the run was killed or is still running
    - ``lost``: the number of samples that are left out because no outcome of their experiment and round follows
    - ``complete_bytes``: the size of the file in bytes up to the end of its last complete record that is not a digest
    - ``references``: the values that reference tools measured before the first round

    All lists are in the order of the file.
    """

    path: str
    run: Run
    headers: list[Header]
    measurements: list[Measurement]
    stop: Stop | None
    lost: int
    complete_bytes: int
    references: list[Reference] = []

    @property
    def machine(self) -> Machine | None:
        """Return the machine that the first header describes; None if the file has no header."""
        return self.headers[0].machine if self.headers else None


class Block(NamedTuple):
    """Records of consecutive lines of a run file.

    ``number`` is the number of the first line, counted from 1. ``end`` is the offset in bytes of the end of the last
    line in the file. ``records`` has one record for each line.
    """

    number: int
    end: int
    records: Sequence[FileRecord | Digest]


class Assembler:
    """Groups the records of one run file into a ``RunFile``.

    ``path`` is the path of the file, which appears in the result and in error messages; the file is not opened. Call
    ``add`` with the blocks of the file in order, then ``result``. A sample belongs to the next outcome of all nodes.
    The sample is lost if this outcome has another experiment or round, or if a header or the end of the file comes
    first.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._run: Run | None = None
        self._probes: dict[str, str] = {}
        self._stop: Stop | None = None
        self._headers: list[Header] = []
        self._measurements: list[Measurement] = []
        self._pending: list[tuple[int, Sample]] = []
        self._of_nodes: dict[int, Outcome] = {}
        self._references: list[Reference] = []
        self._missing: dict[str, Mapping[str, Value]] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._lost = 0
        self._complete_bytes = 0

    def add(self, block: Block) -> None:
        """Add the next block of the file. Blocks must be added in the order of their lines, and must not be empty.

        Raises:
            FileError: the file has a second record of type 'run'. Or a sample or an outcome is not valid, by the rules
                of its probe or because it does not fit an earlier record, such as the nodes of the header; the message
                then has the number of its line.
            IndexError: the block has no records.
        """
        for line, record in enumerate(block.records, start=block.number):
            if isinstance(record, Sample):  # nearly all are
                self._stop = None
                self._pending.append((line, record))
            elif not isinstance(record, Digest):  # the reader skips digests only in the form that nameplate writes
                self._stop = record if isinstance(record, Stop) else None
                self._add(line, record)
        if not isinstance(block.records[-1], Digest):
            self._complete_bytes = block.end

    def _add(self, line: int, record: FileRecord) -> None:
        match record:
            case Run():
                if self._run is not None:
                    raise FileError(
                        f"{self._path}: has two records of type 'run', as if two run files were joined: split them"
                    )
                self._run = record
                self._probes = {experiment.id: experiment.probe for experiment in record.plan.experiments}
            case Reference():
                self._references.append(record)
            case Outcome(node=int(node)):
                outcome = self._completed(line, record)
                self._check(line, problem_of_node(self._machine, outcome))
                self._of_nodes[node] = outcome
            case Outcome():
                self._take(line, self._completed(line, record))
            case Header():
                self._headers.append(record)
                self._drop_pending()

    @property
    def _machine(self) -> Machine | None:
        return self._headers[0].machine if self._headers else None

    def _check(self, line: int, problem: str) -> None:
        if problem:
            raise FileError(f"{self._path}: line {line}: {problem}")

    def _completed(self, line: int, outcome: Outcome) -> Outcome:
        """Return an outcome with the parameters that the nameplate version of the file did not have yet.

        Raises:
            FileError: the plan has another probe for the experiment.
        """
        planned = self._probes.get(outcome.id, outcome.probe)
        if planned != outcome.probe:
            self._check(line, f"outcome of '{outcome.id}': its probe is '{outcome.probe}', the plan has '{planned}'")
        if outcome.ending != "ok":  # it may lack any parameter
            return outcome
        if missing := missing_params(outcome.probe, outcome.params):
            self._missing[outcome.id] = missing
            outcome = replace(outcome, params={**outcome.params, **missing})
        return outcome

    def _take(self, line: int, outcome: Outcome) -> None:
        of_outcome = [
            (number, sample)
            for number, sample in self._pending
            if (sample.id, sample.round) == (outcome.id, outcome.round)
        ]
        samples = [sample for _, sample in of_outcome]
        if of_outcome and outcome.ending == "ok":
            self._check_outcome(line, outcome)
            if problem := problem_of_samples(self._machine, outcome, samples):
                self._check(of_outcome[problem.sample_index][0], problem.problem)
        self._lost += len(self._pending) - len(of_outcome)
        self._pending = []
        self._measurements.append(Measurement(outcome, samples, self._of_nodes))
        self._of_nodes = {}

    def _check_outcome(self, line: int, outcome: Outcome) -> None:
        """Check an outcome, unless an equal outcome of the experiment in an earlier round was checked."""
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
        """Return the content of the file, after all of its blocks were added.

        Samples without an outcome count as lost.

        Raises:
            FileError: no record of type 'run' was added.
        """
        if self._run is None:
            raise FileError(f"{self._path} is empty: this is not a run file")
        self._drop_pending()
        return RunFile(
            str(self._path), completed_plan(self._run, self._missing), self._headers, self._measurements, self._stop,
            self._lost, self._complete_bytes, self._references,
        )  # fmt: skip
