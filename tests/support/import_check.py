"""Import a generated output of a tool as users do, and compare what is read with what is known."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nameplate.errors import FileError
from nameplate.tools.imported_run import read_imported
from tool_outputs import generate
from tool_outputs.truth import Reading, ToolOutput, faults, missing

# A message to users must not have a regular expression, or the words of a JSON decoder.
_UNCLEAR = re.compile(r"\\[dsS]|\(\?:|trailing characters|malformed|Object missing|Expected `")

MIN_HARMLESS_SHARE = 0.95


@dataclass(frozen=True)
class Import:
    """How the import of an output ended: ``refusal`` is the message, or empty; faults are pairs of kind and text."""

    number: int
    output: ToolOutput
    faults: list[tuple[str, str]]
    lacks: list[str]
    refusal: str

    @property
    def is_read(self) -> bool:
        """Return whether all values were read, and are right."""
        return not (self.faults or self.lacks or self.refusal)

    @property
    def is_unclear(self) -> bool:
        """Return whether the message does not help, or leaves out the tool's own error."""
        return bool(self.refusal) and (
            _UNCLEAR.search(self.refusal) is not None or self.output.quoted not in self.refusal
        )

    def endings(self) -> Iterator[str]:
        """Yield the counts that this import belongs to."""
        yield "outputs"
        yield "wrong" if self.faults else "refused" if self.refusal or self.lacks else "read"
        if self.is_unclear:
            yield "unclear"
        if self.output.reading is Reading.MUST:
            yield "harmless"
            if self.is_read:
                yield "harmless and read"


def check_import(number: int, folder: Path) -> Import:
    """Write the output with a number to the folder, import it, and return how that ended."""
    output = generate(number)
    path = folder / output.name
    path.write_bytes(output.content)
    try:
        report = read_imported(path)
    except FileError as error:
        return Import(number, output, [], [], str(error) or "no message")
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"unhandled {type(error).__name__} in {Path(where.filename).name}:{where.lineno}"
        return Import(number, output, [(kind, str(error))], [], "")
    pairs = [(kind_of(line), line) for line in faults(output, report)]
    lacks = [f"{expected.metric} {dict(expected.params)}" for expected in missing(output, report)]
    return Import(number, output, list(dict(pairs).items()), lacks, "")


def kind_of(line: str) -> str:
    """Return what a line about a fault has in common with others of its kind: no numbers, no values."""
    head = line.split(": ", maxsplit=1)[0]
    if head == "wrong parameter":
        return re.sub(r"=[^\s;]+|(?<=, not) [^;]+", " …", f"{head}: {line.split(': ')[1]}").replace(", not …", "")
    if head == "not named":
        return re.sub(r"\d+", "…", line)
    return head
