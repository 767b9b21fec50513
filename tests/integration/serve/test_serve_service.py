"""mpmstat serve as a service, and what Prometheus thinks of its metrics."""
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

import boards
import build
import tool
from processes import wait_until
from prometheus import PROGRAM, PROMTOOL, Prometheus, promtool
from serving import Authority, Serving, has, token_file

UNIT = build.BUILDDIR / "tools" / "serve" / "mpmstat-serve.service"
UNNAMED = 61234     # a user and group without a name, as DynamicUser= makes


def settings_of(unit):
    """{name: value} of the section [Service]; of a name that is there twice the last."""
    section = unit.read_text().partition("[Service]")[2].partition("\n[")[0]
    return dict(re.findall(r"^(\w+)=(.*)$", section, re.M))


# ---- the unit ----------------------------------------------------------------------------------


@pytest.mark.skipif(not has("systemd-analyze"), reason="needs systemd-analyze")
def test_the_unit_is_hardened(tmp_path):
    """systemd's own judgement: an exposure of less than 2.0 of 10."""
    done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager",
                           "--threshold=20", UNIT], text=True, capture_output=True, timeout=60)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert found and float(found[1]) < 2, done.stdout + done.stderr
    assert done.returncode == 0, done.stdout
    runnable = tmp_path / UNIT.name
    runnable.write_text(re.sub(r"ExecStart=\S+", f"ExecStart={build.TOOL}", UNIT.read_text()))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", runnable], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_the_unit_says_what_is_promised():
    found = settings_of(UNIT)
    assert found["DynamicUser"] == found["NoNewPrivileges"] == "yes"
    assert found["SupplementaryGroups"] == "adm" and found["ProtectSystem"] == "strict"
    assert found["CapabilityBoundingSet"] == found["AmbientCapabilities"] == ""
    assert found["ExecStart"].endswith("/bin/mpmstat serve $ARGS")
    assert "ProtectProc" not in found and "ProcSubset" not in found   # or nothing runs any more


@contextmanager
def as_the_unit(*arguments):
    """mpmstat serve as the unit's user: no name, no capability, the group adm."""
    with tempfile.TemporaryDirectory(prefix="mpmstat-test-serve-") as directory:
        os.chmod(directory, 0o755)
        program = shutil.copy(build.TOOL, Path(directory) / "mpmstat")
        options = [f"--reuid={UNNAMED}", f"--regid={UNNAMED}", "--groups=adm", "--no-new-privs",
                   "--bounding-set=-all", "--inh-caps=-all"]
        with Serving(*arguments, program=program, wrapper=["setpriv", *options]) as serving:
            yield serving


@pytest.mark.skipif(not has("setpriv"), reason="needs setpriv")
@pytest.mark.mpms("event")
def test_without_privileges_it_reads_boards(server, mpm, as_root):
    """What only root may see is unknown then: which sockets are the server's."""
    apache = server(mpm)
    for _ in range(5):
        apache.get("/index.html")
    wait_until(lambda: tool.requests(tool.status(apache.board)) == 5, 30, "the requests")
    with as_the_unit(apache.board) as serving:
        status = Path(f"/proc/{serving.process.pid}/status").read_text()
        assert re.search(r"^CapEff:\t0+$", status, re.M) and re.search(r"^CapBnd:\t0+$", status, re.M)
        board = serving.boards()[0]
        assert board["running"] == "yes" and tool.requests(board) == 5
        assert board["listeners"] is None and board["workers"]["wanted"] is None
        assert serving.sample("mpmstat_up") == 1
        assert "apache event" in serving.get("/explain").text()
        assert serving.said() == ""


@pytest.mark.skipif(not has("setpriv"), reason="needs setpriv")
def test_a_board_that_its_user_may_not_read(as_root):
    with boards.board(1) as board:
        os.chmod(board.path.parent, 0o755)
        os.chown(board.path, 0, 0)
        os.chmod(board.path, 0o600)
        with as_the_unit(board.path) as serving:
            answer = serving.get("/metrics")
            assert answer.status == 503 and "may not be read by this user" in answer.text(), answer


# ---- Prometheus --------------------------------------------------------------------------------


@pytest.mark.skipif(not PROMTOOL, reason="needs prometheus")
def test_promtool_accepts_the_metrics_and_the_textfile(tmp_path):
    with boards.board(20, php="php.board") as board:
        with Serving(board.path, board.php) as serving:
            status, said = promtool("check", "metrics", text=serving.get("/metrics").text())
            assert status == 0, said
        # node_exporter's way: another name until the file is complete.
        file = tmp_path / "mpmstat.prom"
        subprocess.run(f"{build.TOOL} status --format prometheus {board.path} {board.php} "
                       f">{file}.$$ && mv {file}.$$ {file}", shell=True, check=True, timeout=60)
        assert [path.name for path in tmp_path.iterdir()] == ["mpmstat.prom"]
        status, said = promtool("check", "metrics", text=file.read_text())
        assert status == 0, said


@pytest.mark.skipif(not PROGRAM, reason="needs prometheus")
@pytest.mark.parametrize("native", (False, True))
def test_prometheus_scrapes_it(native):
    """OpenMetrics or protobuf, as it asks; it sees that the server ends."""
    with boards.board(40) as board, Serving(board.path) as serving:
        with Prometheus([serving.port], path="/metrics", native=native) as prometheus:
            prometheus.wait_for("sum(mpmstat_requests_total)", lambda value: value == 40)
            assert prometheus.value("mpmstat_up") == 1 and prometheus.targets_down() == []
            board.serve(2)
            prometheus.wait_for("sum(mpmstat_requests_total)", lambda value: value == 42)
            board.process.kill()
            board.process.wait()
            prometheus.wait_for("mpmstat_up", lambda value: value == 0)
            assert prometheus.value("up") == 1


@pytest.mark.skipif(not (PROGRAM and has("openssl")), reason="needs prometheus and openssl")
def test_prometheus_scrapes_it_with_tls_and_a_token(tmp_path):
    authority = Authority(tmp_path, "ours")
    certificate, key = authority.server()
    token = token_file(tmp_path, "0123456789abcdef")
    settings = {"scheme": "https", "authorization": {"credentials_file": str(token)},
                "tls_config": {"ca_file": str(authority.certificate)}}
    with boards.board(40) as board:
        with Serving("--tls-cert", certificate, "--tls-key", key, "--token-file", token,
                     board.path) as serving:
            with Prometheus([serving.port], path="/metrics", settings=settings) as prometheus:
                prometheus.wait_for("sum(mpmstat_requests_total)", lambda value: value == 40)
