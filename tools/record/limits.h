/* limits.h - how long a recording waits for what, and how much of a load tool's output it shows. */
#ifndef MPMSTAT_RECORD_LIMITS_H
#define MPMSTAT_RECORD_LIMITS_H

#include "base/clock.h"

/* The load's end, where neither the user nor the load tool's adapter sets one. */
#define MST_RECORDING_TIMEOUT_NS (3600 * MST_NS_PER_S)
/* Wait so long for requests in flight before the load begins: they take a share of the server. */
#define MST_QUIET_NS             (5 * MST_NS_PER_S)
/* Wait so long for requests in flight after the load, and between two samples of them. */
#define MST_DRAIN_NS             (2 * MST_NS_PER_S)
#define MST_DRAIN_STEP_MS        50
/* Wait so long for all answers of one URL after the load. */
#define MST_ANSWER_NS            (15 * MST_NS_PER_S)
/* Wait so long for one answer while the load tool is being stopped: its end must be seen soon. */
#define MST_BRIEF_NS             MST_NS_PER_S
/* A request may seem to have begun so much earlier than it did: the phase `queue` is known to a
 * kernel jiffy, of which the slowest kernels have a hundred a second. */
#define MST_START_TOLERANCE_NS   (10 * MST_NS_PER_MS)
/* Look so often at a server on another machine before the load, for its clock. */
#define MST_CLOCK_LOOKS          4u
/* Between two samples of the local ports in use. */
#define MST_PORTS_NS             MST_NS_PER_S
/* CPU time of processes that cannot be seen is recorded from a tenth of all on: what short
 * processes took is not known exactly. It has this name among the programs. */
#define MST_UNSEEN_PART          10u
#define MST_UNSEEN_PROGRAMS      "processes that cannot be seen from here"
/* Wait so long for a program that converts a load tool's own format, or that says its version. */
#define MST_CONVERT_NS           (300 * MST_NS_PER_S)
#define MST_VERSION_NS           (5 * MST_NS_PER_S)
/* Show so many first and last lines of a failed tool's output, of so many bytes at its end. */
#define MST_SHOWN_LINES          4u
#define MST_SHOWN_BYTES          8192u

#endif
