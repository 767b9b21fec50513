"""What a kept-alive request of a small static file costs, on each MPM."""
import measure

# An event's start and end vary by some 20,000 instructions: ten to a request, at most.
FEW, MANY = 100, 2_100


def run():
    measure.need("valgrind", "strace")
    rows = measure.compare(measure.MPMS, (measure.BARE, measure.RECORDED, measure.PATHS,
                                          measure.MOD_STATUS),
                           (measure.instructions, measure.system_calls), measure.kept_alive,
                           FEW, MANY)
    measure.table("A kept-alive request", ["", "instructions", "added", "system calls", "added"],
                  rows)
    rows = measure.compare(measure.MPMS, (measure.BARE, measure.RECORDED, measure.TRACED),
                           (measure.instructions,), measure.kept_alive_traced, FEW, MANY)
    measure.table("The same with the header traceparent", ["", "instructions", "added"], rows)
