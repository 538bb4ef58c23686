"""Show the progress of a run: two lines of a terminal, or lines of a log if standard error is not a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType

from rich.console import Group
from rich.live import Live
from rich.text import Text

from nameplate.control_characters import clean_text
from nameplate.records.plan_record import Experiment
from nameplate.records.run_record import Sample
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.position import Position
from nameplate.report.terminal.strip import Strip

PLAIN_INTERVAL_S = 10.0


class QuietProgress:
    """A display that shows only warnings, and the base class of the other displays.

    Displays are context managers: a display is shown while its context is active, and ``start``, ``sample`` and
    ``warn`` may be called only then.
    """

    def __enter__(self) -> QuietProgress:
        """Return the display; there is nothing to start."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display; there is nothing to remove."""

    def start(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Ignore that ``experiment`` starts; other displays show this.

        ``round_number`` counts from 1, ``share_done`` is the part of the run that is done (0 to 1), and ``left_s`` is
        the maximum time until the end of the run in seconds.
        """

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        """Ignore a sample of ``experiment``; displays on a terminal show it."""

    def warn(self, message: str) -> None:
        """Print "nameplate: " and ``message``, which is about an error that does not end the run, to standard error."""
        print(f"nameplate: {clean_text(message)}", file=sys.stderr)


class PlainProgress(QuietProgress):
    """A display for logs: warnings, and at most one line every 10 s (``PLAIN_INTERVAL_S``), on standard error."""

    def __init__(self, experiments: Sequence[Experiment] = ()) -> None:
        self._position = Position(experiments)
        self._said_at = -PLAIN_INTERVAL_S

    def start(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Print the round, the experiment and the time left, unless a line was printed in the last 10 s.

        The parameters are as in ``QuietProgress.start``; ``share_done`` is not shown.
        """
        self._position.start(round_number, experiment, left_s)
        if time.monotonic() - self._said_at >= PLAIN_INTERVAL_S:
            self._said_at = time.monotonic()
            print(clean_text(self._position.line()), file=sys.stderr, flush=True)


class LiveProgress(QuietProgress):
    """A display of two or three lines on standard error, which is removed at the end of its context."""

    def __init__(self, experiments: Sequence[Experiment] = ()) -> None:
        self._position = Position(experiments)
        self._live = Live(
            console=make_console(stderr=True),
            refresh_per_second=2,  # drawing takes CPU time away from the measurement
            transient=True,
            get_renderable=lambda: Group(*self._lines()),
        )

    def _lines(self) -> list[Text]:
        return self._position.lines()

    def __enter__(self) -> LiveProgress:
        """Draw the display, and return it."""
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the display."""
        self._live.stop()

    def start(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Show the round, the experiment and the time left, with a bar for each area.

        The parameters are as in ``QuietProgress.start``; ``share_done`` is not shown.
        """
        self._position.start(round_number, experiment, left_s)

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        """Count a sample for the trust so far; its work per second is shown if it is the last one of its experiment.

        The sample belongs to the experiment that ``start`` was called with last; ``experiment`` is ignored.
        """
        self._position.sample(sample)

    def warn(self, message: str) -> None:
        """Print a message above the display, preceded by "nameplate: "."""
        self._live.console.print(f"nameplate: {clean_text(message)}", style="yellow", highlight=False)


class SeriesProgress(LiveProgress):
    """A display for long series: one line on standard error with a chart of the latest samples (``Strip``)."""

    def __init__(self) -> None:
        self._strip = Strip()
        super().__init__()

    def _lines(self) -> list[Text]:
        return [Text(self._strip.text(), overflow="ellipsis", no_wrap=True)]

    def start(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Print the experiment's id above the display, and start an empty chart for it.

        The parameters are as in ``QuietProgress.start``; only ``experiment`` is shown.
        """
        self._live.console.print(experiment.id, style="dim", highlight=False)
        self._strip = Strip()

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        """Add a sample to the chart, which is drawn at the next refresh.

        The sample belongs to the experiment that ``start`` was called with last; ``experiment`` is ignored.
        """
        self._strip.add(sample)


def make_progress(quiet: bool, is_series: bool, experiments: Sequence[Experiment] = ()) -> QuietProgress:
    """Return the display of a run on standard error, which is shown while its context is active.

    With ``quiet``, the display shows only warnings. Otherwise, if standard error is not a terminal, it prints lines for
    a log. On a terminal, it draws a chart of samples if ``is_series`` says that the run measures long series, and bars
    otherwise. ``experiments`` are the experiments of the plan, from which the bars of the areas are computed; work that
    is not in a plan has none.
    """
    if quiet:
        return QuietProgress()
    if not sys.stderr.isatty():
        return PlainProgress(experiments)
    return SeriesProgress() if is_series else LiveProgress(experiments)
