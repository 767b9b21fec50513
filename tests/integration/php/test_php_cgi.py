"""What a recording says of php-cgi: of its processes under mod_fcgid, and as plain CGI."""
import json
import pwd
import subprocess

import pytest

import build
import fcgid
import php
import recording
import tool

AB = build.find("ab")
BURST = "for i in 1 2 3 4 5; do {} -q -l -n 8 -c 8 {} || exit 1; done"

pytestmark = [
    pytest.mark.skipif(php.why_not() is not None, reason=str(php.why_not())),
    pytest.mark.skipif(not php.CGI, reason="needs php-cgi"),
    pytest.mark.mpms("prefork")]
needs_fcgid = pytest.mark.skipif(not fcgid.FCGID.exists(), reason="needs mod_fcgid")


def record(archive, apache, directory, *words):
    """The findings by their codes. The first request makes PHP's board."""
    apache.page("nap.php", "<?php usleep(50000); echo 'done';")
    assert apache.get("/nap.php", timeout=20).status == 200
    board = directory / f"cgi-fcgi-{pwd.getpwnam('www-data').pw_uid}.board"
    done = tool.run("record", "-o", archive, "-t", apache.board, "-t", board, "--format", "json",
                    "--", *words, timeout=120)
    assert done.stdout, done.stderr
    return {f["code"]: f for f in json.loads(done.stdout)["findings"]}


def is_fpm_named(found):
    """Whether anything is said of FPM's settings, as a cause or to be done."""
    return any("max_children" in (f["text"] or "") + (f["action"] or "") for f in found.values())


def warm_up(apache, requests, clients):
    """mod_fcgid starts one more process after each second's wait only."""
    apache.page("nap.php", "<?php usleep(50000); echo 'done';")
    subprocess.run([AB, "-q", "-l", "-n", str(requests), "-c", str(clients), url(apache)],
                   check=True, timeout=60, stdout=subprocess.DEVNULL)


def url(apache):
    return f"http://127.0.0.1:{apache.port}/nap.php"


def test_cgi_starts_a_process_for_each_request(server, mpm, place, archive, as_root):
    """There is no number of PHP's processes that could be too low, and those that Apache ends after
    their clients have gone are no deaths."""
    directory, ini = place
    apache = server(mpm, fcgid.cgi() + f"SetEnv PHPRC {ini}\n", modules=["cgi", "actions"])
    found = record(archive, apache, directory, AB, "-q", "-l", "-t", "3", "-c", "4", url(apache))
    [(waited, requests, processes)] = recording.ask(
        archive, "SELECT avg(wait_ns), count(*), count(DISTINCT pid) FROM php_requests "
        "WHERE ghost = 0")
    assert requests == processes > 5
    finding = found["cgi-processes"]
    assert finding["text"].startswith("Each request started a PHP process of its own (CGI)")
    assert abs(finding["numbers"]["wait_mean_ns"] / waited - 1) < 0.2
    assert "PHP-FPM" in finding["action"]
    assert not {"php-workers", "php-spawning", "child-churn", "requests-died"} & found.keys()
    assert not is_fpm_named(found)


@needs_fcgid
def test_fcgid_looks_again_after_a_second(server, mpm, place, archive, as_root):
    """Eight requests at once find four processes: the other four wait a second, and the processes
    are idle for most of it. Sixteen processes are enough."""
    directory, ini = place
    script = BURST.format(AB, "{}")
    for processes in (4, 16):
        apache = server(mpm, fcgid.fcgid(processes) + f"FcgidInitialEnv PHPRC {ini}\n",
                        modules=["fcgid"])
        warm_up(apache, 400, 16)
        found = record(archive, apache, directory, "sh", "-c", script.format(url(apache)))
        if processes == 4:
            finding = found["fcgid-waits"]
            assert "sleeps for a whole second before it looks again" in finding["text"]
            [(whole,)] = recording.ask(archive, "SELECT count(*) FROM php_requests WHERE ghost = 0 "
                                       "AND wait_ns BETWEEN 900000000 AND 1100000000")
            assert whole >= 15 and finding["requests"] >= whole
            assert "FcgidMaxProcesses" in finding["action"] and "4" in finding["text"]
            assert "php-workers" not in found and not is_fpm_named(found)
        else:
            assert "fcgid-waits" not in found, found
        apache.stop()
        archive.unlink()


@needs_fcgid
def test_too_few_processes_of_fcgid(server, mpm, place, archive, as_root):
    """Its processes are always busy: mod_fcgid's own directives are advised."""
    directory, ini = place
    apache = server(mpm, fcgid.fcgid(2) + f"FcgidInitialEnv PHPRC {ini}\n", modules=["fcgid"])
    warm_up(apache, 60, 4)
    found = record(archive, apache, directory, AB, "-q", "-l", "-t", "4", "-c", "12", url(apache))
    about = found.get("php-workers") or found.get("fcgid-waits")
    assert about, {code: f["text"] for code, f in found.items()}
    assert "FcgidMaxProcesses and FcgidMaxProcessesPerClass" in about["action"]
    assert not is_fpm_named(found)
