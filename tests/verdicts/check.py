#!/usr/bin/python3
"""Runs the planted faults and judges what mpmstat finds: right, empty or wrong.

Each case runs in namespaces and a control group of its own, so that neighbours do not decide: cases
that take little of a CPU run at the same time, before the others. A case that cannot be staged here
is "not run", and counted. The exit status is 1 where a finding is wrong, a case broke, more than
three are empty, or more cases than the environment's MPMSTAT_NOT_RUN were not run.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

import groups
from judge import CASES, CLAIM, judge, judge_advice, judge_explained

CASE_SECONDS = 120
EMPTY_LIMIT = 3
# Above this share of the machine's CPUs, programs outside a case's group can delay it, whatever the
# group's weight: the kernel lets them run to the end of a slice.
OTHERS_LIMIT = 0.1
# From this part of the CPU time on that the hypervisor took, a finding about that is true.
STOLEN_LIMIT = 0.03
# Light cases that run at the same time.
AT_ONCE = 1 + os.cpu_count()
NAMESPACES = ["unshare", "--mount", "--pid", "--net", "--fork", "--mount-proc", "--kill-child"]
HERE = Path(__file__).resolve().parent
RUNNING = set()     # processes of the cases that run now
OTHERS = groups.Others()


def load_cases():
    for file in sorted(HERE.glob("cases_*.py")):
        __import__(file.stem)


def cpu_ticks():
    """Stolen ones, and all, since the machine was started."""
    fields = [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return fields[7], sum(fields)


def run_inside(name, result, group, templates, keep, explains):
    """The case, in a process of its own group and namespaces: writes what was recorded."""
    import stage as stages
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    stage = stages.Stage(group, Path(templates), bool(explains))
    said = {}
    try:
        said["run"] = CASES[name].plant(stage)
    except (stages.NotRun, groups.Unavailable, stages.network.Unavailable) as reason:
        said["not run"] = str(reason)
    finally:
        stage.close()
        if keep and stage.archive.exists():
            shutil.copy(stage.archive, Path(keep) / f"{name}.db")
        shutil.rmtree(stage.scratch, ignore_errors=True)
    Path(result).write_text(json.dumps(said))


def run_case(name, templates, keep, explains):
    """(outcome, why, run): outcome is right, empty, wrong, not run or broken. What other cases do
    meanwhile is not an excuse for this one; what other programs do is."""
    try:
        group = groups.make()
    except groups.Unavailable as reason:
        return "not run", str(reason), None
    scratch = Path(tempfile.mkdtemp(prefix="mpmstat-verdict-"))
    result = scratch / "result"
    inner = group.inner("case")
    words = [*NAMESPACES, sys.executable, str(HERE / "check.py"), "--inside", name, str(result),
             json.dumps({k: [str(v.path), v.version] for k, v in group.parts.items()}),
             str(templates), str(keep or ""), "yes" if explains else ""]
    OTHERS.add(group)
    began, used, ticks = time.monotonic(), OTHERS.cpu_seconds(), cpu_ticks()
    case = subprocess.Popen([*inner.wrapper(), *words], stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    RUNNING.add(case)
    try:
        output = case.communicate(timeout=CASE_SECONDS)[0]
        others = (OTHERS.cpu_seconds() - used) / ((time.monotonic() - began) * os.cpu_count())
        stolen, all_of_it = (now - then for now, then in zip(cpu_ticks(), ticks))
        if not result.exists():
            return "broken", output[-3000:], None
        said = json.loads(result.read_text())
    except subprocess.TimeoutExpired:
        return "broken", f"not at its end after {CASE_SECONDS} s", None
    finally:
        case.kill()
        case.wait()
        RUNNING.discard(case)
        OTHERS.remove(group)
        group.remove()
        shutil.rmtree(scratch, ignore_errors=True)
    if "not run" in said:
        return "not run", said["not run"], None
    run = said["run"]
    if "findings" not in run:
        return "broken", "the run has no findings", run
    wanted = CASES[name]
    if stolen > STOLEN_LIMIT * all_of_it and "cpu-stolen" not in wanted.expected:
        run["findings"] = [f for f in run["findings"] if f["code"] != "cpu-stolen"]
    if others > OTHERS_LIMIT:
        wanted = replace(wanted, maybe=wanted.maybe | {"cpu-neighbour"})
        first = (run["findings"] or [{"code": "nothing", "share": 0}])[0]
        by_others = {"cpu", "cpu-neighbour", "cpu-stolen"}
        if (first["code"] in by_others - wanted.expected - CASES[name].maybe
                and (first["share"] or 0) >= CLAIM):
            return "not run", f"others had {others:.0%} of the machine's CPUs, and decided", run
    outcome, why = judge(wanted, run["findings"])
    if outcome == "right" and wanted.followed:
        outcome, why = judge_advice(run)
    return outcome, why, run


def sentence(finding):
    share = finding.get("share")
    return (f"{finding['code']}/{finding['certainty']}"
            + (f" {share:.2f}" if isinstance(share, (int, float)) else "")
            + (f" ({finding['subject']})" if finding.get("subject") else ""))


def show(name, outcome, why, run, seconds, file):
    wanted = CASES[name]
    also = f" also {' '.join(sorted(wanted.also))}" if wanted.also else ""
    print(f"{outcome:8} {name:34} expected {'|'.join(sorted(wanted.expected))}{also}"
          f"{'; ' + why if why else ''} [{seconds:.0f} s]", file=file)
    if run is not None and outcome != "right" or (run and file is not sys.stdout):
        found = ", ".join(sentence(f) for f in run.get("findings", [])[:6])
        print(f"         got {found or 'no finding'}\n         says: {run['verdict']}", file=file)
    file.flush()


def evidence(run):
    """What the servers and the load tool say, to see whether the fault did happen."""
    client = {k: v for k, v in run["client"].items() if not isinstance(v, (dict, list))}
    lines = [f"client: {client}"]
    for server in run["servers"]:
        lines.append(f"{server.get('producer')}: {server.get('requests')} requests, "
                     f"4xx {server.get('errors_4xx')}, 5xx {server.get('errors_5xx')}, workers "
                     f"{ {k: v for k, v in server['workers'].items() if k != 'mean_states'} }")
    return lines + run["logs"]


def select(options):
    found = [c for c in CASES.values() if (c.fast or not options.fast)
             and (not options.names or any(word in c.name for word in options.names))]
    return sorted(found, key=lambda c: c.plant.__code__.co_filename)


def run_light(cases, run):
    """Yields what run(case) returns, as soon as it does, with all of these cases."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for done in as_completed([pool.submit(run, case) for case in cases]):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(RUNNING):
                process.kill()
            raise


def run_all(chosen, options):
    """The outcome of each case, by name."""
    templates = Path(tempfile.mkdtemp(prefix="mpmstat-verdict-templates-"))
    templates.chmod(0o755)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    outcomes = {}

    def run_one(case):
        began = time.monotonic()
        outcome, why, run = run_case(case.name, templates, options.keep, options.explain)
        return case.name, outcome, why, run, time.monotonic() - began

    def settle(name, outcome, why, run, seconds):
        outcomes[name] = outcome
        report(name, outcome, why, run, seconds, options)

    try:
        # The longest are in the last file: they begin.
        for told in run_light([case for case in reversed(chosen) if case.light], run_one):
            settle(*told)
        for case in chosen:
            if not case.light:
                settle(*run_one(case))
    finally:
        shutil.rmtree(templates, ignore_errors=True)
    return outcomes


def report(name, outcome, why, run, seconds, options):
    show(name, outcome, why, run, seconds, sys.stdout)
    if options.explain and run and run.get("explained") is not None:
        explained, about = judge_explained(CASES[name], run["explained"])
        found = ", ".join(sentence(f) for f in run["explained"][:4])
        print(f"         explain: {explained}{': ' + about if about else ''}"
              f"{'; got ' + found if about else ''}", flush=True)
    if options.evidence and run:
        print(*(f"           {line}" for line in evidence(run)), sep="\n", flush=True)
    if options.results:
        with open(options.results, "a") as file:
            show(name, outcome, why, run, seconds, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only cases whose names have one of these in them")
    parser.add_argument("--fast", action="store_true", help="the fast half")
    parser.add_argument("--list", action="store_true", help="name the cases, and run none")
    parser.add_argument("--results", help="append all that was found to this file")
    parser.add_argument("--evidence", action="store_true",
                        help="show what servers and load tools say, too")
    parser.add_argument("--keep", metavar="DIRECTORY", help="keep the archives there")
    parser.add_argument("--explain", action="store_true",
                        help="show what mpmstat explain makes of each load, too")
    parser.add_argument("--inside", nargs=6, help=argparse.SUPPRESS)
    options = parser.parse_args()
    load_cases()
    if options.inside:
        name, result, where, templates, keep, explains = options.inside
        return run_inside(name, result, groups.load(json.loads(where)), templates, keep, explains)
    chosen = select(options)
    if options.list:
        return print("\n".join(f"{c.name:34} {'fast' if c.fast else '':5}"
                               f"{'|'.join(sorted(c.expected))}" for c in chosen))
    outcomes = run_all(chosen, options)
    counts = Counter(outcomes.values())
    names = ("right", "empty", "wrong", "not run", "broken")
    print(", ".join(f"{counts[name]} {name}" for name in names), f"of {len(chosen)} planted faults")
    return int(counts["wrong"] > 0 or counts["broken"] > 0
               or counts["empty"] > EMPTY_LIMIT
               or counts["not run"] > int(os.environ.get("MPMSTAT_NOT_RUN", len(chosen))))


if __name__ == "__main__":
    sys.exit(main())
