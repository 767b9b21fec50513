"""valgrind finds no error, and nothing lost, that has the module in its stack."""
import shutil
import xml.etree.ElementTree as ElementTree

import pytest

import build
from apache import OneProcess
from mixed import UNSIZED_PATHS, Site

pytestmark = [
    pytest.mark.skipif(not shutil.which("valgrind"), reason="needs valgrind"),
    pytest.mark.skipif(build.SANITIZE, reason="valgrind does not run sanitized programs"),
]
VALGRIND = ["valgrind", "--quiet", "--xml=yes", "--xml-file=@ROOT@/valgrind.xml", "--vgdb=no",
            "--child-silent-after-fork=yes", "--leak-check=full", "--keep-debuginfo=yes",
            "--errors-for-leak-kinds=definite", "--show-leak-kinds=definite", "--num-callers=40"]


def errors_of_ours(report):
    """valgrind's errors, as text, in whose stack there is the module."""
    found = []
    for error in report.iter("error"):
        frames = [(frame.findtext("obj", ""), frame.findtext("fn", "?"),
                   f"{frame.findtext('file', '')}:{frame.findtext('line', '')}")
                  for frame in error.iter("frame")]
        if any(build.MODULE.name in frame[0] for frame in frames):
            kind = error.findtext("what") or error.findtext("xwhat/text")
            found.append("\n".join([kind, *(f"  {fn} {where}" for _, fn, where in frames)]))
    return found


def test_no_error_of_the_module(mpm, tmp_path):
    servers = []

    def start(mpm, extra, **options):
        servers.append(OneProcess(mpm, extra, wrapper=VALGRIND, **options))
        return servers[0].start(timeout=120)

    try:
        with Site(start, mpm, tmp_path, workers=4, threads=4,
                  extra="MPMStatPaths On\nMPMStatMaxLabels 4\n") as site:
            for exchange in site.exchanges():
                site.carry_out(exchange)
            site.give_up("/20m")
            for path in UNSIZED_PATHS if site.has_http2() else ():
                site.over_http2(path)
            for query in ("", "?format=json", "?format=openmetrics", "?format=prometheus",
                          "?format=journal&since=start", "?format=nonsense"):
                assert site.apache.get("/mpm-status" + query, timeout=60).body
            site.apache.finish()
        report = ElementTree.parse(site.apache.root / "valgrind.xml")
    finally:
        for apache in servers:
            apache.stop()
            apache.remove()
    assert report.findtext("tool") == "memcheck"
    found = errors_of_ours(report)
    assert not found, "\n\n".join(found)
