"""What a connection of one request costs, on each MPM: opened, answered, closed."""
import measure


def run():
    measure.need("valgrind", "strace")
    rows = measure.compare(measure.MPMS, (measure.BARE, measure.RECORDED, measure.MOD_STATUS),
                           (measure.instructions, measure.system_calls), measure.fresh, 50, 350)
    measure.table("A connection of one request",
                  ["", "instructions", "added", "system calls", "added"], rows)
