"""What a run shows while it goes on: a bar with the time left, or plain lines where there is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.text import Text

from nameplate.control_characters import clean_text
from nameplate.records.model import Experiment, Sample
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.strip import Strip

PLAIN_INTERVAL_S = 5.0


class QuietProgress:
    """Shows warnings only."""

    def __enter__(self) -> QuietProgress:
        """Nothing to begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to end."""

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Not shown."""

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        """Not shown."""

    def warn(self, words: str) -> None:
        """One line on standard error."""
        print(f"nameplate: {clean_text(words)}", file=sys.stderr)


class PlainProgress(QuietProgress):
    """A line now and then on standard error, for logs."""

    def __init__(self) -> None:
        self._said_at = -PLAIN_INTERVAL_S

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Shown every few seconds."""
        if time.monotonic() - self._said_at >= PLAIN_INTERVAL_S:
            self._said_at = time.monotonic()
            print(f"round {round_number}: at most {left_s:.0f} s left", file=sys.stderr, flush=True)


class LiveProgress(QuietProgress):
    """A bar on standard error."""

    def __init__(self, columns: Sequence[ProgressColumn] = ()) -> None:
        self._bar = Progress(
            *(columns or _bar_columns()),
            console=make_console(stderr=True),
            refresh_per_second=2,  # drawing takes CPU time that the measurement should have
            transient=True,
        )
        self._task = self._bar.add_task("", total=1.0, round=1, left="")

    def __enter__(self) -> LiveProgress:
        """Draws the bar."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Removes the bar."""
        self._bar.stop()

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Moves the bar."""
        self._bar.update(
            self._task, completed=share_done, round=round_number, left=f"{left_s:.0f}", description=experiment.id
        )

    def warn(self, words: str) -> None:
        """One line above the bar."""
        self._bar.console.print(f"nameplate: {clean_text(words)}", style="yellow", highlight=False)


class SeriesProgress(LiveProgress):
    """A chart of the last samples on standard error."""

    def __init__(self) -> None:
        self._column = _StripColumn()
        super().__init__([self._column])

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Names the cell above its chart."""
        super().begin(round_number, experiment, share_done, left_s)
        self._bar.console.print(experiment.id, style="dim", highlight=False)
        self._column.strip = Strip()

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        """Drawn at the next refresh."""
        self._column.strip.add(sample)


class _StripColumn(ProgressColumn):
    def __init__(self) -> None:
        super().__init__()
        self.strip = Strip()

    def render(self, task: Task) -> Text:
        return Text(self.strip.text(), overflow="ellipsis", no_wrap=True)


def _bar_columns() -> list[ProgressColumn]:
    return [
        TextColumn("round {task.fields[round]}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("at most {task.fields[left]} s left"),
        TextColumn("{task.description}", markup=False),
    ]


def make_progress(quiet: bool, is_series: bool) -> QuietProgress:
    """What fits standard error."""
    if quiet:
        return QuietProgress()
    if not sys.stderr.isatty():
        return PlainProgress()
    return SeriesProgress() if is_series else LiveProgress()
