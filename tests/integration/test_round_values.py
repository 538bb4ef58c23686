"""Values of rounds from nameplate-core: the history has the same from them as from the samples."""

from __future__ import annotations

import json
import re
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from mutated_files import ODD_NUMBERS, mutate_bytes, mutate_lines
from mutated_files import run_file as reduced_file
from nameplate.errors import FileError
from nameplate.execution.launch import CORE_VARIABLE
from nameplate.execution.round_values import round_values
from nameplate.history import update
from nameplate.history.update import run_files
from nameplate.results.digest import digest_of
from nameplate.results.run_file import RoundTexts, read_round_values, read_run
from recorded_runs import RUNS, recorded_file

KINDS = [path.name.removesuffix(".jsonl.xz") for path in RUNS]
OF_ONE_MACHINE = ("quick", "full", "series", "soak", "t2micro-posix")


def texts_of(path: Path) -> RoundTexts:
    (texts,) = round_values([path])
    assert texts is not None
    return texts


@pytest.mark.parametrize("kind", KINDS)
def test_a_recorded_run_has_the_same_digest(kind: str, tmp_path: Path) -> None:
    path = recorded_file(f"{kind}.jsonl", tmp_path)
    texts = texts_of(path)
    if kind in OF_ONE_MACHINE:
        assert digest_of(read_round_values(path, texts)) == digest_of(read_run(path))
    else:  # nodes are judged by samples
        assert not texts.values


def test_few_samples_of_the_plan_quick_are_kept(tmp_path: Path) -> None:
    path = recorded_file("quick.jsonl", tmp_path)
    texts = texts_of(path)
    kept = {line.split(b'"id":"')[1].split(b" ")[0].split(b'"')[0] for line in texts.kept.splitlines()
            if line.startswith(b'{"type":"sample"')}  # fmt: skip
    # Its metric in operations per cycle depends on the cores that work, which only the machine tells.
    assert kept == {b"cpu_flops"}
    file = read_round_values(path, texts)
    assert sum(own.values is not None for own in file.measurements) > len(file.measurements) * 0.8


def entries(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[update._Batch, update._Batch]:
    """Return what the history reads from a folder with the help of nameplate-core, and without it."""
    with_core = update._read_batch(str(folder), run_files(folder))
    with monkeypatch.context() as context:
        context.setattr(update, "round_values", lambda paths: [None] * len(paths))
        return with_core, update._read_batch(str(folder), run_files(folder))


def mutated(lines: Sequence[bytes], random: Random) -> bytes:
    """Return lines with other numbers, words, bytes or values in one of them, or without one, or with one twice."""
    if random.random() < 0.25:
        return mutate_lines([line.rstrip(b"\n") for line in lines], random)
    own = list(lines)
    place = random.choice(
        [i for i, line in enumerate(lines) if line.startswith((b'{"type":"sample"', b'{"type":"out'))]
    )
    way = random.randrange(10)
    if way == 0:
        del own[place]
    elif way == 1:
        own.insert(place, random.choice(lines))
    elif way == 2:
        own[place] = mutate_bytes(own[place], random)
    else:
        pattern = rb"[a-z_]\w*" if way == 3 else rb"-?\d[\d.e+-]*"
        found = random.choice(list(re.finditer(pattern, own[place])))
        other = random.choice([*ODD_NUMBERS, "x", "[1]", "null", "0.5", "2"]).encode()
        own[place] = own[place][: found.start()] + other + own[place][found.end() :]
    return b"".join(own)


@pytest.mark.parametrize("kind", ["quick", "full", "series"])
def test_damaged_files_read_the_same(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = reduced_file(kind).splitlines(keepends=True)
    for seed in range(100):
        (tmp_path / f"{seed}.jsonl").write_bytes(mutated(lines, Random(seed)))
    with_core, without = entries(tmp_path, monkeypatch)
    assert with_core == without
    reasons = [entry.reason for entry in without.entries if entry.reason]
    assert 10 < len(reasons) < 90


def test_a_sample_in_another_form_belongs_to_its_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = reduced_file("soak").splitlines(keepends=True)
    samples = [i for i, line in enumerate(lines) if line.startswith(b'{"type":"sample"')]
    for place in samples[:3]:
        own = list(lines)
        own[place] = own[place].replace(b'"type":"sample"', b'"type": "sample"')
        (tmp_path / f"{place}.jsonl").write_bytes(b"".join(own))
    with_core, without = entries(tmp_path, monkeypatch)
    assert with_core == without
    assert not any(entry.reason for entry in with_core.entries)


def test_a_plan_with_another_probe_than_the_outcomes_reads_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = reduced_file("t2micro-posix")
    (tmp_path / "x.jsonl").write_bytes(content.replace(b'"probe":"cpu_linpack"', b'"probe":"cpu_intops"', 1))
    with_core, without = entries(tmp_path, monkeypatch)
    assert with_core == without
    assert with_core.values


def test_an_unfinished_run_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = reduced_file("quick")
    (tmp_path / "cut.jsonl").write_bytes(content[: len(content) // 2])
    (tmp_path / "empty.jsonl").write_bytes(b"")
    with_core, without = entries(tmp_path, monkeypatch)
    assert with_core == without
    assert with_core.entries[0].unfinished
    assert "is empty" in with_core.entries[1].reason


@pytest.mark.parametrize("program", ["/bin/false", "/bin/true", "/bin/cat", "/nowhere", "/etc/passwd"])
def test_without_a_core_that_can_do_it_the_samples_are_read(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded_file("soak.jsonl", tmp_path)
    before = update._read_batch(str(tmp_path), run_files(tmp_path))
    monkeypatch.setenv(CORE_VARIABLE, program)
    assert list(round_values([path, path])) == [None, None]
    assert update._read_batch(str(tmp_path), run_files(tmp_path)) == before


def test_files_that_cannot_be_read_are_left_to_the_reader(tmp_path: Path) -> None:
    recorded_file("soak.jsonl", tmp_path)
    wrong = [tmp_path / "missing.jsonl", tmp_path, Path("/dev/null"), tmp_path / "\udcff.jsonl"]
    assert list(round_values(wrong[:3])) == [None] * 3
    assert list(round_values(wrong)) == [None] * 4
    first, second = round_values([wrong[0], tmp_path / "soak.jsonl"])
    assert first is None
    assert second is not None


SAMPLE = '{"type":"sample","round":1,"id":"x","elapsed_s":1.0'
OUTCOME = '{"type":"outcome","round":1,"id":"x","probe":"null","ending":"ok"}\n'


def costly_files(folder: Path) -> list[Path]:
    """Write files whose numbers would take many times the memory of their text, each in another place."""
    of_a_line = f"{SAMPLE}{',1' * (36 << 20)}}}\n"
    of_an_outcome = f"{SAMPLE}}}\n{OUTCOME[:-2]}{',1' * (24 << 20)}}}\n"
    of_a_round = f"{SAMPLE}{',1' * (250 << 10)}}}\n" * 96 + OUTCOME
    of_many_kinds = "".join(f'{SAMPLE},"k{i}":1{",1" * (250 << 10)}}}\n{OUTCOME}' for i in range(64))
    files = []
    for name, text in (
        ("line", of_a_line),
        ("outcome", of_an_outcome),
        ("round", of_a_round),
        ("kinds", of_many_kinds),
    ):
        path = folder / f"{name}.jsonl"
        path.write_text(text)
        files.append(path)
    return files


def test_a_hostile_file_takes_no_more_memory_than_a_few_times_its_size(core_path: Path, tmp_path: Path) -> None:
    limit = 768 << 20
    for path in costly_files(tmp_path):
        request = {"formulas": {"null": []}, "files": [str(path)]}
        answer = subprocess.run(
            [core_path, "round-values"], input=json.dumps(request).encode(), capture_output=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )  # fmt: skip
        assert answer.returncode == 0, answer.stderr
        # A line longer than any record is left to the reader, which names it.
        assert (answer.stdout == b"\n") == (path.stem == "line")


def test_a_line_longer_than_any_record_is_named(tmp_path: Path) -> None:
    path = recorded_file("soak.jsonl", tmp_path)
    with path.open("ab") as file:
        file.write(b'{"type":"sample","a":[' + b"1," * (33 << 20) + b"1]}\n")
    batch = update._read_batch(str(tmp_path), run_files(tmp_path))
    assert "is longer than any record: more than 64 MiB" in batch.entries[0].reason


def test_a_text_that_is_no_run_is_refused() -> None:
    for text in (b"", b"{}\n", b'{"type":"run"'):
        with pytest.raises(FileError):
            read_round_values(Path("x.jsonl"), RoundTexts(text, b""))


def test_values_that_belong_to_nothing_are_refused(tmp_path: Path) -> None:
    texts = texts_of(recorded_file("soak.jsonl", tmp_path))
    for wrong in (
        b"{}\n",
        texts.values.replace(b'"line":', b'"line":1'),
        b"\xff",
        texts.values.replace(b'"lowest":', b'"lowest ":'),
    ):
        with pytest.raises(FileError):
            read_round_values(Path("x.jsonl"), texts._replace(values=wrong))


def test_a_file_cannot_bring_values_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = reduced_file("soak")
    values = texts_of(recorded_file("soak.jsonl", tmp_path)).values.splitlines(keepends=True)[0]
    (tmp_path / "soak.jsonl").write_bytes(content.replace(b'{"type":"outcome"', values + b'{"type":"outcome"', 1))
    with_core, without = entries(tmp_path, monkeypatch)
    assert with_core == without
    assert "Invalid value 'values'" in with_core.entries[0].reason
