"""contrib/ci's scripts as they stand, with what a CI gives them; and the files that call them."""
import http.server
import json
import os
import re
import stat
import subprocess
import threading

import pytest

import build
from recording import AB, ask

CONTRIB = build.SRCDIR / "contrib"
MEASURE = CONTRIB / "ci" / "measure.sh"


def measure(tmp_path, status=0, **variables):
    environment = {**os.environ, "MPMSTAT": str(build.TOOL), "MPMSTAT_REPEAT": "3",
                   "GITHUB_OUTPUT": str(tmp_path / "output"),
                   "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), **variables}
    done = subprocess.run(["sh", MEASURE], cwd=tmp_path, text=True, capture_output=True, timeout=120,
                          env=environment)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}"
    return done


def outputs(tmp_path):
    return dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())


@pytest.fixture
def load(server):
    apache = server("event")
    return apache, lambda path, n=200: f"{AB} -q -n {n} -c 4 'http://127.0.0.1:{apache.port}{path}'"


def test_two_versions(load, tmp_path):
    """They run in turns; start and stop are called; the results are where the outputs say."""
    apache, command = load
    measure(tmp_path, MPMSTAT_A=command("/index.html?a=1&b=2"), MPMSTAT_B=command("/index.html"),
            MPMSTAT_TARGET=str(apache.board), MPMSTAT_START="echo started >>log",
            MPMSTAT_STOP="echo stopped >>log", MPMSTAT_FAIL_IF_SLOWER="900%")
    assert (tmp_path / "log").read_text() == "started\nstopped\n"
    out = outputs(tmp_path)
    assert out["passed"] == "true" and (tmp_path / "mpmstat-results/status").read_text() == "0\n"
    names = [row[0] for row in ask(tmp_path / out["archive"], "SELECT name FROM runs ORDER BY id")]
    assert names == ["A", "B", "B", "A", "A", "B"]
    comment = (tmp_path / out["comment"]).read_text()
    assert "| A |" in comment and "<details>" in comment and comment.rstrip().endswith("</details>")
    assert (tmp_path / "summary").read_text() == comment
    assert (tmp_path / out["report"]).read_text().startswith("<!DOCTYPE html>")


def test_slower_fails(php_server, tmp_path):
    """Both sleep for longer than a busy machine delays them: A's own times are much alike."""
    apache = php_server("event", workers=20, threads=10)
    page = f"{AB} -q -n 8 -c 2 'http://127.0.0.1:{apache.port}/sleep.php?spread=0&seconds=%s'"
    done = measure(tmp_path, 1, MPMSTAT_A=page % "0.2", MPMSTAT_B=page % "1",
                   MPMSTAT_TARGET=str(apache.board), MPMSTAT_FAIL_IF_SLOWER="20%",
                   MPMSTAT_STOP="touch stopped")
    assert outputs(tmp_path)["passed"] == "false" and "slower than allowed" in done.stderr
    assert (tmp_path / "stopped").exists()


def test_finding_fails(load, tmp_path):
    apache, command = load
    measure(tmp_path, 1, MPMSTAT_A=command("/not-there"), MPMSTAT_TARGET=str(apache.board),
            MPMSTAT_FAIL_ON="answers-4xx")
    assert "answers-4xx" in (tmp_path / "mpmstat-results/comment.md").read_text()


@pytest.mark.parametrize("variables, said", [
    ({}, "MPMSTAT_A should be"),
    ({"MPMSTAT_A": "ab -n 1 http://127.0.0.1:1/", "MPMSTAT": "/nonexistent"}, "install the package"),
    ({"MPMSTAT_A": "true", "MPMSTAT_START": "exit 3"}, "MPMSTAT_START failed"),
    ({"MPMSTAT_A": "ab -n 1 http://127.0.0.1:1/", "MPMSTAT_TARGET": "/nonexistent"}, "not recorded"),
])
def test_what_does_not_work(tmp_path, variables, said):
    """It ends with status 2, and what was started is stopped."""
    done = measure(tmp_path, 2, MPMSTAT_STOP="touch stopped", **variables)
    assert said in done.stderr
    assert (tmp_path / "stopped").exists() == ("MPMSTAT_A" in variables and "MPMSTAT" not in variables)


# ---- comments -----------------------------------------------------------------------------


def test_github_comment(tmp_path):
    gh = tmp_path / "gh"
    gh.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"$0.args"\n')
    gh.chmod(gh.stat().st_mode | stat.S_IXUSR)
    for ref, called in (("refs/heads/main", False), ("refs/pull/17/merge", True)):
        subprocess.run(["sh", CONTRIB / "ci" / "comment-github.sh", "comment.md"], check=True,
                       env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_REF": ref,
                            "GITHUB_REPOSITORY": "someone/shop"})
        assert (tmp_path / "gh.args").exists() == called
    assert (tmp_path / "gh.args").read_text().split() == [
        "pr", "comment", "17", "--repo", "someone/shop", "--body-file", "comment.md", "--edit-last",
        "--create-if-none"]


class GitLab(http.server.BaseHTTPRequestHandler):
    """As much of GitLab as the notes of a merge request take."""

    def answer(self, content):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def do_GET(self):
        self.answer(self.server.notes)

    def body(self):
        self.server.seen.append((self.command, self.path, self.headers["PRIVATE-TOKEN"]))
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

    def do_POST(self):
        self.server.notes.append({"id": 5, "body": self.body()})
        self.answer({})

    def do_PUT(self):
        self.server.notes[0]["body"] = self.body()
        self.answer({})

    def log_message(self, *_):
        pass


def test_gitlab_note(tmp_path):
    """The first job makes a note, the second one replaces it; the token is not an argument."""
    gitlab = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GitLab)
    gitlab.notes, gitlab.seen = [], []
    thread = threading.Thread(target=gitlab.serve_forever)
    thread.start()
    comment = tmp_path / "comment.md"
    try:
        for text in ("first \"one\"\n", "second\n"):
            comment.write_text(text)
            subprocess.run(["sh", CONTRIB / "ci" / "comment-gitlab.sh", comment], check=True, env={
                "PATH": os.environ["PATH"], "CI_API_V4_URL": f"http://127.0.0.1:{gitlab.server_port}/v4",
                "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7", "MPMSTAT_GITLAB_TOKEN": "secret"})
            assert gitlab.notes[0]["body"] == f"<!-- mpmstat -->\n{text}" and len(gitlab.notes) == 1
    finally:
        gitlab.shutdown()
        thread.join()
        gitlab.server_close()
    notes = "/v4/projects/3/merge_requests/7/notes"
    assert gitlab.seen == [("POST", notes, "secret"), ("PUT", notes + "/5", "secret")]


# ---- the files that call them -------------------------------------------------------------


def yaml_of(path):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((CONTRIB / path).read_text())


def test_action():
    """As "Metadata syntax for GitHub Actions" has it: known keys, and each step of a composite action
    that runs something names its shell."""
    action = yaml_of("github-action/action.yml")
    assert set(action) <= {"name", "author", "description", "inputs", "outputs", "runs", "branding"}
    assert {"name", "description", "runs"} <= set(action)
    for name, given in action["inputs"].items():
        assert re.fullmatch(r"[_a-zA-Z][a-zA-Z0-9_-]*", name)
        assert set(given) <= {"description", "required", "default", "deprecationMessage"}
        assert isinstance(given["required"], bool) and isinstance(given.get("default", ""), str)
    for given in action["outputs"].values():
        assert set(given) == {"description", "value"}
    assert set(action["runs"]) == {"using", "steps"} and action["runs"]["using"] == "composite"
    ids = set()
    for step in action["runs"]["steps"]:
        assert set(step) <= {"name", "id", "if", "shell", "env", "run", "uses", "with",
                             "working-directory", "continue-on-error"}
        assert ("run" in step) != ("uses" in step) and ("run" in step) == ("shell" in step)
        assert "${{" not in step.get("run", ""), "an input in a script's text would be code"
        ids.add(step.get("id"))
    text = (CONTRIB / "github-action/action.yml").read_text()
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(action["inputs"])
    assert set(re.findall(r"steps\.(\w+)\.outputs", text)) <= ids
    measure_step = next(step for step in action["runs"]["steps"] if step.get("id") == "measure")
    assert set(measure_step["env"]) <= set(re.findall(r"MPMSTAT_\w+", MEASURE.read_text()))


def test_examples():
    """They give the action and the job nothing that these do not take."""
    inputs = yaml_of("github-action/action.yml")["inputs"]
    workflow = yaml_of("github-action/example-workflow.yml")
    given = workflow["jobs"]["compare"]["steps"][-1]["with"]
    assert set(given) <= set(inputs)
    assert {name for name, value in inputs.items() if value["required"]} <= set(given)
    job = yaml_of("gitlab/mpmstat.gitlab-ci.yml")[".mpmstat"]
    assert set(job) == {"image", "stage", "variables", "script", "rules", "artifacts"}
    assert all(isinstance(line, str) for line in job["script"])
    for script in re.findall(r"[\w-]+\.sh", " ".join(job["script"])):
        assert (CONTRIB / "ci" / script).exists()
