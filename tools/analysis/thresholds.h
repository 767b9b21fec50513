/* thresholds.h - from which number on a run's analysis says what: each once, with its unit in its
 * name and its reason or source. Shares are in thousandths (MILLI).
 *
 * There are three shortest runs, for three claims. They differ, since the claims need more or less:
 *
 *   MST_VERDICT_RUN_MIN_NS   what ran out: as long as it takes for MST_SAMPLES_MIN samples
 *   MST_LITTLE_RUN_MIN_NS    Little's law: the ends of the interval, known to a sample each,
 *                            must not be a tenth of it
 *   MST_SIZING_RUN_MIN_NS    advice on limits: a mean that another run would find, too
 */
#ifndef MPMSTAT_THRESHOLDS_H
#define MPMSTAT_THRESHOLDS_H

#include "archive/archive.h"   /* MST_SAMPLE_NS */
#include "base/clock.h"

/* ---- how much it takes ------------------------------------------------------------- */

/* Samples of the workers that a claim about them takes: fewer may all miss a peak. */
#define MST_SAMPLES_MIN            5u
#define MST_VERDICT_RUN_MIN_NS     (MST_SAMPLES_MIN * MST_SAMPLE_NS)
#define MST_ENOUGH_RUN_NS          (10 * MST_NS_PER_S)   /* all claims, and a tail */
#define MST_LITTLE_RUN_MIN_NS      MST_NS_PER_S
#define MST_LITTLE_REQUESTS_MIN    20u    /* the check's sentence names both */
#define MST_SIZING_RUN_MIN_NS      (2 * MST_NS_PER_S)
/* So many times as many requests at times as on average: the load paused. */
#define MST_UNEVEN_MILLI           2000u
#define MST_PREDICT_REQUESTS_MIN   20u    /* as for Little's law */
#define MST_SIZING_REQUESTS_MIN    100u   /* a mean of fewer has no useful interval */
/* A clock whose step is a larger part of a time is too coarse for a difference of some percent. */
#define MST_COARSE_CLOCK           0.02
/* A load tool's own start is a large part of a shorter run. */
#define MST_GENERATOR_RUN_MIN_NS   (100 * MST_NS_PER_MS)
#define MST_MEMORY_COUNTS_MIN      3u     /* different numbers of processes: two fit any line */

/* ---- what two clocks and two counts may differ by ---------------------------------- */

/* Between the two sides of Little's law: samples and requests are not taken at one instant. */
#define MST_LITTLE_TOLERANCE_MILLI 50u
/* Between a server's counters and its journal, where requests come in while the recording begins
 * and ends: some milliseconds of ten seconds. */
#define MST_EDGES_MILLI 10u
/* Instants that two programs read from one clock; and from wall clocks of two machines, or of
 * one that was set in between. */
#define MST_SAME_CLOCK_TOLERANCE_NS MST_NS_PER_MS
#define MST_WALL_CLOCK_TOLERANCE_NS MST_NS_PER_S
/* A PHP's requests all come from one Apache where that has at least so many of so many. */
#define MST_ONE_APACHE_PERCENT     98u
#define MST_ONE_APACHE_SAMPLE      200u
/* Starts of a load tool's rows in coarser steps do not tell requests apart. */
#define MST_JOIN_START_STEP_MAX_NS (10 * MST_NS_PER_MS)
/* Requests of a server that are compared with one of a client's: bounds the time of a join. */
#define MST_JOIN_CHOICES_MAX       512u

/* ---- one server and its peers ------------------------------------------------------ */

/* Of two that differ, none is the odd one. */
#define MST_ODD_SERVERS_MIN        3u
#define MST_ODD_REQUESTS_MIN       100u
/* A server is odd where it is so many times as far from the median as half of all are. */
#define MST_ODD_SPREADS            5u
/* What differs less does not matter: a request's time, its wait for a worker, the workers. */
#define MST_ODD_TIME_MIN_NS        (2 * MST_NS_PER_MS)
#define MST_ODD_WAIT_MIN_NS        (5 * MST_NS_PER_MS)
#define MST_ODD_BUSY_MIN_MILLI     300u

/* ---- predictions and what came ----------------------------------------------------- */

/* Loads of requests that come by themselves are the same up to here. */
#define MST_SAME_LOAD_MILLI        50u

/* ---- findings ---------------------------------------------------------------------- */

/* From this share of the time of all requests on, a part of it is a finding, ... */
#define MST_FINDING_MILLI          50u
/* ... and from this share on it is named in the verdict: what explains less does not decide. */
#define MST_HEADLINE_MILLI         200u
/* Full CPUs are named in the verdict, however little of the time is known to be computing. */
#define MST_CPU_FLOOR_MILLI        250u
/* Full CPUs explain a wait up to so many times the requests' CPU time, which is multiplied by the
 * number of threads that want each CPU. */
#define MST_CPU_EXPLAINS_FACTOR    4u
/* Failures of more than a few in a hundred come before everything else: such a run measures the
 * failures. */
#define MST_FAILURES_FIRST_MILLI   30u
/* From this time on an error is not quickly made: what took the time is the question. */
#define MST_ERROR_TOOK_NS          500000000ull
/* So many of all answers are nearly all of them. */
#define MST_NEARLY_ALL_MILLI       900u
/* Fewer failures are told before "nothing ran out", and after causes that explain more. */
#define MST_FAILURES_FLOOR_MILLI   250u
/* A part of a request that takes less on average is not a reason to call the server slow. */
#define MST_PART_MEAN_MIN_NS       MST_NS_PER_MS

/* A log that takes as long has to wait for something. */
#define MST_LOG_MEAN_MIN_NS        (10 * MST_NS_PER_MS)
/* Requests that clients abort in the last moment of a load are the load tool's end. */
#define MST_LAST_MOMENT_NS         (200 * MST_NS_PER_MS)
/* From this share of the workers' busy time on, one label or wait has most of it. */
#define MST_HOLDER_TIME_MILLI      500u
/* OPcache has no room for large scripts where less of its memory is free. */
#define MST_OPCACHE_FREE_MILLI     200u
/* A place in PHP's code is named from so many samples of CPU time on, where it has so much of the
 * time; its calls are counted where one call stack has nearly all of its time. */
#define MST_IN_CODE_SAMPLES_MIN    30u
#define MST_IN_CODE_MILLI          300u
#define MST_IN_CODE_ALL_MILLI      900u
/* Processes stay where one ends in so many requests, or seldomer. */
#define MST_STAYED_REQUESTS        100u
/* Processes that end after fewer requests cost more than they serve; and how many must have ended
 * for that to be a habit. */
#define MST_CHURN_REQUESTS_MAX     20u
#define MST_CHURN_EXITS_MIN        20u
/* So many waits of whole seconds, and so many of all that are as long, are no coincidence: without
 * a reason a tenth of them would be. */
#define MST_WHOLE_SECONDS_MIN      3u
#define MST_WHOLE_SECONDS_MILLI    800u
/* A request that takes less waited for no CPU that another program had: that takes a turn of the
 * scheduler, some milliseconds. */
#define MST_QUICK_MEAN_NS          (2 * MST_NS_PER_MS)
/* A request that computes for less is quick enough. */
#define MST_COMPUTING_MEAN_MIN_NS  (20 * MST_NS_PER_MS)
/* The kernel's part of PHP's CPU time is told from so much on: scripts that compute have less than
 * a tenth there. */
#define MST_KERNEL_MILLI           500u
/* A thing that serves one request at a time: of so many waits, the distances from each end to the
 * next one, and to the fourth one after it, deviate by at most these parts of their means, two or
 * more were inside at once, and the shortest wait took no longer than this many distances of two
 * ends. Ends at random deviate by 1 and 0.5; those of planted locks and serial services by less
 * than 0.1 and 0.04; those of a query without an index, of which two CPUs run two, by 0.76 and
 * 0.24; those of four clients that wait for the same slow thing at once by 1.7 and 0. */
#define MST_SERIAL_REQUESTS_MIN    10u
#define MST_SERIAL_NEXT_MAX        0.5
#define MST_SERIAL_FOURTH_MAX      0.2
#define MST_SERIAL_INSIDE_MIN      1.8
#define MST_SERIAL_SHORTEST_MAX    1.5
/* One that sends two or three answers at once, as Redis does: next ones deviate by 1.1, the fourth
 * ones by 0.26, but the sixteenth ones by 0.07, and no wait is shorter than serving one request. */
#define MST_TOGETHER_REQUESTS_MIN  64u
#define MST_TOGETHER_SIXTEENTH_MAX 0.1
#define MST_TOGETHER_INSIDE_MIN    3.0
#define MST_TOGETHER_SHORTEST_MIN  0.8
/* Only those that wait are inside a lock's wait, without the one that has it. */
#define MST_LOCK_INSIDE_MIN        0.8
/* A request is slow where it takes more than MST_TAIL_FACTOR times the median, and more than
 * MST_TAIL_NS above it. A run has a tail only with so many requests: then one in a hundred is more
 * than one request. */
#define MST_TAIL_REQUESTS_MIN      200u
#define MST_TAIL_FACTOR            3u
#define MST_TAIL_NS                (20 * MST_NS_PER_MS)
/* As many slow requests do not come by chance; more than this share of all are not a tail. */
#define MST_TAIL_SLOW_MIN          5u
#define MST_TAIL_MOST_MILLI        100u
/* Slow requests have something in common where this share of them has it, and of all requests at
 * most half that share. */
#define MST_COMMON_SLOW_MILLI      700u

/* PHP stood still: no request ended for so long, which is so many times what half of them take, and
 * as many waited for the same. */
#define MST_STALL_NS               (2 * MST_NS_PER_S)
#define MST_STALL_FACTOR           5u
#define MST_STALL_REQUESTS_MIN     3u

/* A finding is of a part of the run where the shortest time with so much of it is at most so much
 * of the run, and had at most so many of the requests: else it says when the load was. */
#define MST_WHEN_MILLI             900u
#define MST_WHEN_MOST_MILLI        600u
#define MST_WHEN_REQUESTS_MILLI    700u
#define MST_WHEN_REQUESTS_MIN      50u

/* The first answer was late: so long after the first request, and so many times what later requests
 * take. */
#define MST_COLD_NS                MST_NS_PER_S
#define MST_COLD_FACTOR            5u

/* PHP's workers are bound by idle connections where they have connections for so much of their
 * limit, and run a request for at most so much of these, on average. */
#define MST_BOUND_MILLI            900u
#define MST_BOUND_BUSY_MILLI       800u

/* Children of the generation before a restart that end later than this kept their slots. */
#define MST_OLD_CHILD_NS           MST_NS_PER_S

/* ---- waiting ----------------------------------------------------------------------- */

/* From this share of the time of all requests on, connections that waited were starved. */
#define MST_WAIT_SHARE_MILLI       200u
/* The phase `queue` comes from TCP_INFO, in jiffies of the kernel: 10 ms with CONFIG_HZ=100. */
#define MST_QUEUE_MEAN_MIN_NS      (10 * MST_NS_PER_MS)
/* Less is what handing a request over to PHP takes. */
#define MST_PHP_WAIT_MEAN_MIN_NS   MST_NS_PER_MS
/* A single wait that a person notices. */
#define MST_LONG_WAIT_NS           (100 * MST_NS_PER_MS)

/* ---- workers, CPUs, memory, clients ------------------------------------------------- */

/* If the mean busy count is at least this share of the maximum, the maximum is taken for the limit
 * where that is not known. */
#define MST_CONSTANT_BUSY_MILLI    900u
/* From this share of busy workers with idle keep-alive connections on, what requests held is
 * only a part. */
#define MST_KEEPALIVE_SHARE_MILLI  50u
/* From this share of all CPUs on, nothing is left, ... */
#define MST_CPU_FULL_MILLI         950u
/* ... and from this share on there is little: requests wait for a CPU at times, and more workers
 * help little. */
#define MST_CPU_MUCH_MILLI         850u
/* The same where only requests tell, and nearly all are PHP's: the part of php_run that was the
 * wait for a CPU, from which on the CPUs were full, and from which on more workers would mostly
 * wait for them. */
#define MST_CPU_PHP_MILLI          950u
#define MST_CPU_WAITED_MILLI       500u
#define MST_CPU_SHORT_MILLI        200u
/* CPUs that were busy nearly all the time are full only where requests waited for one, too: two
 * requests at a time that compute on two CPUs wait for nothing. */
#define MST_CPU_QUEUED_MILLI       100u
/* From this share of the CPUs' time on, full CPUs are full with these requests. */
#define MST_CPU_OURS_MILLI         500u
/* From this share of the CPUs' time on, what the hypervisor gave to others was felt here. */
#define MST_STOLEN_MILLI           50u
/* More workers are worth it from this rate on: thousandths of the rate now. */
#define MST_WORTH_MILLI            1150u
/* From this share of a CPU for each thread on, the load tool can do no more. */
#define MST_GENERATOR_BUSY_MILLI   900u
/* From this share of its requests on, a load tool that could not begin them limits the load. */
#define MST_GENERATOR_DROPPED_MILLI 10u
/* From this share of the machine's busy time on, the load tool's is worth a remark. */
#define MST_TOOL_SHARE_MILLI       200u
/* A machine that has so much of its memory available makes no program wait for memory, unless a
 * control group limits it. */
#define MST_MEMORY_PLENTY_MILLI    200u
/* From this share of its limit on, a process has no descriptor left at times, and an address no
 * port: samples are taken between the requests. */
#define MST_EXHAUSTED_MILLI        950u
/* The share of the run in which programs waited for memory or a disk (pressure stall
 * information). */
#define MST_STALL_MILLI            100u
/* The same of memory where requests waited for files, too: what the kernel reads again from a fast
 * disk holds the group up for little of the time. */
#define MST_STALL_FOR_FILES_MILLI  20u
/* The share of the run for which a control group's limit of CPU time held a server up. */
#define MST_THROTTLED_MILLI        200u
/* Of a request's time that was sending, and how long that was on average: less is what writing
 * into socket buffers takes. */
#define MST_SLOW_SEND_MILLI        500u
#define MST_SLOW_SEND_MEAN_MIN_NS  (10 * MST_NS_PER_MS)
/* The share of a phase from which on tables show an interval or a kind of wait. */
#define MST_PART_SHARE_MILLI       5u
/* The share of all requests' time from which on the brief text shows a phase or a part of one. */
#define MST_BRIEF_SHARE_MILLI      20u
/* The share of RAM for a server's processes: the system and the page cache need the rest. */
#define MST_RAM_SHARE_MILLI        800u
/* Connections of all processes against the limit of event: one process reaches its part before
 * all have theirs. And httpd's own default of AsyncRequestWorkerFactor. */
#define MST_EVENT_FULL_MILLI       700u
#define MST_DEFAULT_ASYNC_FACTOR   2
/* As few idle workers, for each busy one, are none: processes are started too slowly. */
#define MST_SPAWNING_IDLE_MILLI    100u
/* Requests waited for processes that were still to be started, where less than the waits divided by
 * this number passed while all workers were busy at the limit, and requests hardly waited there. */
#define MST_STARTED_LATE_PART      2
/* After a restart a server has its processes again within this time. */
#define MST_RESTART_NS             (2 * MST_NS_PER_S)
/* httpd's own default of ListenBacklog. */
#define MST_DEFAULT_BACKLOG        511u

/* ---- comparisons -------------------------------------------------------------------- */

/* From this ratio on a change is said as "3.2 times as much": percentages get hard to read. */
#define MST_FACTOR_MIN             3.0
/* What differs less is seen as the same in single runs, where nothing tells more. */
#define MST_SAME_RATIO             1.02
/* Answers are taken as those of another page where their mean size differs by this factor and by so
 * many bytes. */
#define MST_OTHER_SIZE_RATIO       1.1
#define MST_OTHER_SIZE_BYTES       256.0
/* One pair of runs can be neighbours by chance. */
#define MST_COMPARE_PAIRS_MIN      2u
/* Concurrencies that a fit of the Universal Scalability Law takes: one more than it has
 * parameters. */
#define MST_USL_LEVELS             4u
/* A throughput that has so much of the highest one is nearly as high; so it is in capacity/. */
#define MST_KNEE_NEARLY            0.9

#endif
