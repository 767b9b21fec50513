#!/usr/bin/env python3
"""What mpmstat costs. Tables on stdout, progress on stderr.

    make bench                    all of them
    make bench BENCH=status       one, or several: requests connections forks php throughput status
                                  report recording fleet contention live watching decided
"""
import argparse

import contention
import decided
import fleet
import live_page
import per_connection
import per_fork
import per_php_request
import per_request
import recording_rate
import report_cost
import status_page
import throughput
import watching

BENCHES = {"requests": per_request, "connections": per_connection, "forks": per_fork,
           "php": per_php_request, "throughput": throughput, "status": status_page,
           "report": report_cost, "recording": recording_rate, "fleet": fleet,
           "contention": contention, "live": live_page, "watching": watching,
           "decided": decided}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("bench", nargs="*", help=f"of {', '.join(BENCHES)}; none: all")
    chosen = parser.parse_args().bench
    unknown = [name for name in chosen if name not in BENCHES]
    if unknown:
        parser.error(f"expected names of {', '.join(BENCHES)}; found {', '.join(unknown)}")
    for name in chosen or BENCHES:
        BENCHES[name].run()


if __name__ == "__main__":
    main()
