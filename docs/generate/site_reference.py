"""The reference pages, computed from the program itself, so that they cannot disagree with it.

Each function returns Markdown. The sources are the probes that the installed cores describe, the metrics that
``nameplate.probes`` declares, the command line's docstrings, ``nameplate.errors``, the shipped plans and
``schema/record.schema.json``.
"""

from __future__ import annotations

import html
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cyclopts import App
from cyclopts.argument import Argument

from nameplate import errors
from nameplate.command_line import make_app
from nameplate.execution.core_process import describe_all
from nameplate.planning.plan_file import read_plan, shipped_plans
from nameplate.planning.sweep import Parameter, ProbeInfo
from nameplate.probes import Metric, Percentile, load_probes
from nameplate.report.content.parameter_values import possible_values

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "schema" / "record.schema.json"

Row = Sequence[str]


def probe_section(name: str) -> str:
    """Return the parameters, metrics, counters and facts of one probe as a section of its page. Raises CoreError."""
    known = describe_all()
    if name not in known:
        raise errors.CoreMissing(f"no core here has the probe {name}: run script/bootstrap docs, with MPI for mpi_*")
    info = known[name]
    parameters = map(_parameter, info.parameters)
    named = [(entry.name, entry.unit or "–", entry.summary) for entry in (*info.counters, *info.facts)]
    parts = [
        "## Reference", f"{_cell(info.summary[0].upper() + info.summary[1:])}.",
        "### Parameters", markdown_table(("parameter", "values", "default", "meaning"), parameters),
        "### Metrics", markdown_table(("metric", "unit", "better", "kind"), map(_metric, load_probes()[name].metrics)),
        "### Recorded with each sample or at set-up", markdown_table(("name", "unit", "meaning"), named),
    ]  # fmt: skip
    return "\n\n".join(parts if named else parts[:-2]) + "\n"


def probes_page() -> str:
    """Return the list of all probes, with links to their pages."""
    rows = [(f"[`{info.name}`](../probes/{info.name}.md)", info.summary, _needs(info), _names(info)) for info in
            describe_all().values()]  # fmt: skip
    table = markdown_table(("probe", "measures", "needs", "metrics"), rows)
    intro = "`nameplate list` prints this table, and `nameplate list PROBE` prints the parameters of one probe."
    return f"# Probes\n\n{intro}\n\n{table}\n"


def metrics_page() -> str:
    """Return every metric of every probe."""
    rows = [
        (f"[`{name}`](../probes/{name}.md)", *_metric(metric))
        for name, probe in load_probes().items()
        for metric in probe.metrics
    ]
    text = (
        "A rate is all work of a sample divided by its time. A percentile is taken from all operations of a round. A "
        "detail appears in the tables of its probe and in exports, but not as a row of its own. JSON and CSV give "
        "every value in the unit shown here."
    )
    return f"# Metrics\n\n{text}\n\n{markdown_table(('probe', 'metric', 'unit', 'better', 'kind'), rows)}\n"


def commands_page() -> str:
    """Return every subcommand with its arguments and options, from the docstrings that ``--help`` prints."""
    app = make_app()
    names = sorted(name for name in app if not name.startswith("-"))
    return "# Commands\n\n" + "\n\n".join(_command(name, app[name]) for name in names) + "\n"


def exit_codes_page() -> str:
    """Return the meaning of each exit code, and the error class that each comes from."""
    readme = " ".join((ROOT / "README.md").read_text().split())
    match = re.search(r"Exit codes: (.+?)\. ", readme)
    if match is None:
        raise ValueError("README.md has no sentence that begins with 'Exit codes:'")
    codes = re.findall(r"(\d+) ([^;]+)", match[1])
    kinds = [
        (f"`{kind.__name__}`", str(kind.exit_code), (inspect.getdoc(kind) or "").splitlines()[0])
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, errors.NameplateError)
    ]
    return (
        f"# Exit codes\n\n{markdown_table(('code', 'meaning'), codes)}\n\n"
        "An error prints one line on standard error, which begins with `nameplate:`. The program's error classes have "
        f"these codes:\n\n{markdown_table(('class', 'code', 'raised when'), kinds)}\n"
    )


def plans_page() -> str:
    """Return the shipped plans with their budgets."""
    rows = []
    for name in shipped_plans():
        page = f"[`{name}`](../plans/{name}.md)" if (ROOT / "docs" / "plans" / f"{name}.md").is_file() else f"`{name}`"
        rows.append((page, read_plan(name).summary))
    table = markdown_table(("plan", "measures"), rows)
    intro = (
        "`nameplate run PLAN` measures a plan, `nameplate plan PLAN` lists its experiments, and `--dry-run` says how "
        "long it takes. [The studies](../studies.md) have plans of their own."
    )
    return f"# Plans\n\n{intro}\n\n{table}\n"


def records_page() -> str:
    """Return the fields of every record, from the JSON schema."""
    schema = json.loads(SCHEMA.read_text())
    parts = [
        "# Fields of the records",
        f"{_prose(schema['description'])} The [JSON schema](record.schema.json) is the contract; "
        "[the run file](../record-format.md) explains it.",
    ]
    for name, definition in schema["$defs"].items():
        parts += [
            f"## {name}",
            _prose(definition["description"]),
            markdown_table(("field", "type", "required"), _fields(definition)),
        ]
    return "\n\n".join(parts) + "\n"


def _fields(definition: Mapping[str, Any], prefix: str = "") -> Iterator[Row]:
    for name, field in definition["properties"].items():
        yield f"`{prefix}{name}`", json_type(field), "yes" if name in definition["required"] else "no"
        if "properties" in field:
            yield from _fields(field, f"{prefix}{name}.")


def json_type(field: Mapping[str, Any]) -> str:
    """Return a field's type in JSON in words, from its schema."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "const" in field:
        return json.dumps(field["const"])
    if "enum" in field:
        return " or ".join(json.dumps(value) for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(json_type(choice) for choice in field["anyOf"])
    kinds = field.get("type", "any")
    text = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    if isinstance(field.get("additionalProperties"), dict):
        return f"{text} of {json_type(field['additionalProperties'])}"
    return f"{text} of {json_type(field['items'])}" if isinstance(field.get("items"), dict) else text


def _parameter(parameter: Parameter) -> Row:
    default = parameter.default if parameter.default is not None else parameter.automatic
    return f"`{parameter.name}`", possible_values(parameter), default or "–", parameter.summary


def _metric(metric: Metric) -> Row:
    kind = "percentile" if isinstance(metric, Percentile) else "rate" if "/s" in metric.unit else "ratio"
    return f"`{metric.name}`", metric.unit or "–", metric.better, f"{kind}, detail" if metric.is_detail else kind


def _needs(info: ProbeInfo) -> str:
    return ", ".join(info.needs) or "–"


def _names(info: ProbeInfo) -> str:
    return ", ".join(f"`{metric.name}`" for metric in load_probes()[info.name].metrics)


def _command(name: str, app: App) -> str:
    paragraphs, _, _ = inspect.cleandoc(app.help).partition("\n\nParameters\n---")
    arguments = app.assemble_argument_collection(parse_docstring=True).filter_by(show=True)
    rows = [_argument(argument) for argument in arguments]
    table = [markdown_table(("argument or option", "default", "meaning"), rows)] if rows else []
    return "\n\n".join([f"## nameplate {name}", *map(_prose, paragraphs.split("\n\n")), *table])


def _argument(argument: Argument) -> Row:
    # Not --no-json, which only undoes --json.
    names = [name for name in argument.names if name not in argument.negatives]
    default = argument.field_info.default
    has_default = isinstance(default, str) and default and argument.parameter.show_default is not False
    default_text = f"`{default}`" if has_default else "–"
    return ", ".join(f"`{name}`" for name in names), default_text, argument.parameter.help or ""


def markdown_table(headings: Row, rows: Iterable[Row]) -> str:
    """Return a table whose cells may have code in backquotes and links."""
    lines = [headings, ["---"] * len(headings), *([_cell(text) for text in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(text: str) -> str:
    """Return a text as one cell; what stands in backquotes is code, and links of the caller stay links."""
    return " ".join(_prose(text).replace("|", "&#124;").split())


def _prose(text: str) -> str:
    pieces = re.split(r"(`[^`]+`)", text.replace("``", "`"))
    return "".join(piece if piece.startswith("`") else _literal(piece) for piece in pieces)


def _literal(text: str) -> str:
    return html.escape(text, quote=False).replace("*", "&#42;")
