#!/usr/bin/python3
"""Predicts changes from one recording, makes each of them and records again: make check-model.

Each case is a server, a load and a change. The server is recorded, mpmstat whatif predicts from that
recording what the change makes of it, and the changed server is recorded. The server as it was is
recorded a second time, too: how far two recordings of the same are apart is the machine's noise, and
no prediction can be better. The exit status is 1 where the predictions are worse than the limits.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration/support"))

import apache as apaches    # noqa: E402
import build                # noqa: E402
import php                  # noqa: E402
import pages                # noqa: E402
from fpm import FPM         # noqa: E402

MEASURES = {"requests_per_second": "rate", "p50_seconds": "p50", "p95_seconds": "p95"}
# Medians of the relative errors, the largest one that nothing warns of, and how many of the 90 %
# intervals hold.
RATE_LIMIT, TIME_LIMIT, MOST, HOLD = 0.07, 0.15, 0.30, 0.80


@dataclass
class Server:
    """A server with its load. workers: MaxRequestWorkers; children: pm.max_children."""
    mpm: str = "event"
    php: str = "fpm"
    workers: int = 150
    children: int = 5
    manager: str = "pm = static"
    page: str = "mixed.php"
    clients: int = 20
    keep_alive: bool = False
    seconds: int = 6
    end: float = 1.0        # so many times the time of the other end
    cpus: int = 0           # 0: all
    extra: str = ""

    def load(self, url):
        return ["ab", "-q", "-l", "-t", str(self.seconds), "-n", "1000000", "-c", str(self.clients),
                *(["-k"] if self.keep_alive else []), url]


@dataclass
class Case:
    name: str
    server: Server
    options: list
    changes: dict = field(default_factory=dict)


def record(server, path):
    """Starts the server, loads it for `seconds`, and stops it."""
    with ExitStack() as stack:
        fpm, extra = None, server.extra
        if server.php == "mod_php":
            boards = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm",
                                                                          prefix="mpmstat-model-")))
            boards.chmod(0o777)
            php.write_ini(boards, php.settings(boards))
            extra += f'\nPHPIniDir "{boards}"'
        if server.php == "fpm":
            fpm = stack.enter_context(FPM(server.children, manager=server.manager,
                                          settings=php.settings("@ROOT@/run")))
        apache = stack.enter_context(apaches.Apache(
            server.mpm, extra, php="fpm" if fpm else server.php, fpm=fpm,
            workers=server.workers))
        service = stack.enter_context(pages.Service(server.end))
        for name, text in pages.TEXTS.items():
            apache.page(name, text.replace("SERVICE", str(service.port))
                        .replace("TIMES", str(server.end)))
        (Path(apache.root) / "targets").write_text("".join(
            f"{board}\n" for board in [apache.board, fpm.board if fpm else boards]))
        url = f"http://127.0.0.1:{apache.port}/{server.page}"
        subprocess.run(["ab", "-q", "-l", "-n", "200", "-c", "4", url], check=True,
                       capture_output=True)
        words = [build.TOOL, "record", "-o", str(path), "--targets",
                 str(Path(apache.root) / "targets"), "--", *server.load(url)]
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True,
                              timeout=60 + 10 * server.seconds, check=False)
        assert done.returncode in (0, 1), done.stdout + done.stderr


def whatif(path, *options):
    done = subprocess.run([str(build.TOOL), "whatif", "--json", *options, str(path)],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def measured(path):
    return whatif(path, "--load", "x1")["now"]


def error(predicted, found, step=0.001):
    """The logarithm of their ratio; 0 within ab's step of a millisecond."""
    return 0 if abs(predicted - found) <= step else math.log(predicted / max(found, step))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="a directory for the recordings")
    parser.add_argument("--again", action="store_true",
                        help="predict anew from the recordings of --keep, without recording")
    parser.add_argument("names", nargs="*")
    o = parser.parse_args()
    scratch = tempfile.TemporaryDirectory(prefix="mpmstat-model-")
    directory = o.keep or Path(scratch.name)
    directory.mkdir(exist_ok=True)
    chosen = [c for c in pages.CASES(Server, Case) if not o.names or any(n in c.name
                                                                         for n in o.names)]
    rows = []
    for case in chosen:
        before = directory / f"{abs(hash(repr(case.server)))}.db"
        digest = __import__("hashlib").sha256(repr(case.server).encode()).hexdigest()[:12]
        before, again = directory / f"{digest}.db", directory / f"{digest}-again.db"
        after = directory / f"{case.name}.db"
        for path, server in ((before, case.server), (again, case.server),
                             (after, replace(case.server, **case.changes))):
            if not path.exists():
                record(server, path)
        said, now, noise = whatif(before, *case.options), measured(after), measured(again)
        rows.append((case, said, now, noise))
        show(case, said, now, noise)
    finish(rows)


def show(case, said, now, noise):
    line = f"{case.name:34}"
    for key, name in MEASURES.items():
        base = f"{100 * error(noise[key], said['now'][key]):+5.1f}"
        fit = f"{100 * error(said['simulated'][key], said['now'][key]):+5.1f}"
        if "then" not in said:
            line += f"  {name} now {said['now'][key]:.4g} fit {fit} noise {base}"
            continue
        e = said["then"][key]
        mark = " " if e["low"] <= now[key] <= e["high"] else "!"
        line += (f"  {name} {said['now'][key]:.4g}>{now[key]:.4g} "
                 f"{100 * error(e['value'], now[key]):+5.1f}%{mark}(fit {fit} noise {base})")
    print(line + ("" if "then" in said else f"  NOT PREDICTED {said['why_not']}")
          + "  " + str(said.get("then", {}).get("runs_out")), flush=True)


def finish(rows):
    predicted = [(s["then"], n) for _, s, n, _ in rows if "then" in s]
    for key, name in MEASURES.items():
        errors = [abs(math.exp(error(t[key]["value"], n[key])) - 1) for t, n in predicted]
        hold = [t[key]["low"] <= n[key] <= t[key]["high"] for t, n in predicted]
        noise = [abs(math.exp(error(a[key], s["now"][key])) - 1) for _, s, _, a in rows]
        if errors:
            print(f"{name}: median error {100 * statistics.median(errors):.1f} %, largest "
                  f"{100 * max(errors):.0f} %, intervals hold {sum(hold)} of {len(hold)}; two "
                  f"recordings of the same: {100 * statistics.median(noise):.1f} %")
    print(f"{len(predicted)} of {len(rows)} predicted")


if __name__ == "__main__":
    main()
