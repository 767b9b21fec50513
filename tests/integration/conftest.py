"""Fixtures: `mpm` runs a test once for each MPM; `server` makes Apaches for it."""
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "support"))

import build                    # noqa: E402  (after the path is set)
import php                      # noqa: E402
from apache import MPMS, Apache, lacks  # noqa: E402
from boards import runtime_directory  # noqa: E402
from browser import Browser      # noqa: E402
from fpm import FPM              # noqa: E402

# Files that take a minute or more, the longest first. A file runs in one process, as its tests
# share servers: at the end of the run one of these would keep one process, and the others idle.
BEGIN_WITH = [
    "record/test_record.py", "httpd/test_status_page.py", "httpd/test_intervals.py",
    "httpd/test_hostile_workers.py", "serve/test_serve_otlp.py", "lab/test_lab_run.py",
    "httpd/test_lifecycle.py", "packaging/test_configure.py", "record/test_loadtools.py",
    "record/test_thinning.py", "report/test_page.py", "proofs/test_proof_leaks.py",
    "record/test_hostile_url.py", "httpd/test_slow_readers.py"]


def pytest_addoption(parser):
    parser.addoption("--mpm", action="append", choices=MPMS,
                     help="only this MPM; may be given again")


def pytest_generate_tests(metafunc):
    """Every test that takes `mpm` is run for each, unless it says for which itself."""
    if "mpm" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("mpms")
        wanted = metafunc.config.getoption("mpm") or MPMS
        mpms = [m for m in (marker.args if marker else MPMS) if m in wanted]
        metafunc.parametrize("mpm", mpms, scope="module")


def pytest_configure(config):
    config.addinivalue_line("markers", "mpms(names): the MPMs that a test makes sense on")
    config.addinivalue_line("markers", "alone: another test at the same time changes what it sees, "
                            "as it needs idle CPUs; it runs after the others")


def pytest_collection_modifyitems(items):
    places = {Path(__file__).parent / name: place for place, name in enumerate(BEGIN_WITH)}
    assert all(file.exists() for file in places), f"of {BEGIN_WITH} not all are there"
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_sessionstart(session):
    for path in (build.MODULE, build.TOOL):
        if not path.exists():
            pytest.exit(f"expected {path}, found nothing: build first (make), and set "
                        "MPMSTAT_BUILDDIR where the build is not in the source", 2)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter, config):
    """Skipped tests prove nothing: where MPMSTAT_SKIPS says how many there are at most, more of
    them fail the whole. Those of make check-integration's earlier sessions count, too; those
    that need root count for root alone."""
    skipped = {report.nodeid: report.longrepr[2]
               for report in terminalreporter.stats.get("skipped", [])}
    cache = getattr(config, "cache", None)
    if cache:
        skipped = {**cache.get("mpmstat/skipped", {}), **skipped}
        cache.set("mpmstat/skipped", skipped)
    limit = os.environ.get("MPMSTAT_SKIPS")
    if os.geteuid() != 0:
        skipped = {test: reason for test, reason in skipped.items() if "needs root" not in reason}
    if limit and len(skipped) > int(limit):
        for test, reason in skipped.items():
            terminalreporter.write_line(f"SKIPPED {test}: {reason}")
        terminalreporter.write_line(f"{len(skipped)} tests skipped, expected at most {limit}",
                                    red=True)
        terminalreporter._session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.when == "call":
        item.test_failed = report.failed


@pytest.fixture
def fpm_masters():
    """FPM masters to stop after the Apaches: requests in flight end there first."""
    masters = []
    yield masters
    for master in masters:
        master.__exit__(None, None, None)


@pytest.fixture
def server(request, fpm_masters):
    """server(mpm, ...): an Apache that is stopped and checked after the test."""
    running = []

    def start(mpm, extra="", **options):
        lacking = lacks(mpm, options.get("modules", ()), options.get("php"))
        if lacking:
            pytest.skip(f"this httpd has no {', '.join(lacking)}")
        apache = Apache(mpm, extra, **options)
        apache.__enter__()
        running.append(apache)
        return apache

    yield start
    failures = []
    for apache in reversed(running):
        if getattr(request.node, "test_failed", False):
            print("error log:\n" + apache.everything_said()[-8000:])
        try:
            apache.__exit__(None, None, None)
        except AssertionError as error:
            failures.append(str(error))
    assert not failures, "\n".join(failures)


@pytest.fixture
def php_server(server, fpm_masters, tmp_path):
    """php_server(mpm, workers=, children=): mod_php on prefork, FPM on the others; with
    the extension where its settings are given (php.py)."""

    def start(mpm, extra="", *, children=20, settings=None, **options):
        if mpm == "prefork":
            if settings:
                extra += f'\nPHPINIDir "{php.write_ini(tmp_path, settings)}"\n'
            return server(mpm, extra, php="mod_php", **options)
        master = FPM(children, settings=settings)
        master.__enter__()
        fpm_masters.append(master)
        return server(mpm, extra, php="fpm", fpm=master, **options)

    return start


@pytest.fixture
def php_boards():
    """A directory for the boards of PHP; the test needs the extension."""
    if php.why_not():
        pytest.skip(php.why_not())
    with runtime_directory() as directory:
        yield directory


@pytest.fixture
def archive(tmp_path):
    return tmp_path / "runs.sqlite"


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@pytest.fixture
def as_root():
    if os.geteuid() != 0:
        pytest.skip("needs root")
