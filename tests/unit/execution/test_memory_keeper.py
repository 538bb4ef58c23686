"""Memory that is held between experiments, on a made-up machine."""

from __future__ import annotations

import errno
import mmap
from pathlib import Path

import msgspec
import pytest

from machines import MACHINE, machine_with
from nameplate.execution.memory_keeper import MemoryKeeper
from nameplate.records.plan_record import Experiment
from run_samples import outcome

MIB = 1 << 20
BALLOON = "0110010100000000"


def root_with(tmp_path: Path, features: str = BALLOON, kind: str = "0x0005", available_kib: int = 8 << 20) -> Path:
    device = tmp_path / "sys/bus/virtio/devices/virtio0"
    device.mkdir(parents=True)
    (device / "device").write_text(f"{kind}\n")
    (device / "features").write_text(f"{features}\n")
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {available_kib} kB\n")
    return tmp_path


def small(_: int) -> mmap.mmap:
    return mmap.mmap(-1, 4096)


def keeper_on(root: Path) -> MemoryKeeper:
    return MemoryKeeper(MACHINE, root, small)


def touched(keeper: MemoryKeeper, identity: str, touched_bytes: float) -> None:
    keeper.hold_after(msgspec.structs.replace(outcome(identity), facts={"touched_bytes": touched_bytes}))


def experiment(identity: str) -> Experiment:
    return Experiment(id=identity, probe="memory_stream", params={"size": 1})


def test_memory_is_held_until_an_experiment_needs_it(tmp_path: Path) -> None:
    keeper = keeper_on(root_with(tmp_path))
    touched(keeper, "small", 100 * MIB)
    assert keeper.held_bytes == 64 * MIB  # whole chunks
    touched(keeper, "large", 640 * MIB)
    assert keeper.held_bytes == 640 * MIB
    keeper.release_for(experiment("small"))
    assert keeper.held_bytes == (640 - 128) * MIB
    touched(keeper, "small", 100 * MIB)
    assert keeper.held_bytes == 640 * MIB
    keeper.release_for(experiment("unknown"))
    assert keeper.held_bytes == 640 * MIB
    keeper.release_for(experiment("large"))
    assert keeper.held_bytes == 0
    keeper.release_for(experiment("large"))  # what failed was not held again
    assert keeper.held_bytes == 0


def test_a_new_experiment_with_an_automatic_size_gets_all(tmp_path: Path) -> None:
    keeper = keeper_on(root_with(tmp_path))
    touched(keeper, "large", 640 * MIB)
    keeper.release_for(Experiment(id="flops", probe="cpu_flops", params={}))
    assert keeper.held_bytes == 640 * MIB
    keeper.release_for(Experiment(id="new", probe="memory_stream", params={"op": "read"}))
    assert keeper.held_bytes == 0


def test_closing_releases_all(tmp_path: Path) -> None:
    keeper = keeper_on(root_with(tmp_path))
    touched(keeper, "large", 640 * MIB)
    keeper.close()
    assert keeper.held_bytes == 0


def test_experiments_without_large_memory_need_none(tmp_path: Path) -> None:
    keeper = keeper_on(root_with(tmp_path))
    touched(keeper, "small", 63 * MIB)
    keeper.hold_after(msgspec.structs.replace(outcome("flops"), facts={}))
    assert keeper.held_bytes == 0


def test_a_quarter_of_the_available_memory_is_the_most(tmp_path: Path) -> None:
    keeper = keeper_on(root_with(tmp_path, available_kib=1 << 20))
    touched(keeper, "large", 640 * MIB)
    assert keeper.held_bytes == 256 * MIB


def test_without_more_memory_what_there_is_is_held(tmp_path: Path) -> None:
    chunks = iter([mmap.mmap(-1, 4096), None])
    keeper = MemoryKeeper(MACHINE, root_with(tmp_path), lambda _: next(chunks))
    touched(keeper, "large", 640 * MIB)
    assert keeper.held_bytes == 64 * MIB


def test_memory_that_cannot_be_mapped_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> mmap.mmap:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", refuse)
    keeper = MemoryKeeper(MACHINE, root_with(tmp_path))
    touched(keeper, "large", 640 * MIB)
    assert keeper.held_bytes == 0


@pytest.mark.parametrize(
    ("features", "kind"),
    [("0110000000000000", "0x0005"), ("0110010100000000", "0x0002"), ("", "0x0005"), (BALLOON, "?")],
)
def test_nothing_is_held_without_a_balloon_that_reports_free_pages(tmp_path: Path, features: str, kind: str) -> None:
    keeper = keeper_on(root_with(tmp_path, features, kind))
    touched(keeper, "large", 640 * MIB)
    assert keeper.held_bytes == 0


def test_nothing_is_held_in_a_group_with_a_memory_limit(tmp_path: Path) -> None:
    machine = machine_with(limits={"memory_bytes": 8 << 30})
    keeper = MemoryKeeper(machine, root_with(tmp_path), small)
    touched(keeper, "large", 640 * MIB)
    assert keeper.held_bytes == 0


def test_nothing_is_held_on_a_machine_without_such_files(tmp_path: Path) -> None:
    keeper = keeper_on(tmp_path)
    touched(keeper, "large", 640 * MIB)
    assert keeper.held_bytes == 0


def test_held_memory_is_really_there(tmp_path: Path) -> None:
    def resident_bytes() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

    keeper = MemoryKeeper(MACHINE, root_with(tmp_path))
    before = resident_bytes()
    touched(keeper, "large", 128 * MIB)
    assert resident_bytes() - before >= 127 * MIB
    keeper.close()
    assert resident_bytes() - before < 64 * MIB
