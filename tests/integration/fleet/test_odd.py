"""The odd server of a fleet: three Apaches with FPM, one of them with half the PHP workers."""
import json
from contextlib import ExitStack

import pytest

import php
import tool
from apache import Apache
from fpm import FPM
from recording import AB, ask
from test_lost import logged


def fleet(stack, children):
    fpms = [stack.enter_context(FPM(count, settings=php.settings("@ROOT@/run")))
            for count in children]
    return fpms, [stack.enter_context(Apache("event", php="fpm", fpm=fpm, workers=20))
                  for fpm in fpms]


def record(tmp_path, fpms, apaches, requests):
    """The same load on all at once; (archive, findings' rows)."""
    targets, archive = tmp_path / "targets", tmp_path / "run.sqlite"
    targets.write_text("".join(f"{kind}{i}={server.board}\n" for kind, servers in
                               (("web", apaches), ("php", fpms))
                               for i, server in enumerate(servers, 1)))
    loads = " & ".join(f"{AB} -q -n {requests} -c 10 'http://127.0.0.1:{apache.port}/sleep.php"
                       "?seconds=0.04' >/dev/null" for apache in apaches)
    done = tool.run("record", "-o", archive, "--targets", targets, "--", "sh", "-c",
                    f"{loads} & wait", timeout=120)
    assert done.returncode == 0, done.stderr
    return archive, ask(archive, "SELECT subject, text, certainty FROM findings "
                        "WHERE code = 'odd-server'")


def waits(apache):
    """How long its requests waited for PHP, on average."""
    return apache["php"]["handle"]["php_wait"]["mean_seconds"]


def test_one_with_half_the_php_workers(tmp_path):
    """Of the ten clients of each none waits where PHP has twelve workers."""
    with ExitStack() as stack:
        fpms, apaches = fleet(stack, [12, 12, 6])
        archive, found = record(tmp_path, fpms, apaches, 300)
        assert [logged(apache) for apache in apaches] == [300, 300, 300]
    about = {subject: (text, certainty) for subject, text, certainty in found}
    text, certainty = about["php3"]
    assert "It has 6 workers (pm.max_children) where most have 12." in text
    assert "Requests waited" in text and "for a PHP worker on average" in text
    assert certainty == "certain" and set(about) <= {"php3", "web3"}
    assert "php3 is the odd one of the 3 PHP servers" in tool.report(archive, "--format", "text")
    run = json.loads(tool.report(archive, "--format", "json"))[0]
    named = {f["code"]: (f["server"], f["servers"]) for f in reversed(run["findings"])}
    order = [f["code"] for f in run["findings"]]
    assert order.index("php-workers") < order.index("odd-server"), "the cause is first"
    assert named["php-workers"] == ("web3", 1)
    assert named["sleep"][1] == 3
    assert "web3: PHP's workers ran out: all 6 were busy" in run["verdict"]
    assert "All 3 servers, web" in run["verdict"]
    cause = next(f for f in run["findings"] if f["code"] == "php-workers")
    assert cause["action"].startswith("web3: Set pm.max_children to ")
    servers = run["servers"]
    for apache, behind in zip(servers[:3], servers[3:]):
        own = behind["phases"]["php_wait"]["mean_seconds"]
        assert waits(apache) == pytest.approx(own, rel=0.05, abs=0.001), apache["name"]


def test_two_apaches_with_one_php(tmp_path):
    """Their requests have the same ids at the same time: each side's count as PHP's, none twice."""
    with ExitStack() as stack:
        fpm = stack.enter_context(FPM(4, settings=php.settings("@ROOT@/run")))
        apaches = [stack.enter_context(Apache("event", php="fpm", fpm=fpm, workers=20))
                   for _ in range(2)]
        archive, _ = record(tmp_path, [fpm], apaches, 200)
    web1, web2, behind = json.loads(tool.report(archive, "--format", "json"))[0]["servers"]
    assert [s["requests"] for s in (web1, web2, behind)] == [200, 200, 400]
    assert web1["php"]["joined"] == web2["php"]["joined"] == 200 and behind["joined"] == 400
    wait = behind["phases"]["php_wait"]["mean_seconds"]
    assert waits(web1) > wait / 2 and waits(web2) > wait / 2


def test_equal_servers_have_none(tmp_path):
    with ExitStack() as stack:
        fpms, apaches = fleet(stack, [6, 6, 6])
        archive, found = record(tmp_path, fpms, apaches, 200)
    # Servers that share full CPUs are not equal: one can get less of them.
    busy = json.loads(tool.report(archive, "--format", "json"))[0]["run"]["machine_cpu_busy"]
    assert found == [] or busy > 0.9
