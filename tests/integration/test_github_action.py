"""Run the steps of ``action.yml`` as a runner of GitHub Actions would; gh is a stand-in, because GitHub is not here.

What gh would send and receive is in files: ``artifacts/ID/NAME`` has runs of the base branch, and ``comments.json`` the
comments on the pull request, as GitHub lists them. jq evaluates the filters, as the one in gh does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nameplate.command_line import run
from recorded_runs import quiet_file
from slowed_runs import slowed, steady

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
GH = """#!/bin/bash
set -eu
cd "$GH_FOLDER"
printf '%s\\n' "$*" >> calls
for last; do :; done
post='. + [{id: (length + 1), user: {login: $login}, body: $body}]'
patch='map(if .id == $id and .user.login == $login then .body = $body else . end)'
write() {
  jq --arg login "$GH_LOGIN" --rawfile body "${last#body=@}" "$@" comments.json > new.json
  mv new.json comments.json
}
case "$1 $2" in
  'run list') ls artifacts ;;
  'run download') cp -r "artifacts/$3/$5/." "$7" ;;
  'api graphql') jq -n --arg login "$GH_LOGIN" '{data: {viewer: {login: $login}}}' | jq -r "$last" ;;
  'api --paginate') jq -r "$last" comments.json ;;
  'api --method')
    [ ! -e read-only ]
    if [ "$3" = POST ]; then write "$post"; else write --argjson id "${4##*/}" "$patch"; fi ;;
  *) echo "unexpected: gh $*" >&2; exit 2 ;;
esac
"""
BOT = "github-actions[bot]"
# The real program, but for whether the runners are comparable: that is what another machine would decide.
NAMEPLATE = f"""#!/bin/bash
printf '%s\\n' "$*" >> "$GH_FOLDER/nameplate-calls"
if [ "$1" = doctor ] && [ -n "${{COMPARABLE-}}" ]; then
  echo "comparable with the machine of $3: $COMPARABLE"
  [ "$COMPARABLE" = yes ] || exit 5
else
  exec {sys.executable} -m nameplate "$@"
fi
"""


@dataclass
class Job:
    """A job with one step that uses the action: its inputs, the values of GitHub's contexts, and what came of it."""

    folder: Path
    inputs: Mapping[str, str]
    github: Mapping[str, str]
    environment: dict[str, str]
    outputs: dict[str, str] = field(default_factory=dict)
    messages: str = ""

    def run(self) -> int:
        """Run all steps, and return the exit code of the first one that failed, or 0."""
        action = YAML(typ="safe").load(ACTION)
        known = {name: item["default"] for name, item in action["inputs"].items()} | dict(self.inputs)
        self.outputs = {f"inputs.{name}": self._resolved(value) for name, value in known.items()}
        failed = 0
        for step in action["runs"]["steps"]:
            if "uses" in step:
                self._upload(step["with"])
            elif not failed:
                failed = self._run_step(step)
        return failed

    def _resolved(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            contexts = {f"github.{name}": value for name, value in self.github.items()} | self.outputs
            return next(filter(None, (contexts[name.strip()] for name in match[1].split("||"))), "")

        return EXPRESSION.sub(value, text)

    def _run_step(self, step: Mapping[str, Any]) -> int:
        script = step["run"]
        assert not EXPRESSION.search(script), "a value of a pull request in a script would be run as a part of it"
        environment_of_step = {name: self._resolved(value) for name, value in step.get("env", {}).items()}
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        files["GITHUB_OUTPUT"].write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.folder,
            env=self.environment | environment_of_step | {name: str(path) for name, path in files.items()},
        )  # fmt: skip
        self.messages += done.stdout
        for line in files["GITHUB_OUTPUT"].read_text().splitlines():
            name, _, value = line.partition("=")
            self.outputs[f"steps.{step['id']}.outputs.{name}"] = value
        return done.returncode

    def _upload(self, given: Mapping[str, str]) -> None:
        path = Path(self._resolved(given["path"]))
        if path.is_file():
            target = self.folder / "uploaded" / self._resolved(given["name"])
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    for name in ("bin", "temp", "artifacts"):
        (tmp_path / name).mkdir()
    (tmp_path / "comments.json").write_text("[]")
    for name, text in (("gh", GH), ("nameplate", NAMEPLATE)):
        program = tmp_path / "bin" / name
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    environment = {
        **os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_WORKFLOW": "measure", "GH_FOLDER": str(tmp_path), "COMPARABLE": "yes",
        "GH_LOGIN": BOT,
    }  # fmt: skip
    github = {"base_ref": "main", "ref_name": "7/merge", "repository": "us/ours", "token": "secret"}
    github["event.pull_request.number"] = "7"
    return Job(tmp_path, {"experiments": "null"}, github, environment)


def _base(job: Job, path: Path, number: int = 12, artifact: str = "nameplate-run") -> None:
    folder = job.folder / "artifacts" / str(number) / artifact
    folder.mkdir(parents=True)
    shutil.copy(path, folder / "run.jsonl")


def _comments(job: Job) -> list[dict[str, Any]]:
    comments: list[dict[str, Any]] = json.loads((job.folder / "comments.json").read_text())
    return comments


def _comment(job: Job) -> list[str]:
    (comment,) = _comments(job)
    lines: list[str] = comment["body"].splitlines()
    return lines


def _write_comments(job: Job, *comments: tuple[str, str]) -> None:
    """Write the comments of the pull request, each with a login and a text."""
    listed = [
        {"id": number, "user": {"login": login}, "body": body} for number, (login, body) in enumerate(comments, 1)
    ]
    (job.folder / "comments.json").write_text(json.dumps(listed))


def _replace_command(job: Job, command: str, script: str) -> None:
    """Replace a command of nameplate by a script, whose arguments are those of nameplate."""
    program = job.folder / "bin" / "nameplate"
    recorded, rest = program.read_text().split('/nameplate-calls"\n')
    program.write_text(f'{recorded}/nameplate-calls"\nif [[ "$*" = {command}* ]]; then {script}; fi\n{rest}')


def _new(job: Job, path: Path) -> None:
    """Replace the measurement by a recorded run."""
    _replace_command(job, "run", f'cp {path} "${{@: -1}}"; exit')


def _measure_nothing(job: Job) -> None:
    """Replace the measurement by an empty file, for tests of a job that has no base."""
    _replace_command(job, "run", 'touch "${@: -1}"; exit')


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Return a run with rounds enough for a verdict, which agree: while other tests run they would vary too much."""
    path = tmp_path / "measured.jsonl"
    assert run(["run", "null", "duration=1ms", "--rounds", "6", "--quiet", "-o", str(path)]) == 0
    return steady(path, tmp_path / "steady.jsonl", 1.0)


def test_the_first_run_is_kept_and_has_nothing_to_be_compared_with(job: Job) -> None:
    assert job.run() == 0, job.messages
    assert (job.folder / "uploaded" / "nameplate-run" / "run.jsonl").stat().st_size > 0
    assert _comment(job)[0].startswith("**nameplate: no run of `main` to compare with.**")


def test_a_comment_is_limited_to_forty_lines_and_replaces_an_earlier_comment(job: Job, tmp_path: Path) -> None:
    recorded = quiet_file("quick.jsonl", tmp_path)
    _new(job, recorded)
    _base(job, recorded)
    assert job.run() == 0, job.messages
    lines = _comment(job)
    assert lines[0].startswith("**UNSURE: no main value has a capability in both runs")
    assert 3 < len(lines) <= 40
    assert (
        (job.folder / "GITHUB_STEP_SUMMARY")
        .read_text()
        .startswith("**UNSURE: no main value has a capability in both runs")
    )
    # The second push replaces the comment.
    before = _comments(job)
    assert job.run() == 0, job.messages
    assert _comments(job) == before
    assert "api --method PATCH repos/us/ours/issues/comments/1 " in (job.folder / "calls").read_text()


def test_a_slower_machine_is_said_in_the_comment_and_fails_the_job(job: Job, measured: Path, tmp_path: Path) -> None:
    _base(job, measured)
    _new(job, slowed(measured, tmp_path / "slower.jsonl", 10))
    assert job.run() == 1
    assert "SLOWER" in "\n".join(_comment(job))
    assert "::error::this runner is slower than the one that measured main" in job.messages


def test_the_smallest_loss_that_fails_the_job_is_given_to_compare(job: Job, tmp_path: Path) -> None:
    recorded = quiet_file("quick.jsonl", tmp_path)
    _new(job, recorded)
    _base(job, recorded)
    for given, expected in (("", "compare base/run.jsonl new/run.jsonl --format markdown"),
                            ("5%", "compare base/run.jsonl new/run.jsonl --format markdown --fail-on 5%")):  # fmt: skip
        job.inputs = {"fail-on": given}
        assert job.run() == 0, job.messages
        assert (job.folder / "nameplate-calls").read_text().splitlines()[-1] == expected


def test_another_kind_of_runner_is_not_compared(job: Job, tmp_path: Path) -> None:
    recorded = quiet_file("quick.jsonl", tmp_path)
    job.environment["COMPARABLE"] = "no: another processor"
    _new(job, recorded)
    _base(job, recorded)
    assert job.run() == 0, job.messages
    lines = _comment(job)
    assert lines[0].startswith("**nameplate: this runner is not comparable with the one that measured `main`.**")
    assert lines[2].endswith("no: another processor")


def test_the_words_of_doctor_are_in_the_comment(job: Job, tmp_path: Path) -> None:
    # The recorded run was not made in the state that this machine is in now, so either answer may be right.
    del job.environment["COMPARABLE"]
    recorded = quiet_file("quick.jsonl", tmp_path)
    _new(job, recorded)
    _base(job, recorded)
    assert job.run() == 0, job.messages
    lines = _comment(job)
    assert lines[0].startswith(
        "**UNSURE: no main value has a capability in both runs"
    ) or "clock under load" in "\n".join(lines)
    assert len(lines) <= 40


def test_runs_of_the_base_branch_without_the_artifact_are_passed_over(job: Job, tmp_path: Path) -> None:
    recorded = quiet_file("quick.jsonl", tmp_path)
    _new(job, recorded)
    _base(job, recorded, 11, artifact="another")
    _base(job, recorded, 12)
    assert job.run() == 0, job.messages
    assert _comment(job)[0].startswith("**UNSURE: no main value has a capability in both runs")


def test_a_fork_that_may_not_comment_gets_a_warning_and_the_summary(job: Job) -> None:
    (job.folder / "read-only").touch()
    assert job.run() == 0, job.messages
    assert "::warning::" in job.messages
    assert not _comments(job)
    assert "no run of `main`" in (job.folder / "GITHUB_STEP_SUMMARY").read_text()


def test_a_push_is_compared_with_the_run_before_and_comments_nowhere(job: Job, tmp_path: Path) -> None:
    job.github = {**job.github, "base_ref": "", "ref_name": "main", "event.pull_request.number": ""}
    recorded = quiet_file("quick.jsonl", tmp_path)
    _new(job, recorded)
    _base(job, recorded)
    assert job.run() == 0, job.messages
    assert not _comments(job)
    assert "run list --workflow measure --branch main --event push " in (job.folder / "calls").read_text()
    assert "**UNSURE: no main value has a capability in both runs" in (job.folder / "GITHUB_STEP_SUMMARY").read_text()


def test_a_base_that_cannot_be_read_is_named_and_fails_no_job(job: Job, tmp_path: Path) -> None:
    del job.environment["COMPARABLE"]
    (tmp_path / "damaged.jsonl").write_text("{")
    _new(job, quiet_file("quick.jsonl", tmp_path))
    _base(job, tmp_path / "damaged.jsonl")
    assert job.run() == 0, job.messages
    lines = _comment(job)
    assert lines[0].startswith("**nameplate: the run of `main` cannot be read.** The next push to that branch")
    assert lines[2].startswith("    nameplate: base/run.jsonl: line 1 is not a nameplate record")
    assert "base/run.jsonl" in job.messages


@pytest.mark.parametrize("fail_on", ["", "5%"])
def test_runs_without_a_common_metric_are_named_and_fail_no_job(
    job: Job, measured: Path, fail_on: str, tmp_path: Path
) -> None:
    job.inputs = {"fail-on": fail_on}
    _new(job, quiet_file("quick.jsonl", tmp_path))
    _base(job, measured)
    assert job.run() == 0, job.messages
    lines = _comment(job)
    assert lines[0].startswith("**The runs have no metric in common.**")
    assert any(line.startswith("Only in the base: null") for line in lines)


def test_an_experiment_that_does_not_exist_fails_the_job_and_nothing_is_compared(job: Job) -> None:
    job.inputs = {"experiments": "cpu_flop"}
    assert job.run() == 2
    assert "cpu_flop" in job.messages
    assert not _comments(job)


@pytest.mark.parametrize("text", ["null\nduration=1ms\n", "\n  null\n\n  duration=1ms", "null \\t\tduration=*"])
def test_every_line_of_the_experiments_is_measured(job: Job, text: str) -> None:
    _measure_nothing(job)
    job.inputs = {"experiments": text}
    assert job.run() == 0, job.messages
    arguments = " ".join(text.split())
    assert (job.folder / "nameplate-calls").read_text().startswith(f"run {arguments} --quiet -o ")


def test_a_long_answer_of_doctor_is_cut_off_and_fails_no_step(job: Job, tmp_path: Path) -> None:
    recorded = quiet_file("quick.jsonl", tmp_path)
    _new(job, recorded)
    _base(job, recorded)
    _replace_command(job, "doctor", "echo fitness: poor; echo not comparable: 0; seq 200000; exit 5")
    assert job.run() == 0, job.messages
    lines = _comment(job)
    assert lines[2:4] == ["    not comparable: 0", "    1"]
    assert len(lines) == 39


def test_a_comparison_that_exceeds_a_comment_is_in_the_summary(job: Job, tmp_path: Path) -> None:
    recorded = quiet_file("quick.jsonl", tmp_path)
    _new(job, recorded)
    _base(job, recorded)
    _replace_command(job, "'compare '*markdown", "head -c 70000 /dev/zero | tr '\\0' x; echo; exit 4")
    assert job.run() == 0, job.messages
    assert _comment(job)[0].startswith("**nameplate: the comparison is too long for a comment.**")
    assert (job.folder / "GITHUB_STEP_SUMMARY").stat().st_size == 70001


@pytest.mark.parametrize("artifact", ["a & b", r"a\1 \n \\", "a/b", '") or ("x', "$(id) `id`", "%s"])
def test_the_mark_is_the_name_of_the_artifact_as_it_is(job: Job, artifact: str) -> None:
    _measure_nothing(job)
    job.inputs = {**job.inputs, "artifact": artifact}
    for _ in range(2):
        assert job.run() == 0, job.messages
        assert _comment(job)[0].endswith(f" <!-- nameplate: {artifact} -->")


def test_jobs_of_a_workflow_have_comments_of_their_own(job: Job) -> None:
    _measure_nothing(job)
    for artifact in ("run", "un", "other run"):
        job.inputs = {**job.inputs, "artifact": artifact}
        assert job.run() == 0, job.messages
    assert len(_comments(job)) == 3


MARKED = "**nameplate: old.** <!-- nameplate: nameplate-run -->"


@pytest.mark.parametrize("login", [BOT, "our-robot"])
@pytest.mark.parametrize(
    "comment",
    [("stranger", MARKED), ("github-actions", MARKED), ("another-app[bot]", MARKED),
     (BOT, f"a stranger wrote this:\n> {MARKED}"), (BOT, f"{MARKED} was the mark"), (BOT, "")],
)  # fmt: skip
def test_a_comment_that_is_not_the_actions_own_is_left_alone(job: Job, comment: tuple[str, str], login: str) -> None:
    _measure_nothing(job)
    job.environment["GH_LOGIN"] = login
    body = "**nameplate: older.** <!-- nameplate: nameplate-run -->\r\nrest"
    _write_comments(job, comment, (login, body), ("stranger", MARKED))
    assert job.run() == 0, job.messages
    comments = _comments(job)
    assert [item["body"] for item in comments[::2]] == [comment[1], MARKED]
    assert comments[1]["body"].startswith("**nameplate: no run of `main`")
    assert len(comments) == 3


def test_a_token_that_may_not_list_comments_gets_a_warning(job: Job) -> None:
    _measure_nothing(job)
    (job.folder / "comments.json").write_text("not JSON")
    assert job.run() == 0, job.messages
    assert "::warning::" in job.messages


BROKEN_OFF = {
    "nothing": "exit 1",
    "nothing, exit 0": "exit 0",
    "half of the JSON": """echo '{"schema": 1, "rows": [{"verdict": "SLOWER"'; exit 1""",
    "another document": "echo '[]'; exit 1",
    "a traceback": "echo Traceback; exit 1",
    "no metric, exit 1": """echo '{"verdict": "INCOMPARABLE", "rows": []}'; exit 1""",
    "no metric, exit 0": """echo '{"verdict": "INCOMPARABLE", "rows": []}'; exit 0""",
    "no answer, exit 5": "exit 5",
    "a loss, exit 5": """echo '{"rows": [{"verdict": "SLOWER", "capability": null}]}'; exit 5""",
    "no loss": """echo '{"schema": 1, "rows": [{"verdict": "SAME", "capability": null}]}'; exit 1""",
    "a typical loss": """echo '{"rows": [{"verdict": "SLOWER", "capability": {"verdict": "SAME"}}]}'; exit 1""",
}


@pytest.mark.parametrize("script", BROKEN_OFF.values(), ids=BROKEN_OFF)
def test_an_exit_code_without_a_printed_verdict_is_no_verdict(job: Job, script: str, tmp_path: Path) -> None:
    recorded = quiet_file("quick.jsonl", tmp_path)
    _new(job, recorded)
    _base(job, recorded)
    _replace_command(job, "compare", script)
    assert job.run() == 70
    assert "::error::nameplate compare ended with exit code" in job.messages
    assert "slower" not in job.messages
    assert not _comments(job)


def test_a_comment_that_breaks_off_is_no_verdict(job: Job, measured: Path, tmp_path: Path) -> None:
    _base(job, measured)
    _new(job, slowed(measured, tmp_path / "slower.jsonl", 10))
    _replace_command(job, "'compare '*markdown", "exit 0")
    assert job.run() == 70
    assert "slower" not in job.messages
    assert not _comments(job)


@pytest.mark.parametrize("code", [0, 5])
def test_an_answer_of_doctor_that_was_not_printed_is_no_answer(job: Job, code: int, tmp_path: Path) -> None:
    recorded = quiet_file("quick.jsonl", tmp_path)
    _new(job, recorded)
    _base(job, recorded)
    _replace_command(job, "doctor", f"echo fitness: good; exit {code}")
    assert job.run() == 70
    assert f"::error::nameplate doctor --against ended with exit code {code} and without a verdict" in job.messages
    assert not _comments(job)


@pytest.mark.parametrize("code", [134, 139])
def test_a_program_that_is_aborted_fails_the_job_with_its_exit_code(job: Job, code: int, tmp_path: Path) -> None:
    recorded = quiet_file("quick.jsonl", tmp_path)
    _new(job, recorded)
    _base(job, recorded)
    _replace_command(job, "compare", f"exit {code}")
    assert job.run() == code
    assert "slower" not in job.messages


def test_the_name_of_a_branch_is_shown_literally(job: Job) -> None:
    _measure_nothing(job)
    job.github = {**job.github, "base_ref": "a`@octocat`%0A::warning"}
    assert job.run() == 0, job.messages
    assert _comment(job)[0].startswith("**nameplate: no run of `` a`@octocat`%0A::warning `` to compare with.**")


def test_the_action_fits_the_schema_of_actions() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", str(ACTION)],
        check=False, text=True, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_actions_are_named_by_their_commits() -> None:
    for path in (ACTION, *(ROOT / ".github" / "workflows").iterdir()):
        for line in path.read_text().splitlines():
            if "uses:" in line:
                assert re.search(r"uses: [\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$", line), f"{path}: {line}"
