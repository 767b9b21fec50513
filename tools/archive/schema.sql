-- schema.sql - the archive: what `mpmstat record` knows of every run, for anyone with sqlite3.
--
-- Instants end in _ns and are nanoseconds since 1970 (UTC) by the recording machine's clock;
-- server times are the server's own where it is another machine. Times are nanoseconds, sizes
-- bytes. NULL is "not known", never 0. A run consists of the rows that carry its id.
--
-- PRAGMA application_id is 0x6d706d73 ("mpms"), PRAGMA user_version the version of this schema.

-- One recording. The row is there before the load begins, with complete = 0 and outcome
-- 'unfinished': so it stays when the recording itself is killed.
CREATE TABLE IF NOT EXISTS runs (
    id                INTEGER PRIMARY KEY,
    name              TEXT,              -- --name
    command           TEXT NOT NULL,     -- as it was executed, a JSON array; [] none
    command_line      TEXT,              -- the same to read, quoted for a shell; NULL none
    added             TEXT,              -- the flags in it that mpmstat added
    tool              TEXT,              -- the adapter: 'ab', 'generic'; NULL no command
    started_ns        INTEGER NOT NULL,  -- instant: the load tool was started
    ended_ns          INTEGER,           -- instant: it ended
    duration_ns       INTEGER,           -- ended - started, by the monotonic clock
    complete          INTEGER NOT NULL DEFAULT 0,   -- 1: the load tool ended by itself with
                                         -- exit status 0, and everything was recorded
    outcome           TEXT NOT NULL DEFAULT 'unfinished',   -- 'complete', 'failed' (the tool),
                                         -- 'timeout', 'interrupted', 'unfinished'
    exit_status       INTEGER,           -- of the load tool
    exit_signal       INTEGER,           -- the signal that ended it
    tool_cpu_ns       INTEGER,           -- CPU time of the load tool
    tool_threads      INTEGER,           -- CPUs that it can use: 1; NULL not known
    memory_cost_ns    INTEGER,           -- time spent on reading the servers' memory
    mpmstat_version   TEXT NOT NULL,
    repetition        INTEGER,           -- which of --repeat's runs, from 1; NULL one alone
    recorder_cpu_ns   INTEGER            -- CPU time of the recording itself during the load
);

-- What the load tool itself said of the whole run. Failures by kind are parts of `failed`; a
-- request may be in two of them. requests and failed are the tool's own notions.
CREATE TABLE IF NOT EXISTS client_results (
    run_id            INTEGER PRIMARY KEY REFERENCES runs(id),
    requests          INTEGER,           -- complete
    requested         INTEGER,           -- asked for
    unfinished        INTEGER,           -- asked for and never done
    abandons          INTEGER NOT NULL,  -- 1: requests in flight when its time is up go uncounted
    failed            INTEGER,
    failed_connect    INTEGER,
    failed_receive    INTEGER,
    failed_length     INTEGER,           -- complete, of another length than the first answer
    failed_other      INTEGER,
    non_2xx           INTEGER,           -- complete, with another status than 2xx
    concurrency       INTEGER,
    bytes             INTEGER,
    duration_ns       INTEGER,           -- by the tool's clock
    requests_per_1000s INTEGER,          -- its rate, in thousandths of a request a second
    mean_ns           INTEGER,           -- of a request, from the tool's own table
    p50_ns            INTEGER,
    p90_ns            INTEGER,
    p99_ns            INTEGER,
    max_ns            INTEGER,
    rows_start_step_ns INTEGER,          -- resolution of client_requests.start_ns
    rows_time_step_ns INTEGER,           -- resolution of its times
    failed_timeout    INTEGER,           -- part of failed
    time_step_ns      INTEGER,           -- resolution of mean_ns ... max_ns
    corrected         INTEGER            -- 1: the times include made-up ones, for requests that
                                         -- would have been sent had the server not been slow
);

-- A request as the client saw it, where the load tool writes rows.
CREATE TABLE IF NOT EXISTS client_requests (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    start_ns          INTEGER NOT NULL,  -- instant
    duration_ns       INTEGER NOT NULL,  -- from the start to the last byte
    connect_ns        INTEGER,           -- the part that connecting took
    wait_ns           INTEGER,           -- from the request sent to the answer's first byte
    status            INTEGER,           -- HTTP's; 0: no answer, or not all of it
    client_id         INTEGER            -- that was sent with it; NULL none, or not known
);
CREATE INDEX IF NOT EXISTS client_requests_run ON client_requests (run_id);

-- A server that was recorded: a board, or a status URL.
CREATE TABLE IF NOT EXISTS servers (
    id                INTEGER PRIMARY KEY,
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    target            TEXT NOT NULL,     -- where it was read from
    board             TEXT,              -- the board's file on the server's machine
    producer          TEXT NOT NULL,     -- 'apache', 'php'
    server            TEXT,
    mpm               TEXT,
    sapi              TEXT,
    version           TEXT,              -- mpmstat's, in the server
    pid               INTEGER,           -- of the parent
    started_ns        INTEGER,           -- instant
    local             INTEGER NOT NULL,  -- 1: its processes are to be seen in /proc here
    lost              INTEGER,           -- journal records lost; NULL: not known
    restarts          INTEGER,           -- new starts of the server during the run
    cpu_ns            INTEGER,           -- CPU time of its processes during the load, those that
                                         -- ended included
    unknown           TEXT,              -- why memory or CPU are not known
    clock_offset_ns   INTEGER,           -- its instants less this are its CLOCK_MONOTONIC; with
                                         -- it records of two boards compare exactly
    cgroup            TEXT,              -- the control group of its parent process
    memory_limit_bytes INTEGER,          -- that the group may have; NULL also: there is none
    oom_kills         INTEGER,           -- processes of the group that the kernel killed when
                                         -- memory ran out during the load
    memory_stall_ns   INTEGER,           -- time of the load in which any of them waited for memory
    throttled_ns      INTEGER            -- that their share of the CPUs being used up held them up
                                         -- during it, added up over the CPUs
);
CREATE INDEX IF NOT EXISTS servers_run ON servers (run_id);

-- A request as the server saw it: those that completed between the run's start and its end.
-- queue + read + handle + send is the total, exactly.
CREATE TABLE IF NOT EXISTS server_requests (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,  -- unique in the server
    start_ns          INTEGER NOT NULL,  -- instant: the phase `queue` began
    queue_ns          INTEGER NOT NULL,
    read_ns           INTEGER NOT NULL,
    handle_ns         INTEGER NOT NULL,
    send_ns           INTEGER NOT NULL,
    held_ns           INTEGER NOT NULL,  -- how long it kept a worker
    bytes             INTEGER,           -- of the response's body
    label             TEXT NOT NULL,     -- 'mpm-status': the status page's own requests
    status            INTEGER,           -- HTTP's
    aborted           INTEGER NOT NULL,  -- 1: the client went away first
    no_worker         INTEGER NOT NULL,  -- 1: it ran on a thread that is no worker
    pid               INTEGER,
    worker            INTEGER,           -- the worker's entry on the board
    connection        INTEGER,           -- the connection's number in its process
    port              INTEGER,           -- the client's TCP port
    nth               INTEGER,           -- which request of its connection, from 0
    request_id        INTEGER,
    ghost             INTEGER NOT NULL,  -- 1: it began before the load did: another's request
    front_ns          INTEGER,           -- from X-Request-Start to start_ns: what passed before
                                         -- Apache, in no other phase
    client_id         INTEGER            -- the id that the client sent (MPMStatTrustClientId): the
                                         -- client_requests.client_id of the same request
);
CREATE INDEX IF NOT EXISTS server_requests_server ON server_requests (server_id);

-- A request as PHP saw it: the interval that it ran, and the one before in which it waited for
-- a PHP worker. Where an Apache handed it over, request_id is its server_requests.request_id
-- (unique in one Apache's board; where there are several, the times tell).
CREATE TABLE IF NOT EXISTS php_requests (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,  -- unique in the server
    start_ns          INTEGER NOT NULL,  -- instant: PHP began with it; it was handed over
                                         -- wait_ns before
    request_id        INTEGER,           -- Apache's; NULL no Apache's
    wait_ns           INTEGER,           -- php_wait
    run_ns            INTEGER NOT NULL,  -- php_run
    user_ns           INTEGER,           -- CPU time of the worker during php_run
    system_ns         INTEGER,
    memory_bytes      INTEGER,           -- most that PHP's allocator held at once
    label             TEXT NOT NULL,
    status            INTEGER,           -- HTTP's, as PHP set it
    script            TEXT,              -- the file, cut to 63 bytes
    aborted           INTEGER NOT NULL,  -- 1: the client went away first
    fatal             INTEGER NOT NULL,  -- 1: ended by a fatal error or an uncaught exception
    timeout           INTEGER NOT NULL,  -- 1: ended by max_execution_time
    cached            INTEGER,           -- 1: OPcache had the script when it began; 0: not
    pid               INTEGER,
    worker            INTEGER,           -- the worker's entry on the board
    ghost             INTEGER NOT NULL   -- 1: it began before the load did
);
CREATE INDEX IF NOT EXISTS php_requests_server ON php_requests (server_id);
CREATE INDEX IF NOT EXISTS php_requests_id ON php_requests (request_id);

-- Steps that an application marked (mpmstat_mark()): of the request with that pid and start.
CREATE TABLE IF NOT EXISTS marks (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,  -- unique in the server
    time_ns           INTEGER NOT NULL,  -- instant
    name              TEXT,
    pid               INTEGER,
    request_start_ns  INTEGER NOT NULL   -- php_requests.start_ns
);
CREATE INDEX IF NOT EXISTS marks_server ON marks (server_id);

-- Processes that came and went, restarts, limits.
CREATE TABLE IF NOT EXISTS lifecycle (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,
    time_ns           INTEGER NOT NULL,  -- instant
    event             TEXT NOT NULL,     -- 'fork', 'exit', 'generation', 'limit', 'fork-failed'
    kind              TEXT,              -- of the process: 'child', 'request', 'helper', 'php'
    pid               INTEGER,
    parent            INTEGER,
    slot              INTEGER,           -- the MPM's child number
    generation        INTEGER,
    duration_ns       INTEGER,           -- fork: how long it took; exit: lifetime
    requests          INTEGER,           -- exit: requests served
    unfinished        INTEGER,           -- exit: requests that died with it
    reason            TEXT               -- exit: 'clean', 'signal', 'killed', 'unknown'
);
CREATE INDEX IF NOT EXISTS lifecycle_server ON lifecycle (server_id);

-- A server at a moment, ten a second. Counters are since the server's start: the difference of
-- two rows is exact, however far apart they are.
CREATE TABLE IF NOT EXISTS samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,  -- instant
    moment            TEXT NOT NULL,     -- 'before' the load, 'during', at its 'end', 'after'
    cost_ns           INTEGER,           -- how long taking the sample took
    workers_limit     INTEGER,
    workers_busy      INTEGER,
    idle              INTEGER,           -- workers in each state, now
    reading           INTEGER,
    handling          INTEGER,
    sending           INTEGER,
    keepalive         INTEGER,
    closing           INTEGER,
    idle_ns           INTEGER,           -- counters: time of all workers in each state
    reading_ns        INTEGER,
    handling_ns       INTEGER,
    sending_ns        INTEGER,
    keepalive_ns      INTEGER,
    closing_ns        INTEGER,
    connections       INTEGER,           -- open now
    in_flight         INTEGER,           -- requests, now
    accepted          INTEGER,           -- counter: connections
    shed              INTEGER,           -- counter: kept-alive connections closed early
    requests          INTEGER,           -- counter: completed, without 'mpm-status'
    status_requests   INTEGER,           -- counter: completed, 'mpm-status'
    bytes             INTEGER,           -- counter: of responses
    forks             INTEGER,           -- counter: MPM children, or PHP's workers, started
    exits             INTEGER,           -- counter: those that ended
    forks_failed      INTEGER,           -- counter
    no_idle_ns        INTEGER,           -- counter: time with all workers busy, at the limit
    generations       INTEGER,           -- counter: restarts, graceful and hard
    unfinished        INTEGER,           -- counter: requests that died with their child
    listen_queue      INTEGER,           -- connections waiting to be accepted now, at the
                                         -- fullest socket
    listen_queue_limit INTEGER           -- that may wait there
);
CREATE INDEX IF NOT EXISTS samples_server ON samples (server_id);

-- Memory (proportional set size) of one process of a server.
CREATE TABLE IF NOT EXISTS process_samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,  -- instant
    pid               INTEGER NOT NULL,
    pss_bytes         INTEGER NOT NULL,
    cost_ns           INTEGER NOT NULL   -- how long the reading took
);
CREATE INDEX IF NOT EXISTS process_samples_server ON process_samples (server_id);

-- The same, summed over all processes of the server each time round.
CREATE TABLE IF NOT EXISTS memory_samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,  -- instant: the round ended
    began_ns          INTEGER NOT NULL,  -- instant: the round began
    processes         INTEGER NOT NULL,
    pss_bytes         INTEGER NOT NULL,
    cost_ns           INTEGER NOT NULL,
    rss_bytes         INTEGER            -- resident set sizes, summed: what is shared counts in
                                         -- each process that shares it
);
CREATE INDEX IF NOT EXISTS memory_samples_server ON memory_samples (server_id);

-- The recording machine: counters since it was booted.
CREATE TABLE IF NOT EXISTS machine_samples (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    time_ns           INTEGER NOT NULL,  -- instant
    moment            TEXT NOT NULL,     -- as in samples
    busy_ns           INTEGER,           -- CPU time of all CPUs together
    total_ns          INTEGER,           -- busy and idle
    listen_overflows  INTEGER,           -- connections that found an accept queue full
    listen_drops      INTEGER,           -- and those dropped for that or another reason
    memory_stall_ns   INTEGER,           -- time during which any program had to wait for memory
    oom_kills         INTEGER,           -- processes that the kernel killed when memory ran out
    runnable          INTEGER,           -- threads that run or wait for a CPU, now
    blocked           INTEGER,           -- threads that wait for a disk, now
    cpu_stall_ns      INTEGER,           -- time during which any thread had to wait for a CPU
    context_switches  INTEGER,
    forks             INTEGER,           -- processes and threads made
    tcp_segments      INTEGER,           -- sent; these three are the network namespace's
    tcp_retransmits   INTEGER,           -- of them sent once more
    syn_retransmits   INTEGER            -- of those: connections whose begin went unanswered
);
CREATE INDEX IF NOT EXISTS machine_samples_run ON machine_samples (run_id);

-- Programs of the recording machine by the CPU time that they took during the load: the server,
-- what works behind it, and what has nothing to do with it. By name, cut to 15 bytes.
CREATE TABLE IF NOT EXISTS programs (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    program           TEXT NOT NULL,
    cpu_ns            INTEGER NOT NULL,
    PRIMARY KEY (run_id, program)
) WITHOUT ROWID;

-- Where it ran: machine, kernel, limits, versions. Names that begin with apache_ or php_ (a second
-- server's: apache2_) are a server's: _command, as its parent was started, _settings, the directives
-- of Apache's main server or the settings of php.ini, and its limits. load_tool is what the load tool
-- says of its version. Those that begin with others_ are of the lab's servers that have no board
-- (nginx), together: _pss_bytes, _rss_bytes, _processes, read when the load was over; _cpu_ns, that
-- they took during it.
CREATE TABLE IF NOT EXISTS environment (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    name              TEXT NOT NULL,
    value             TEXT,
    PRIMARY KEY (run_id, name)
) WITHOUT ROWID;

-- What the load tool printed.
CREATE TABLE IF NOT EXISTS output (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    stream            TEXT NOT NULL,     -- 'stdout', 'stderr'
    bytes             INTEGER NOT NULL,  -- that it printed
    content           BLOB NOT NULL,     -- the end of it, where it was more than is kept
    PRIMARY KEY (run_id, stream)
) WITHOUT ROWID;

-- What mpmstat had to say while it recorded: warnings, what went wrong.
CREATE TABLE IF NOT EXISTS notes (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    time_ns           INTEGER NOT NULL,  -- instant
    text              TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS notes_run ON notes (run_id);

-- A study that the lab ran: its steps are below. Both rows are there before the first step
-- begins; steps that were not reached are 'planned'.
CREATE TABLE IF NOT EXISTS studies (
    id                INTEGER PRIMARY KEY,
    name              TEXT NOT NULL,     -- 'mpm-event'
    title             TEXT NOT NULL,
    size              TEXT NOT NULL,     -- 'full', 'quick'
    seed              INTEGER NOT NULL,  -- of the order of the steps
    only              TEXT,              -- the stacks asked for, blanks between; NULL all
    directory         TEXT,              -- where the study's file was; NULL not known
    text              TEXT NOT NULL,     -- the study's file, as it was run
    started_ns        INTEGER NOT NULL,  -- instant
    ended_ns          INTEGER,           -- instant; NULL: it has not ended
    interrupted       INTEGER NOT NULL   -- how often it was interrupted, to be resumed
);

-- The files of a study's stacks and workloads, as they were when it began.
CREATE TABLE IF NOT EXISTS study_files (
    study_id          INTEGER NOT NULL REFERENCES studies(id),
    kind              TEXT NOT NULL,     -- 'stack', 'workload', 'include'
    name              TEXT NOT NULL,
    text              TEXT NOT NULL,
    PRIMARY KEY (study_id, kind, name)
) WITHOUT ROWID;

-- A step of a study: one run, or why there is none. Steps with the same runs, stack, workload
-- and parameters are repetitions of one case.
CREATE TABLE IF NOT EXISTS steps (
    id                INTEGER PRIMARY KEY,
    study_id          INTEGER NOT NULL REFERENCES studies(id),
    ordinal           INTEGER NOT NULL,  -- in which order they are run, from 1
    block             INTEGER NOT NULL,  -- from 1: a block has each case once, in random order
    repetition        INTEGER NOT NULL,  -- of its case, from 1
    start             INTEGER NOT NULL,  -- steps with the same number share a start of the servers
    runs              TEXT NOT NULL,     -- the study's section `%% runs NAME`
    stack             TEXT NOT NULL,
    workload          TEXT NOT NULL,
    load              TEXT,              -- the load tool's command, as it was run; before, with
                                         -- ${URL} in it; NULL: of a ramp not run
    parameters        TEXT NOT NULL,     -- a JSON object: the variables of the case
    state             TEXT NOT NULL,     -- 'planned', 'running', 'done', 'failed', 'skipped'
    run_id            INTEGER REFERENCES runs(id),   -- NULL: there is none
    failure           TEXT,              -- what went wrong, and the servers' last log lines; of a
                                         -- skipped one why
    page_bytes        INTEGER,           -- of the page, before the run
    started_ns        INTEGER,           -- instant
    ended_ns          INTEGER,           -- instant
    warmup_ns         INTEGER            -- how long the servers were warmed up for it
);
CREATE INDEX IF NOT EXISTS steps_study ON steps (study_id);
