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

    def __init__(self, experiments: Sequence[Experiment] = ()) -> None:
        self._position = Position(experiments)
        self._said_at = -PLAIN_INTERVAL_S

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Print the place in the run, unless a line was printed less than ``PLAIN_INTERVAL_S`` ago.

        The parameters are those of ``QuietProgress.begin``; the share is not shown.
        """
        self._position.begin(round_number, experiment, left_s)
        if time.monotonic() - self._said_at >= PLAIN_INTERVAL_S:
            self._said_at = time.monotonic()
            print(clean_text(self._position.line()), file=sys.stderr, flush=True)


class LiveProgress(QuietProgress):
    """A display of two lines on standard error, which is drawn while the context is active and removed at its end."""

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

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Show the place in the run, with a bar for each area.

        The parameters are those of ``QuietProgress.begin``; the share is not shown.
        """
        self._position.begin(round_number, experiment, left_s)

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        """Show the work per second of the sample, which counts for the experiment begun last."""
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

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Print the experiment's id above the display, and start an empty chart for it.

        The parameters are those of ``QuietProgress.begin``; only the experiment is shown.
        """
        self._live.console.print(experiment.id, style="dim", highlight=False)
        self._strip = Strip()

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        """Add a sample to the chart, which is drawn at the next refresh. It counts for the experiment begun last."""
        self._strip.add(sample)


def make_progress(quiet: bool, is_series: bool, experiments: Sequence[Experiment] = ()) -> QuietProgress:
    """Return the display of a run that fits standard error; it is shown while its context is active.

    With ``quiet``, it shows only warnings. Otherwise, if standard error is not a terminal, it prints lines for a log.
    ``is_series`` says that the run measures long series, so that a terminal shows a chart of samples instead of bars.
    ``experiments`` are those of the plan, of which bars show the part that is done in a round; none for other work.
    """
    if quiet:
        return QuietProgress()
    if not sys.stderr.isatty():
        return PlainProgress(experiments)
    return SeriesProgress() if is_series else LiveProgress(experiments)
