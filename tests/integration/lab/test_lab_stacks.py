"""The lab's stacks and workloads: each is complete, and one of each kind serves and is
recorded, from its start until nothing of it is left."""
import json
import os
import pwd
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import build
import php
import processes
import tool

LAB = build.SRCDIR / "tools" / "lab"
STACKS = sorted(path.stem for path in (LAB / "stacks").glob("*.stack"))
WORKLOADS = sorted(path.stem for path in (LAB / "workloads").glob("*.workload"))
# A workload of each kind that stacks serve.
KINDS = {"php": "loop", "static": "static", "django": "django"}

needs_extension = pytest.mark.skipif(php.why_not() is not None, reason=str(php.why_not()))


def lab_file(kind, name):
    return (LAB / f"{kind}s" / f"{name}.{kind}").read_text()


def fact(text, name):
    """The words behind `name =` in the first section; none where it is not there."""
    found = re.search(rf"^{name} *= *(.*?)(?: +#.*)?$", text, re.M)
    return found.group(1).split() if found else []


def lab(*arguments, **options):
    return tool.run("lab", *arguments, timeout=120, **options)


def tenants():
    return [name for name in STACKS if fact(lab_file("stack", name), "tenants") == ["yes"]]


# ---- all of them ------------------------------------------------------------------------


@pytest.mark.parametrize("stack", STACKS)
def test_every_stack_is_complete(stack):
    """Each variable and each included file is there, for every kind of page it serves."""
    for kind in fact(lab_file("stack", stack), "serves"):
        done = lab("up", "--dry-run", stack, KINDS[kind])
        assert done.returncode == 0, done.stderr
        assert not re.search(r"\$\{[A-Z][A-Z0-9_]*\}", done.stdout), done.stdout


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_workload_is_complete(workload):
    (kind,) = fact(lab_file("workload", workload), "kind")
    stack = next(name for name in STACKS if kind in fact(lab_file("stack", name), "serves"))
    done = lab("up", "--dry-run", stack, workload)
    assert done.returncode == 0, done.stderr


def test_every_included_file_is_used():
    text = "".join(lab_file("stack", name) for name in STACKS)
    included = {path.name for path in (LAB / "stacks" / "include").iterdir()}
    assert set(re.findall(r"\$\{INCLUDE\}/([\w.-]+)", text)) == included


def test_the_readme_has_all():
    readme = (LAB / "README.md").read_text()
    for name in STACKS + WORKLOADS:
        assert f"`{name}`" in readme, f"tools/lab/README.md says nothing of {name}"


# ---- one of each kind, from its start to nothing left ----------------------------------------


def assert_nothing_left(summary):
    """Neither the directory of its servers, nor a process of theirs."""
    for server in summary["servers"]:
        root = Path(server["target"]).parents[1]
        assert re.fullmatch(r"mpmstat-lab\.\w{6}", root.name), server["target"]
        assert not root.exists(), sorted(root.rglob("*"))
        assert not processes.session_members(-1, str(root))


def lab_try(tmp_path, stack, workload, *command, parameters=(), **options):
    """The summary of the one run; all of it has been removed again."""
    done = lab("try", stack, workload, *parameters, "-o", tmp_path / "try.sqlite",
               "--format", "json", "--", *command, **options)
    if "packages are missing" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
    summary = json.loads(done.stdout)
    assert_nothing_left(summary)
    return summary


def recorded(summary, producer):
    return [server for server in summary["servers"] if server["producer"] == producer]


def assert_recorded(summary, requests, apaches=1, php_boards=1):
    """Every request was answered, and is on each side that there is."""
    assert summary["client"]["requests"] == requests and summary["client"]["failed"] == 0
    front, behind = recorded(summary, "apache"), recorded(summary, "php")
    assert (len(front), len(behind)) == (apaches, php_boards), summary["servers"]
    for side in (front, behind):
        assert not side or sum(server["requests"] for server in side) == requests
    checks = {check["name"]: check["ok"] for check in summary["checks"]}
    assert checks["counts"] is True, summary["checks"]
    assert checks["journal-complete"] is True, summary["checks"]


# Stack, workload, parameters, boards of Apache and of PHP; one of each family and more.
SMALL = ["WORKERS=10", "THREADS=5", "SPARE_MIN=5", "SPARE_MAX=10"]
# None is ended while it is idle: Apache wakes those by a request of its own, which counts.
PREFORK = ["WORKERS=8", "SPARE_MAX=20"]
CASES = [
    ("prefork-modphp", "loop", ["PHP_WORKERS=8", "SPARE_MAX=20"], 1, 1),
    ("event-fpm", "loop", SMALL + ["PHP_WORKERS=4"], 1, 1),
    ("worker-fpm-tcp", "subrequest", SMALL + ["PHP_WORKERS=4", "PM=static"], 1, 1),
    ("event-fcgid", "loop", SMALL + ["PHP_WORKERS=5"], 1, 1),
    ("event-cgi-suexec", "subrequest", SMALL, 1, 1),
    ("itk-modphp", "loop", ["PHP_WORKERS=8", "SPARE_MAX=20"], 1, 1),
    ("nginx-fpm", "wordpress-like", ["PHP_WORKERS=4"], 0, 1),
    ("nginx-two-apaches", "loop", PREFORK, 2, 2),
    ("prefork-wsgi", "django", ["WORKERS=2", "START=2", "SPARE_MIN=1"], 1, 0),
    ("event-static", "static", SMALL, 1, 0),
]


@needs_extension
@pytest.mark.parametrize("stack, workload, parameters, apaches, php_boards", CASES,
                         ids=[f"{case[0]}-{case[1]}" for case in CASES])
def test_a_stack_is_recorded_on_both_sides(tmp_path, stack, workload, parameters, apaches,
                                           php_boards):
    if stack in tenants() and os.geteuid() != 0:
        pytest.skip("needs root")
    summary = lab_try(tmp_path, stack, workload, "ab", "-q", "-l", "-n", "40", "-c", "4", "${URL}",
                      parameters=parameters)
    assert_recorded(summary, 40, apaches, php_boards)
    limit = next((int(p[12:]) for p in parameters if p.startswith("PHP_WORKERS=")), None)
    for server in recorded(summary, "php") if limit else ():
        assert server["workers"]["limit"] == limit, "the limit of PHP is known"


def test_nginx_tells_php_when_it_had_the_request(tmp_path):
    """Behind no Apache of ours php_wait is known all the same."""
    if php.why_not():
        pytest.skip(php.why_not())
    summary = lab_try(tmp_path, "nginx-fpm", "sleep", "ab", "-q", "-n", "20", "-c", "10", "${URL}",
                      parameters=["PHP_WORKERS=2", "PM=static", "SECONDS=0.02"])
    (behind,) = recorded(summary, "php")
    # Ten clients for two processes: most of the time passes in the queue, however fast each is.
    assert behind["phases"]["php_wait"]["mean_seconds"] > 0.02


@needs_extension
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it becomes another user")
def test_a_user_without_rights_can_run_one():
    """Whose group has another name than the user, too."""
    user = {"user": "nobody", "group": "nogroup", "extra_groups": [], "cwd": "/"}
    environment = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
    try:
        may = lab("list", **user).returncode == 0
    except PermissionError:
        may = False
    if not may:
        pytest.skip(f"nobody may not run {build.TOOL}")
    with tempfile.TemporaryDirectory(prefix="mpmstat-test-lab-") as directory:
        shutil.chown(directory, "nobody")
        summary = lab_try(Path(directory), "event-fpm", "loop", "ab", "-q", "-l", "-n", "20",
                          "-c", "2", "${URL}", parameters=SMALL, env=environment, **user)
    assert_recorded(summary, 20)


# ---- users of their own ------------------------------------------------------------------------

WHO = """A site that says who it is.
%% workload
title   = who serves
kind    = {kind}
docroot = ${{ROOT}}/who
url     = /
expects = This is mpmstat-a.

%% file who/{path} owner=TENANT_A
{page}
"""
PAGES = {
    "php": ("index.php", '<?php\necho "This is ", trim(shell_exec("id -un")), ".\\n";'),
    "django": ("site/wsgi.py", """import os, pwd
def application(environment, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"This is {pwd.getpwuid(os.geteuid()).pw_name}.".encode()]"""),
}


@pytest.mark.skipif(build.SANITIZE, reason="the lab's servers run without sanitizers")
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("stack", tenants())
def test_each_site_is_served_by_its_own_user(tmp_path, stack):
    """The loaded one, which the lab checks, and the neighbour; outside neither user exists."""
    kind = "django" if "wsgi" in stack else "php"
    path, page = PAGES[kind]
    workload = tmp_path / "who.workload"
    workload.write_text("# " + WHO.format(kind=kind, path=path, page=page))
    answer = tmp_path / "neighbour"
    lab_try(tmp_path, stack, workload, "curl", "-sS", "--max-time", "30",
            "-H", "Host: neighbour.localhost", "-o", answer, "${URL}", parameters=["WORKERS=8"])
    assert answer.read_text().strip() == "This is mpmstat-b."
    with pytest.raises(KeyError):
        pwd.getpwnam("mpmstat-a")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@needs_extension
def test_users_may_be_added_behind_a_line_without_an_end(tmp_path):
    """Where /etc/passwd and /etc/group end without a newline, as an editor may leave them."""
    for name in ("passwd", "group"):
        (tmp_path / name).write_text(Path("/etc", name).read_text().rstrip("\n"))
    archive = tmp_path / "try.sqlite"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-ec", 'mount --bind "$1/passwd" /etc/passwd\n'
         'mount --bind "$1/group" /etc/group\nshift\nexec "$@"', "sh", tmp_path, build.TOOL, "lab",
         "try", "event-fpm-users", "loop", "-o", archive, "--format", "json", "--", "ab", "-q",
         "-l", "-n", "4", "${URL}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        timeout=120)
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
    assert json.loads(done.stdout)["client"]["failed"] == 0


# ---- a real application ------------------------------------------------------------------------


@needs_extension
def test_wordpress_is_set_up_and_taken_down(tmp_path):
    """With its own MariaDB, which ends as well."""
    summary = lab_try(tmp_path, "event-fpm", "wordpress", "ab", "-q", "-l", "-n", "20", "-c", "2",
                      "${URL}", parameters=["PHP_WORKERS=4"])
    assert_recorded(summary, 20)
