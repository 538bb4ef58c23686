"""Show the progress of a run: a bar with the time left, or plain lines if standard error is not a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.text import Text

from nameplate.control_characters import clean_text
from nameplate.records.plan_record import Experiment
from nameplate.records.run_record import Sample
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.strip import Strip

PLAIN_INTERVAL_S = 5.0


class QuietProgress:
    """A display that shows only warnings, and the base class of the other displays.

    It is a context manager: the display is shown from its start to its end, and the other methods are called within.
    """

    def __enter__(self) -> QuietProgress:
        """Return the display; there is nothing to start."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display; there is nothing to remove."""

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Ignore the start of an experiment, which other displays show.

        ``round_number`` counts from 1, ``share_done`` is the share of the run that is done (0 to 1), and ``left_s`` is
        the maximum time until the end of the run in seconds.
        """

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        """Ignore a sample that ``experiment`` has taken, which the display of a series shows."""

    def warn(self, message: str) -> None:
        """Print a message on standard error, preceded by "nameplate: ", about an error that does not end the run."""
        print(f"nameplate: {clean_text(message)}", file=sys.stderr)


class PlainProgress(QuietProgress):
    """A display for logs: at most one line every ``PLAIN_INTERVAL_S`` seconds on standard error, besides warnings."""

    def __init__(self) -> None:
        self._said_at = -PLAIN_INTERVAL_S

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Print the round and the time left in seconds, unless a line was printed less than ``PLAIN_INTERVAL_S`` ago.

        The parameters are those of ``QuietProgress.begin``; the experiment and the share are not shown.
        """
        if time.monotonic() - self._said_at >= PLAIN_INTERVAL_S:
            self._said_at = time.monotonic()
            print(f"round {round_number}: at most {left_s:.0f} s left", file=sys.stderr, flush=True)


class LiveProgress(QuietProgress):
    """A progress bar on standard error, which is drawn while the context is active and removed at its end.

    ``columns`` are the parts of the bar; by default they show the round, the share done, the time left and the
    experiment.
    """

    def __init__(self, columns: Sequence[ProgressColumn] = ()) -> None:
        self._bar = Progress(
            *(columns or _bar_columns()),
            console=make_console(stderr=True),
            refresh_per_second=2,  # drawing takes CPU time away from the measurement
            transient=True,
        )
        self._task = self._bar.add_task("", total=1.0, round=1, left="")

    def __enter__(self) -> LiveProgress:
        """Draw the bar, and return the display."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        self._bar.stop()

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Show the round, the share done, the time left and the experiment's id in the bar.

        The parameters are those of ``QuietProgress.begin``.
        """
        self._bar.update(
            self._task, completed=share_done, round=round_number, left=f"{left_s:.0f}", description=experiment.id
        )

    def warn(self, message: str) -> None:
        """Print a message above the bar, preceded by "nameplate: "."""
        self._bar.console.print(f"nameplate: {clean_text(message)}", style="yellow", highlight=False)


class SeriesProgress(LiveProgress):
    """A display for long series: one line on standard error with a chart of the latest samples (``Strip``)."""

    def __init__(self) -> None:
        self._column = _StripColumn()
        super().__init__([self._column])

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Print the experiment's id above the display, and start an empty chart for it.

        The parameters are those of ``QuietProgress.begin``; only the experiment is shown.
        """
        super().begin(round_number, experiment, share_done, left_s)
        self._bar.console.print(experiment.id, style="dim", highlight=False)
        self._column.strip = Strip()

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        """Add a sample to the chart, which is drawn at the next refresh. It counts for the experiment begun last."""
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
    """Return the display of a run that fits standard error; it is shown while its context is active.

    With ``quiet``, it shows only warnings. Otherwise, if standard error is not a terminal, it prints lines for a log.
    ``is_series`` says that the run measures long series, so that a terminal shows a chart of samples instead of a bar.
    """
    if quiet:
        return QuietProgress()
    if not sys.stderr.isatty():
        return PlainProgress()
    return SeriesProgress() if is_series else LiveProgress()
