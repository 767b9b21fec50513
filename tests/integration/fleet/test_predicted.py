"""Predictions for two Apaches behind a balancer. A client that waits for the slow one sends nothing
to the fast one: a server that gets more workers gets as many requests as the other one can answer.

The pages sleep, so that other programs hardly matter: a worker of PHP that sleeps 40 ms answers 25
requests a second.
"""
import json
import subprocess
from contextlib import ExitStack

import pytest

import build
import haproxy
import php
import tool
from apache import Apache
from data_servers import free_port
from fpm import FPM
from haproxy import HAProxy

PAGE = "<?php usleep(40000); echo 'done';"
CLIENTS, REQUESTS = 12, 600
FEW, MORE, MANY = 2, 4, 8       # workers of PHP

pytestmark = [
    pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm())),
    pytest.mark.skipif(not haproxy.PROGRAM, reason="needs haproxy")]


def record(directory, children, load):
    """The archive of a load on servers with so many workers of PHP: load(port of the balancer)."""
    archive, targets = directory / "run.db", directory / "targets"
    with ExitStack() as stack:
        fpms = [stack.enter_context(FPM(count, settings=php.settings("@ROOT@/run")))
                for count in children]
        apaches = [stack.enter_context(Apache("event", php="fpm", fpm=fpm, workers=40))
                   for fpm in fpms]
        for apache in apaches:
            apache.page("page.php", PAGE)
        port = free_port()
        stack.enter_context(HAProxy(f"127.0.0.1:{port}", {
            f"web{i}": f"127.0.0.1:{apache.port}" for i, apache in enumerate(apaches, 1)}))
        targets.write_text("".join(f"web{i}={apache.board}\nphp{i}={fpm.board}\n"
                                   for i, (apache, fpm) in enumerate(zip(apaches, fpms), 1)))
        done = tool.run("record", "-o", archive, "--targets", targets, "--",
                        *load(f"http://127.0.0.1:{port}/page.php"), timeout=120)
        assert done.returncode == 0, done.stderr
    return archive


def ab(url):
    return "ab", "-q", "-n", str(REQUESTS), "-c", str(CLIENTS), url


def hidden_ab(url):
    """How many clients it has, is not told."""
    return "sh", "-c", f"{' '.join(ab(url))} >/dev/null"


def ask(archive, *options, status=0):
    done = subprocess.run([str(build.TOOL), "whatif", *options, str(archive)], check=False,
                          capture_output=True, text=True, timeout=120)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done


def told(archive, *options):
    return json.loads(ask(archive, "--json", *options).stdout)


def record_predictable(parent, *children):
    """A recording that the model reproduces, of each server, too. Other programs can disturb it so
    much that nothing is predicted from it: then it is made again, at most seven times."""
    why = []
    for attempt in range(8):
        directory = parent / f"{children}-{attempt}"
        directory.mkdir()
        archive = record(directory, children, ab)
        refused = [done.stderr + done.stdout for done in (
            ask(archive, "--load", "x1", *of, status=None)
            for of in ((), ("--server", "web1"), ("--server", "web2"))) if done.returncode != 0]
        if not refused:
            return archive
        why += refused
    raise AssertionError("no recording of 8 can be simulated:\n" + "\n".join(why))


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("predicted")


@pytest.fixture(scope="module")
def archive(directory):
    return record_predictable(directory, FEW, MORE)


def rate(said):
    return said["then"]["requests_per_second"]["value"]


def test_one_server_gets_more(directory, archive):
    """It is predicted, and then made. Alone, web1's clients would come back three times as fast;
    but they wait for web2's workers then."""
    said = told(archive, "--server", "web1", "--set", f"pm.max_children={MANY}")
    assert said["server"] == "web1" and said["why_not"] is None
    assert said["now"]["requests_per_second"] == pytest.approx(25 * FEW, rel=0.15)
    assert said["now"]["runs_out"] == "php-workers of php1"
    assert said["then"]["runs_out"] == "php-workers of php2"
    assert rate(said) == pytest.approx(25 * MORE, rel=0.15)
    made = record_predictable(directory, MANY, MORE)
    for number, name in enumerate(("web1", "web2")):
        now = told(made, "--server", name, "--load", "x1")["now"]
        assert said["servers"][number]["server"] == name
        for measure in ("requests_per_second", "p50_seconds"):
            then = said["servers"][number]["then"][measure]
            assert then["value"] == pytest.approx(now[measure], rel=0.2), (name, measure)
            assert then["low"] < then["value"] < then["high"]


def test_all_servers_get_more(archive):
    """Each of the 12 clients has a worker at once."""
    said = told(archive, "--set", f"pm.max_children={CLIENTS}")
    assert said["server"] is None and said["then"]["runs_out"] is None
    assert rate(said) == pytest.approx(CLIENTS / 0.04, rel=0.2)
    uses = {use["name"]: use["limit"] for use in said["then"]["in_use"]}
    assert uses["php-workers of php1"] == uses["php-workers of php2"] == CLIENTS
    assert uses["apache-workers of web1"] == 40


def test_more_clients(archive):
    """They all wait for web1, which has its two workers: times grow, and the rate does not."""
    said = told(archive, "--server", "web1", "--load", "x2")
    assert rate(said) == pytest.approx(25 * FEW, rel=0.15)
    more = said["then"]["mean_seconds"]["value"] - said["now"]["mean_seconds"]
    assert more == pytest.approx(CLIENTS / (25 * FEW), rel=0.25)


def test_sweep(archive):
    said = told(archive, "--server", "php1", "--sweep", "pm.max_children=1..4")
    rates = {point["at"]: point["requests_per_second"]["value"] for point in said["sweep"]}
    assert said["server"] == "web1"
    assert rates == {n: pytest.approx(25 * n, rel=0.15) for n in (1, 2, 3, 4)}


def test_text(archive):
    text = ask(archive, "--server", "web1", "--set", "pm.max_children=4").stdout
    assert "What if pm.max_children=4, numbers of web1 alone:" in text
    assert "PHP's workers of php1 run out: all 2 are in use" in " ".join(text.split())
    assert [line.split()[0] for line in text.splitlines() if line.startswith("  web")] == \
        ["web1", "web2"]


def test_report(archive):
    """The sizing of each server, and what its advice changes."""
    run = json.loads(tool.report(archive, "--format", "json"))[0]
    needs = {need["server"]: need for need in run["sizing"]}
    assert needs["php1"]["ran_out"] and "requests/s" in needs["php1"]["predicted"]
    assert FEW < needs["php1"]["advised"] <= CLIENTS
    # Once web1 keeps them no more, up to half of the clients are at web2, or a few more.
    assert CLIENTS / 2 - 1 <= needs["php2"]["enough"] <= CLIENTS
    assert CLIENTS / 2 - 1 <= needs["web2"]["enough"] <= 40
    text = " ".join(tool.report("--format", "text", archive).split())
    assert "from there on the limit is PHP's workers of php2" in text


def test_hidden_clients(directory):
    """Requests waited, and how many clients sent no others meanwhile is not known."""
    (directory / "hidden").mkdir()
    archive = record(directory / "hidden", (FEW, MORE), hidden_ab)
    said = json.loads(ask(archive, "--json", "--server", "web1", "--set", "pm.max_children=4",
                          status=None).stdout)
    # The simulation of arrivals as they were can come to what was measured by chance.
    if said["why_not"] is None:
        assert said["now"]["p50_seconds"] == pytest.approx(said["simulated"]["p50_seconds"],
                                                           rel=0.15)
    else:
        assert "how many clients waited for them is not known" in said["why_not"]
        assert "then" not in said


@pytest.mark.parametrize("options, words", [
    (["--server", "web3", "--load", "x2"],
     'the load was not for a server "web3", but for: web1, web2'),
    (["--keep", "--set", "pm.max_children=4"], "--keep takes a recording of one server"),
])
def test_wrong_usage(archive, options, words):
    assert words in ask(archive, *options, status=2).stderr
