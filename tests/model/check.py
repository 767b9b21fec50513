#!/usr/bin/python3
"""Predicts changes from one recording, makes each of them and records again: make check-model.

Each case is a server, a load and a change. The server is recorded, mpmstat whatif predicts from that
recording what the change makes of it, and the changed server is recorded. The server as it was is
recorded a second time, too: how far two recordings of the same are apart is the machine's noise, and
no prediction can be better. The exit status is 1 where the predictions are worse than the limits.
"""
import argparse
import hashlib
import json
import math
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration/support"))

import apache as apaches    # noqa: E402  (after the path is set)
import build                # noqa: E402
import php                  # noqa: E402
import cases                # noqa: E402
from fpm import FPM         # noqa: E402

MEASURES = {"requests_per_second": "rate", "p50_seconds": "p50", "p95_seconds": "p95"}
# Medians of the relative errors, the largest one that nothing warns of, and how many of the 90 %
# intervals hold.
MEDIAN_LIMITS = {"rate": 0.07, "p50": 0.15, "p95": 0.15}
LARGEST, HOLD = 0.30, 0.80
AB_STEP = 0.001     # ab tells times in milliseconds
WARM_UP = 200       # requests


# ---- recordings ------------------------------------------------------------------------------


def start(server, stack):
    """The server, started within the stack: (its boards, its URL)."""
    fpm, extra = None, ""
    if server.php == "wsgi":
        apache = stack.enter_context(apaches.Apache(
            server.mpm, cases.WSGI_LINES, modules=["wsgi"], workers=server.workers,
            wrapper=server.on_cpus()))
        apache.page("application.wsgi", cases.WSGI)
        return [apache.board], f"http://127.0.0.1:{apache.port}/{server.page}"
    if server.php == "mod_php":
        boards = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mpmstat-model-")))
        boards.chmod(0o777)
        php.write_ini(boards, php.settings(boards))
        extra += f'\nPHPIniDir "{boards}"'
        scratch = boards
    else:
        fpm = stack.enter_context(FPM(server.children, manager=server.manager,
                                      settings=php.settings("@ROOT@/run"),
                                      wrapper=server.on_cpus()))
        boards, scratch = fpm.board, fpm.root / "run"
    asked = stack.enter_context(server.what_it_asks())
    apache = stack.enter_context(apaches.Apache(
        server.mpm, extra, php="fpm" if fpm else "mod_php", fpm=fpm, workers=server.workers,
        wrapper=server.on_cpus()))
    for name, text in cases.PAGES.items():
        apache.page(name, text.replace("SERVICE", str(asked.port))
                    .replace("SECONDS", str(server.end_seconds()))
                    .replace("SCRATCH", str(scratch)))
    return [apache.board, boards], f"http://127.0.0.1:{apache.port}/{server.page}"


def record(server, path):
    with ExitStack() as stack:
        boards, url = start(server, stack)
        targets = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "targets"
        targets.write_text("".join(f"{board}\n" for board in boards))
        if server.manager == cases.STATIC:
            subprocess.run(["ab", "-q", "-l", "-n", str(WARM_UP), "-c", "4", url], check=True,
                           capture_output=True)
        done = subprocess.run([*server.on_cpus(), str(build.TOOL), "record", "-o", str(path),
                               "--targets", str(targets), "--", *server.load(url)], check=False,
                              capture_output=True, text=True, timeout=60 + 10 * server.seconds)
        assert done.returncode in (0, 1), done.stdout + done.stderr


def recorded(directory, name, server):
    path = directory / f"{name}.db"
    if not path.exists():
        record(server, path)
    return path


def whatif(path, *options):
    done = subprocess.run([str(build.TOOL), "whatif", "--json", *options, str(path)],
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def measured(path):
    """What the load tool says."""
    said = subprocess.run([str(build.TOOL), "report", "--format", "json", str(path)],
                          capture_output=True, text=True, check=True)
    return json.loads(said.stdout)[-1]["client"]


# ---- what came of it -------------------------------------------------------------------------


def error(predicted, found):
    """As a part of what was found; 0 within ab's step."""
    return 0 if abs(predicted - found) <= AB_STEP else predicted / max(found, AB_STEP) - 1


def warns(said):
    """Whether it says itself that it can be far off."""
    return "then" not in said or said["then"]["others_matter"] or said["then"]["busier_ends"]


def row(case, said, now, again):
    cells = [case.name]
    for key in MEASURES:
        before, found, noise = said["now"][key], now[key], error(again[key], said["now"][key])
        if "then" in said:
            e = said["then"][key]
            held = "" if e["low"] <= found <= e["high"] else "!"
            cells.append(f"{before:.3g} > {found:.3g}, {100 * error(e['value'], found):+.0f} %{held}"
                         f" ({100 * noise:+.0f})")
        else:
            cells.append(f"{before:.3g} > {found:.3g}, - ({100 * noise:+.0f})")
    cells.append(said["then"]["runs_out"] or "" if "then" in said else "not predicted")
    return "| " + " | ".join(cells) + " |"


def judge(results):
    """Says how good the predictions are; whether they are good enough."""
    fine, predicted = True, [(s, n) for _, s, n, _ in results if "then" in s]
    print(f"\n{len(predicted)} of {len(results)} predicted.")
    for key, name in MEASURES.items():
        errors = [abs(error(s["then"][key]["value"], n[key])) for s, n in predicted]
        largest = [abs(error(s["then"][key]["value"], n[key])) for s, n in predicted if not warns(s)]
        held = [s["then"][key]["low"] <= n[key] <= s["then"][key]["high"] or
                error(s["then"][key]["value"], n[key]) == 0 for s, n in predicted]
        noise = [abs(error(a[key], s["now"][key])) for _, s, _, a in results]
        print(f"{name}: median error {100 * statistics.median(errors):.1f} %, largest without a "
              f"warning {100 * max(largest, default=0):.0f} %, intervals hold {sum(held)} of "
              f"{len(held)}; two recordings of the same: {100 * statistics.median(noise):.1f} %")
        fine &= (statistics.median(errors) <= MEDIAN_LIMITS[name] and
                 max(largest, default=0) <= LARGEST and sum(held) >= HOLD * len(held))
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, metavar="DIRECTORY",
                        help="keep the recordings there, and use those that are there already")
    parser.add_argument("names", nargs="*", help="cases, or parts of their names")
    o = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory(prefix="mpmstat-model-") as scratch:
        directory = o.keep or Path(scratch)
        directory.mkdir(exist_ok=True)
        print("| change | requests/s before > after, error (noise) | p50 | p95 | what runs out |\n"
              "|---|---|---|---|---|")
        for case in cases.CASES:
            if o.names and not any(name in case.name for name in o.names):
                continue
            server = case.server
            digest = hashlib.sha256(repr(server).encode()).hexdigest()[:12]
            before = recorded(directory, digest, server)
            again = recorded(directory, f"{digest}-again", server)
            after = recorded(directory, case.name, replace(server, **case.changes))
            results.append((case, whatif(before, *case.options), measured(after),
                            measured(again)))
            print(row(*results[-1]), flush=True)
    sys.exit(0 if judge(results) else 1)


if __name__ == "__main__":
    main()
