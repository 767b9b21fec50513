"""No request is harmed: answers and error log are those of a server without the module."""
import difflib
import re

import pytest

import backend
import clients
from apache import EVENT_STOP, USUAL_LOG_LINE
from mixed import SIZED_PATHS, UNSIZED_PATHS, Site, without_time
from processes import wait_until

# How many children there are when a load comes, and how they end at a stop, are races that
# httpd has by itself.
RACE = re.compile(USUAL_LOG_LINE.pattern + "|" + EVENT_STOP)


def rendered(line, apache):
    """A line of the error log without what differs from one start to the next."""
    line = re.sub(r"^\[[A-Z][a-z]{2} [A-Z][a-z]{2} .{20,27}?\] ", "", line)
    line = line.replace(str(apache.root), "ROOT").replace("mpmstat/", "")
    return re.sub(r"(?<!AH)(?<!\d)\d+", "N", line)


def difference(name, bare, recorded):
    """What two answers differ in, shortly."""
    lines = [[line[:200].decode("latin-1") for line in answer.splitlines()]
             if isinstance(answer, bytes) else [str(answer)] for answer in (bare, recorded)]
    return name + ", without the module and with it:\n" + "\n".join(
        difflib.unified_diff(*lines, lineterm="", n=0))


def kept_busy(apache, answers=400):
    """A load of plain requests during a graceful restart. Returns what became of them."""
    with clients.Load(apache.port, "/index.html", 4) as load:
        wait_until(lambda: load.count() > answers, 30, "some answers")
        apache.restart()
        first = load.count()
        wait_until(lambda: load.count() > first + answers, 30, "some answers more")
    return {o.status or type(o.error).__name__ for o in load.outcomes}


def everything(start, mpm, directory, behind, php, **options):
    """Asks for all there is. Returns the answers' bytes by name, and the error log's lines."""
    with Site(start, mpm, directory, behind=behind, php=php, workers=20, threads=10,
              **options) as site:
        answers = {e.name: without_time(site.carry_out(e).raw) for e in site.exchanges()}
        paths = {*SIZED_PATHS, *UNSIZED_PATHS} - {"/cgi/unsized"}   # its framing is a race
        for path in paths if site.has_http2() else ():
            answers[f"HTTP/2 {path}"] = without_time(site.over_http2(path).raw)
        site.give_up("/20m")
        answers["under load"] = kept_busy(site.apache)
        site.apache.stop()
        lines = {rendered(line, site.apache) for line in site.apache.log_text().splitlines()
                 if not RACE.search(line)}
    return answers, lines


@pytest.mark.parametrize("php", (False, True), ids=("", "PHP"))
def test_answers_and_error_log_are_the_same(server, php_server, mpm, tmp_path, php):
    start = php_server if php else server
    with backend.HTTPBackend() as behind:
        bare, bare_lines = everything(start, mpm, tmp_path, behind, php, module=False)
        recorded, lines = everything(start, mpm, tmp_path, behind, php)
    assert bare.keys() == recorded.keys()
    assert [name for name, answer in bare.items() if not answer] == ["nothing"]
    differing = [name for name in bare if bare[name] != recorded[name]]
    assert not differing, "\n".join(difference(name, bare[name], recorded[name])
                                    for name in differing)
    assert not lines - bare_lines, (
        "only with the module:\n" + "\n".join(sorted(lines - bare_lines)))
