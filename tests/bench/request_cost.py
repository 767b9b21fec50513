#!/usr/bin/env python3
"""What a keep-alive request costs in instructions: bare, with mod_mpmstat, with mod_status.

    make bench                    (or tests/bench/request_cost.py, with MPMSTAT_BUILDDIR set)

Prefork in one process (-X) under valgrind --tool=callgrind serves a small static
file over one kept-alive connection, once FEW and once MANY times. The difference
divided by MANY - FEW is a request, without the start, the connection and the stop.
Instructions are counted, not timed: the figures are the same on a busy machine.
The vDSO's clock is a call of a few instructions under valgrind; natively it is
some twenty more each time (four to five a request).

It also counts system calls, with strace, the same way.
"""
import argparse
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
import apache                                                    # noqa: E402
import clients                                                   # noqa: E402
from processes import wait_until                                 # noqa: E402

FEW, MANY = 200, 1200
# The server is to be waiting in poll() each time, or how often it finds nothing
# to read would depend on who is faster.
PAUSE_SECONDS = 0.005

KEEP_ALIVE = "KeepAlive On\nMaxKeepAliveRequests 0\nKeepAliveTimeout 60\n"
# httpd compares each URL with each <Location>: all have the same one.
CONFIGURATIONS = {
    "bare": dict(module=False, extra=KEEP_ALIVE + apache.STATUS),
    "mod_mpmstat": dict(module=True, extra=KEEP_ALIVE),
    "mod_status ExtendedStatus On": dict(module=False, modules=["status"],
                                         extra=KEEP_ALIVE + apache.STATUS + "ExtendedStatus On\n"),
}


class OneProcess(apache.Apache):
    """httpd -X: everything in the process that the wrapper runs."""

    def command(self, *arguments):
        return super().command("-X", *(a for a in arguments if a != "-DFOREGROUND"))

    def wait_ready(self, starts, timeout=60):
        """With -X httpd does not log that it is ready."""
        def answers():
            assert self.process.poll() is None, "Apache ended:\n" + self.everything_said()
            try:
                return self.get("/").status == 200
            except (OSError, clients.NoAnswer):
                return False
        wait_until(answers, timeout, lambda: "Apache to answer:\n" + self.everything_said())


def serve(configuration, wrapper, requests):
    """Starts, sends that many requests on one connection, stops. Returns what was said."""
    server = OneProcess("prefork", limits="MaxRequestWorkers 1\nServerLimit 1\nListenBacklog 511",
                        wrapper=wrapper, **configuration)
    try:
        server.start(timeout=120)
        with server.connect() as connection:
            for _ in range(requests):
                time.sleep(PAUSE_SECONDS)
                response = connection.request("/index.html")
                assert response.status == 200, response.status
        os.kill(server.pid, signal.SIGTERM)
        server.process.wait(120)
        return server.everything_said()
    finally:
        server.stop()
        server.remove()


def instructions(configuration, requests, _scratch):
    """callgrind's own total; its file would be the server's user's to write."""
    said = serve(configuration, ["valgrind", "--tool=callgrind", "--vgdb=no",
                                 "--callgrind-out-file=/dev/null"], requests)
    return int(re.search(r"Collected : (\d+)", said).group(1))


def system_calls(configuration, requests, scratch):
    out = Path(scratch) / "strace.out"
    serve(configuration, ["strace", "-f", "-c", "-o", str(out)], requests)
    total = [line for line in out.read_text().splitlines() if line.rstrip().endswith("total")]
    out.unlink()
    return int(total[0].split()[3 if "." in total[0].split()[2] or len(total[0].split()) > 4 else 2])


def per_request(measure, configuration, scratch):
    few = measure(configuration, FEW, scratch)
    many = measure(configuration, MANY, scratch)
    return (many - few) / (MANY - FEW)


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter
                            ).parse_args()
    for program in ("valgrind", "strace"):
        if not shutil.which(program):
            sys.exit(f"this bench needs {program} (apt-get install {program})")
    with tempfile.TemporaryDirectory() as scratch:
        print(f"{'':30} {'instructions':>13} {'added':>8} {'system calls':>13} {'added':>6}")
        base = None
        for name, configuration in CONFIGURATIONS.items():
            cost = (per_request(instructions, configuration, scratch),
                    per_request(system_calls, configuration, scratch))
            base = base or cost
            print(f"{name:30} {cost[0]:13.0f} {cost[0] - base[0]:8.0f}"
                  f" {cost[1]:13.2f} {cost[1] - base[1]:6.2f}", flush=True)


if __name__ == "__main__":
    main()
