"""What a kept-alive request of a small static file costs, on each MPM."""
import measure


def run():
    measure.need("valgrind", "strace")
    rows = measure.compare(measure.MPMS, (measure.BARE, measure.RECORDED, measure.MOD_STATUS),
                           (measure.instructions, measure.system_calls), measure.kept_alive,
                           100, 600)
    measure.table("A kept-alive request", ["", "instructions", "added", "system calls", "added"],
                  rows)
