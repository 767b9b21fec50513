"""How often record --repeat until-decided is wrong, and how many pairs it takes, on a real server.

A page of FPM that sleeps for 20 ms is compared with itself, and with one that takes 5 % longer; and
each time the first five pairs alone, as --repeat 5 would have them.
"""
import json
import re
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import apache as apaches
import measure
import php
import tool
from fpm import FPM

SEQUENCES = {"the same page": (0.02, 20), "5 % longer": (0.021, 10)}
REQUESTS, CLIENTS = 200, 4


def first_five(archive):
    """What compare says of the first five pairs, without the wider intervals of a sequence."""
    sides = []
    for name in "AB":
        path = archive.parent / f"{name}.db"
        shutil.copy(archive, path)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("DELETE FROM environment WHERE name = 'repeated'")
            db.execute("UPDATE runs SET complete = 0 WHERE repetition > 5")
        sides.append(f"{path}#{name}")
    found = json.loads(tool.run("compare", "--format", "json", *sides, timeout=60).stdout)
    return next(row for row in found["metrics"] if row["metric"] == "server_mean_seconds")["change"]


def sequence(apache, targets, directory, seconds):
    archive = directory / "ab.db"
    commands = [["ab", "-q", "-n", str(REQUESTS), "-c", str(CLIENTS),
                 f"http://127.0.0.1:{apache.port}/sleep.php?spread=0&seconds={time}"]
                for time in (0.02, seconds)]
    said = tool.run("record", "--repeat", "until-decided", "--interleave", "-o", archive,
                    "--targets", targets, "--", *commands[0], "--versus", *commands[1],
                    timeout=1200).stdout
    decided = re.search(r"(Decided|Not decided) after (\d+) pairs?[:.] (.*)", said)
    outcome = "none" if decided[1] != "Decided" else \
        "same" if "differ by less than" in decided[3] else \
        "slower" if "B is slower" in decided[3] else "faster"
    pairs = int(decided[2])
    return outcome, pairs, first_five(archive) if pairs >= 5 else None


def run():
    rows = []
    with FPM(CLIENTS, settings=php.settings("@ROOT@/run")) as fpm, \
            apaches.Apache("event", php="fpm", fpm=fpm, workers=20) as apache:
        for name, (seconds, count) in SEQUENCES.items():
            outcomes = []
            for number in range(count):
                measure.progress(f"{name}: {number + 1} of {count}")
                with tempfile.TemporaryDirectory(prefix="mpmstat-bench-") as directory:
                    targets = Path(directory) / "targets"
                    targets.write_text(f"{apache.board}\n{fpm.board}\n")
                    outcomes.append(sequence(apache, targets, Path(directory), seconds))
            five = [change for _, pairs, change in outcomes if pairs >= 5]
            rows.append([name, count, *(sum(outcome == kind for outcome, _, _ in outcomes)
                                        for kind in ("slower", "faster", "same", "none")),
                         f"{sum(pairs for _, pairs, _ in outcomes) / count:.1f}",
                         f"{sum(change is not None for change in five)} of {len(five)}"])
    measure.table("Pairs until they decide", ["B", "sequences", "slower", "faster", "same",
                                              "not decided", "pairs, mean",
                                              "a difference in the first 5"], rows)
