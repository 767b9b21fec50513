-- schema.sql - the archive: everything that `mpmstat record` knows of every run.
--
-- The names of instants end in _ns. An instant is in nanoseconds since 1970 (UTC) by the recording
-- machine's clock. Where a server is on another machine, its clock's offset (clock_ahead_ns) has
-- been taken off, unless the uncertainty explains it. Times are in nanoseconds, sizes in bytes.
-- NULL is "not known", never 0. The rows with a run's id are the run.

PRAGMA application_id = 0x6d706d73;  -- "mpms"
PRAGMA user_version = 11;            -- the version of this schema

-- One recording. The row is written before the load begins, with complete = 0 and outcome
-- 'unfinished'. It stays so if the recording itself is killed.
CREATE TABLE IF NOT EXISTS runs (
    id                INTEGER PRIMARY KEY,
    name              TEXT,              -- --name
    command           TEXT NOT NULL,     -- as it was executed, a JSON array; []: none
    command_line      TEXT,              -- the command, quoted for a shell; NULL: none
    added             TEXT,              -- the flags in it that mpmstat added
    tool              TEXT,              -- the adapter: 'ab', 'generic'; NULL: no command
    started_ns        INTEGER NOT NULL,  -- instant: the load tool started
    ended_ns          INTEGER,           -- instant: it ended
    duration_ns       INTEGER,           -- ended - started, by the monotonic clock
    complete          INTEGER NOT NULL DEFAULT 0,   -- 1: the load tool ended by itself with
                                         -- exit status 0, and everything was recorded
    outcome           TEXT NOT NULL DEFAULT 'unfinished',   -- 'complete', 'failed' (the tool),
                                         -- 'timeout', 'interrupted', 'unfinished'
    exit_status       INTEGER,           -- of the load tool
    exit_signal       INTEGER,           -- the signal that ended it
    tool_cpu_ns       INTEGER,           -- CPU time of the load tool
    tool_threads      INTEGER,           -- number of CPUs that it can use: 1; NULL: not known
    memory_cost_ns    INTEGER,           -- time for reading the servers' memory
    mpmstat_version   TEXT NOT NULL,
    repetition        INTEGER,           -- number of the run with --repeat, from 1; NULL: single
    recorder_cpu_ns   INTEGER,           -- CPU time of the recording itself during the load
    recording         TEXT,              -- of a recording of several archives, one after the other:
                                         -- the same in each; NULL: it has one archive
    part              INTEGER,           -- number of the archive in it, from 1
    thinned_ns        INTEGER            -- instant: it was thinned; NULL: it is whole
);

-- The load tool's own results of the whole run. Failures by kind are parts of `failed`; a request
-- can be in two of them. The tool defines what counts in requests and failed.
CREATE TABLE IF NOT EXISTS client_results (
    run_id            INTEGER PRIMARY KEY REFERENCES runs(id),
    requests          INTEGER,           -- complete
    requested         INTEGER,           -- number that the command asks for
    unfinished        INTEGER,           -- requested and not complete
    abandons          INTEGER NOT NULL,  -- 1: it does not count requests in flight at its end
    failed            INTEGER,
    failed_connect    INTEGER,
    failed_receive    INTEGER,
    failed_length     INTEGER,           -- complete, with another length than the first answer
    failed_other      INTEGER,
    non_2xx           INTEGER,           -- complete, with another status than 2xx
    concurrency       INTEGER,
    bytes             INTEGER,
    duration_ns       INTEGER,           -- by the tool's clock
    requests_per_1000s INTEGER,          -- rate, in thousandths of a request per second
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
    connect_ns        INTEGER,           -- the part for connecting
    wait_ns           INTEGER,           -- from the end of the request to the answer's first byte
    status            INTEGER,           -- HTTP status; 0: no answer, or an incomplete one
    client_id         INTEGER,           -- id that was sent with it; NULL: none, or not known
    generator_id      INTEGER            -- whose file it was in; NULL: the run's load tool's
);
CREATE INDEX IF NOT EXISTS client_requests_run ON client_requests (run_id);

-- A generator of the run's load that wrote its requests into a file of its own, which was added to
-- the run. Instants of its requests are by the server's clock here: they were the generator's.
CREATE TABLE IF NOT EXISTS generators (
    id                INTEGER PRIMARY KEY,
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    name              TEXT NOT NULL,     -- of its file
    tool              TEXT NOT NULL,     -- 'k6', 'locust rows'
    file_hash         INTEGER NOT NULL,  -- of the file's content
    requests          INTEGER NOT NULL,  -- in the file, with those without an answer
    failed            INTEGER NOT NULL,  -- without an answer; by kind:
    failed_connect    INTEGER NOT NULL,
    failed_receive    INTEGER NOT NULL,
    failed_timeout    INTEGER NOT NULL,
    failed_other      INTEGER NOT NULL,
    bad_lines         INTEGER NOT NULL,  -- lines that were not rows
    first_ns          INTEGER NOT NULL,  -- instant: its first request began
    last_ns           INTEGER NOT NULL,  -- instant: its last one ended
    start_step_ns     INTEGER,           -- resolution of its instants
    clock_ahead_ns    INTEGER NOT NULL,  -- its clock minus the server's; 0 also: not known
    clock_uncertainty_ns INTEGER,        -- it is at most this far from that; NULL: not known
    fitting_milli     INTEGER,           -- thousandths of its requests that enclose one of the
                                         -- server's, by that offset
    dropped           INTEGER,           -- iterations that it could not begin when they should
    cpu_ns            INTEGER,           -- CPU time of its process, within
    cpu_wall_ns       INTEGER,           -- this time; NULL: not known
    ended             INTEGER            -- 1: it ended by itself; 0: not; NULL: not known
);
CREATE INDEX IF NOT EXISTS generators_run ON generators (run_id);

-- A server that was recorded: a board, or a status URL.
CREATE TABLE IF NOT EXISTS servers (
    id                INTEGER PRIMARY KEY,
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    target            TEXT NOT NULL,     -- board or URL that it was read from
    board             TEXT,              -- the board's file on the server's machine
    producer          TEXT NOT NULL,     -- 'apache', 'php'
    server            TEXT,
    mpm               TEXT,
    sapi              TEXT,
    version           TEXT,              -- version of mpmstat in the server
    pid               INTEGER,           -- process id of the parent
    started_ns        INTEGER,           -- instant
    local             INTEGER NOT NULL,  -- 1: its processes are in /proc of this machine
    lost              INTEGER,           -- journal records lost; NULL: not known
    restarts          INTEGER,           -- starts of the server during the run
    cpu_ns            INTEGER,           -- CPU time of its processes during the load, including
                                         -- those that ended
    unknown           TEXT,              -- why memory or CPU time is not known
    clock_offset_ns   INTEGER,           -- an instant minus this is the server's CLOCK_MONOTONIC,
                                         -- with which records of two boards compare exactly
    cgroup            TEXT,              -- the control group of its parent process
    memory_limit_bytes INTEGER,          -- limit of the group; NULL also: there is no limit
    oom_kills         INTEGER,           -- processes of the group that the kernel killed during the
                                         -- load because memory ran out
    memory_stall_ns   INTEGER,           -- time of the load in which any process of its group
                                         -- waited for memory; NULL also: it is in no group of
                                         -- version 2 but the root
    throttled_ns      INTEGER,           -- time of the load in which the group's CPU limit stopped
                                         -- its processes, summed over the CPUs
    name              TEXT,              -- its name in the file of targets
    clock_ahead_ns    INTEGER,           -- its clock minus the recording machine's, can be negative;
                                         -- NULL: it is on this machine, or not known
    clock_uncertainty_ns INTEGER,        -- it is at most this far from that
    config_file       TEXT,              -- the file of configuration with which it began; NULL: its
                                         -- files could not be read
    config_check      TEXT,              -- a command that tests them; NULL: not known
    listens           TEXT               -- the addresses at which it listens, separated by blanks;
                                         -- NULL: not known
);
CREATE INDEX IF NOT EXISTS servers_run ON servers (run_id);

-- What a server's files of configuration say of its workers and queues, when its recording began:
-- of each setting the place that is in force. What is not here stands in no file.
CREATE TABLE IF NOT EXISTS settings (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    section           TEXT,              -- FPM's pool, or 'global'; NULL: Apache has none
    name              TEXT NOT NULL,     -- 'pm.max_children', 'MaxRequestWorkers'
    value             TEXT,              -- NULL: which of several is in force is not known
    file              TEXT NOT NULL,
    line              INTEGER NOT NULL   -- in the file, from 1
);
CREATE INDEX IF NOT EXISTS settings_server ON settings (server_id);

-- A request as the server saw it, if it completed between the run's start and its end.
-- queue + read + handle + send is exactly the total.
CREATE TABLE IF NOT EXISTS server_requests (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,  -- unique in the server
    start_ns          INTEGER NOT NULL,  -- instant: the phase `queue` began
    queue_ns          INTEGER NOT NULL,
    read_ns           INTEGER NOT NULL,
    handle_ns         INTEGER NOT NULL,
    send_ns           INTEGER NOT NULL,
    held_ns           INTEGER NOT NULL,  -- time during which it kept a worker
    bytes             INTEGER,           -- bytes of the response's body
    label             TEXT NOT NULL,     -- 'mpm-status': the status page's own requests
    status            INTEGER,           -- HTTP status
    aborted           INTEGER NOT NULL,  -- 1: the client went away first
    no_worker         INTEGER NOT NULL,  -- 1: it ran on a thread that is not a worker
    pid               INTEGER,
    worker            INTEGER,           -- the worker's entry on the board
    connection        INTEGER,           -- the connection's number in its process
    port              INTEGER,           -- the client's TCP port
    nth               INTEGER,           -- number of the request on its connection, from 0
    request_id        INTEGER,
    ghost             INTEGER NOT NULL,  -- 1: it was in flight before the load began
    front_ns          INTEGER,           -- from X-Request-Start to start_ns: the time before
                                         -- Apache, which no other phase includes
    client_id         INTEGER,           -- the id that the client sent (MPMStatTrustClientId): the
                                         -- client_requests.client_id of the same request
    tls_ns            INTEGER,           -- intervals: parts of the phases; 0: there was none. In
                                         -- read: the handshake; a connection's first request only
    h2_wait_ns        INTEGER,           -- in queue: the wait for an HTTP/2 worker
    checks_ns         INTEGER,           -- in handle: until the handler is called
    upload_ns         INTEGER,           -- in handle: blocked in reading the request's body
    backend_ns        INTEGER,           -- in handle: from the hand-over to a backend to its first
                                         -- byte
    send_client_ns    INTEGER,           -- in send: the client read too slowly. NULL, as the next
                                         -- two: sending was too short to ask the kernel
    send_network_ns   INTEGER,           -- in send: the network had the data
    send_server_ns    INTEGER,           -- in send: the server had nothing to send
    undelivered_ns    INTEGER,           -- after send, until the client had all; NULL: it had all,
                                         -- or when it had is not known
    undelivered_bytes INTEGER,           -- bytes that the client did not have at the end of send;
                                         -- NULL: none, or not known
    log_ns            INTEGER,           -- after send: logging
    handler           TEXT,              -- what the request was handed to
    backend           TEXT,              -- NULL: none
    trace_id          TEXT,              -- of its header traceparent (MPMStatTraceContext), 32 hex
                                         -- digits; NULL: none, or not known
    parent_span       TEXT,              -- the client's span in that trace, 16 hex digits
    sampled           INTEGER,           -- 1: the client asks for the trace to be kept
    weight            INTEGER NOT NULL DEFAULT 1,  -- number of requests that the row stands for;
                                         -- more than 1 in a thinned archive only
    path              TEXT               -- without query, numbers as {n}; NULL: not recorded
                                         -- (MPMStatPaths)
);
CREATE INDEX IF NOT EXISTS server_requests_id ON server_requests (server_id, request_id);

-- A request as PHP saw it: the time that it ran, and the time before in which it waited for a PHP
-- worker. Where an Apache handed it over, request_id is its server_requests.request_id. That id is
-- unique on one Apache's board; with several Apaches, the times decide.
CREATE TABLE IF NOT EXISTS php_requests (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,  -- unique in the server
    start_ns          INTEGER NOT NULL,  -- instant: PHP began with it; the hand-over was wait_ns
                                         -- before
    request_id        INTEGER,           -- Apache's id; NULL: not from an Apache
    wait_ns           INTEGER,           -- php_wait
    run_ns            INTEGER NOT NULL,  -- php_run
    user_ns           INTEGER,           -- CPU time of the worker during php_run
    system_ns         INTEGER,
    memory_bytes      INTEGER,           -- maximum that PHP's allocator gave out at once
    label             TEXT NOT NULL,
    status            INTEGER,           -- HTTP status, as PHP set it
    script            TEXT,              -- the file, cut to 63 bytes
    aborted           INTEGER NOT NULL,  -- 1: the client went away first
    fatal             INTEGER NOT NULL,  -- 1: ended by a fatal error or an uncaught exception
    timeout           INTEGER NOT NULL,  -- 1: ended by max_execution_time
    cached            INTEGER,           -- 1: OPcache had the script when it began; 0: not
    pid               INTEGER,
    worker            INTEGER,           -- the worker's entry on the board
    ghost             INTEGER NOT NULL,  -- 1: it was in flight before the load began
    cpu_wait_ns       INTEGER,           -- ready to run, without a CPU
    waits_ns          INTEGER,           -- all waits of php_waits together; NULL: not measured.
                                         -- run = user + system + cpu_wait + waits + the rest
    weight            INTEGER NOT NULL DEFAULT 1,  -- as in server_requests
    compile_ns        INTEGER,           -- of user_ns and system_ns: compiling scripts that OPcache
                                         -- did not have
    gc_ns             INTEGER            -- of the same, without compile_ns: collecting garbage
);
CREATE INDEX IF NOT EXISTS php_requests_server ON php_requests (server_id);
CREATE INDEX IF NOT EXISTS php_requests_id ON php_requests (request_id);

-- What a request waited for in PHP: the two other ends that took longest, and of each kind the
-- rest.
CREATE TABLE IF NOT EXISTS php_waits (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,  -- php_requests.key
    kind              TEXT NOT NULL,     -- 'database', 'cache', 'http', 'lock', 'file', 'process',
                                         -- 'dns', 'mail', 'sleep', 'stream'
    end               TEXT,              -- the other end; NULL: all others of the kind
    calls             INTEGER,           -- NULL where the end is
    failed            INTEGER,           -- those of them that failed
    wait_ns           INTEGER NOT NULL,  -- without the CPU time and the wait for a CPU in it
    stack             INTEGER,           -- stacks.stack: from where most of it was called; NULL,
                                         -- as the next ones: not known
    frame             INTEGER,           -- frames.frame: of the stack, the function of the
                                         -- application's own code
    stack_calls       INTEGER,           -- how many of `calls` were from there
    stack_ns          INTEGER            -- and how much of wait_ns
);
CREATE INDEX IF NOT EXISTS php_waits_request ON php_waits (server_id, key);

-- Calls of each other end during the run, of all requests together.
CREATE TABLE IF NOT EXISTS ends (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    kind              TEXT NOT NULL,     -- 'handler', 'backend', or a kind of php_waits
    end               TEXT NOT NULL,     -- 'other': those for which the board had no room
    calls             INTEGER,
    failed            INTEGER,
    end_ns            INTEGER,           -- time of the calls: divided by the duration of the run,
                                         -- how many were made at once on average
    connect_ns        INTEGER            -- of end_ns, calls that connect; NULL: not known
);
CREATE INDEX IF NOT EXISTS ends_server ON ends (server_id);

-- Steps that an application marked with mpmstat_mark(), of the request with that pid and start.
CREATE TABLE IF NOT EXISTS marks (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,  -- unique in the server
    time_ns           INTEGER NOT NULL,  -- instant
    name              TEXT,
    pid               INTEGER,
    request_start_ns  INTEGER NOT NULL   -- php_requests.start_ns
);
CREATE INDEX IF NOT EXISTS marks_server ON marks (server_id);

-- Functions of PHP's code. The same one can be there twice, with two ids.
CREATE TABLE IF NOT EXISTS frames (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    frame             INTEGER NOT NULL,  -- its id in the server
    function          TEXT,              -- 'strlen', 'Repository->find', '{main}'
    file              TEXT,              -- NULL: a function of PHP itself
    line              INTEGER            -- of the file; NULL: not known, or a function of PHP itself
);
CREATE INDEX IF NOT EXISTS frames_server ON frames (server_id, frame);

-- Call stacks of PHP's code: the innermost function, and the stack that called it.
CREATE TABLE IF NOT EXISTS stacks (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    stack             INTEGER NOT NULL,  -- its id in the server
    caller            INTEGER,           -- stacks.stack; NULL: none
    frame             INTEGER NOT NULL   -- frames.frame
);
CREATE INDEX IF NOT EXISTS stacks_server ON stacks (server_id, stack);

-- Where PHP's code was: as often in a second of CPU time as mpmstat.profile says; and for what it
-- waited there, where waits are known by place: as often in a second of waiting as a hundred times,
-- or seldomer with more weight, as requests end.
CREATE TABLE IF NOT EXISTS php_samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,  -- unique in the server
    time_ns           INTEGER NOT NULL,  -- instant
    request_start_ns  INTEGER NOT NULL,  -- php_requests.start_ns
    pid               INTEGER,
    stack             INTEGER NOT NULL,  -- stacks.stack
    kind              TEXT NOT NULL,     -- 'cpu', or a kind of php_waits
    weight_ns         INTEGER NOT NULL   -- of CPU time or waiting, for which the sample stands
);
CREATE INDEX IF NOT EXISTS php_samples_server ON php_samples (server_id);

-- PHP's OPcache: before the load, and each time that its state or its scripts had changed.
CREATE TABLE IF NOT EXISTS opcache (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,  -- instant
    state             TEXT NOT NULL,     -- 'off', 'on', 'full', 'restarting'
    used_bytes        INTEGER,           -- NULL, as all that follow: it is off
    wasted_bytes      INTEGER,           -- of scripts that have changed since
    limit_bytes       INTEGER,
    scripts           INTEGER,           -- that it holds
    keys              INTEGER,           -- names under which it finds them
    keys_limit        INTEGER,
    hits              INTEGER,           -- since it started
    misses            INTEGER,
    restarts          INTEGER            -- since PHP started
);
CREATE INDEX IF NOT EXISTS opcache_server ON opcache (server_id);

-- Starts and ends of processes, restarts, limits.
CREATE TABLE IF NOT EXISTS lifecycle (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,
    time_ns           INTEGER NOT NULL,  -- instant
    event             TEXT NOT NULL,     -- 'fork', 'exit', 'generation', 'limit', 'fork-failed',
                                         -- 'stopped': the server's parent; it was stopped then
                                         -- (reason 'clean'), or ended after that (key 0)
    kind              TEXT,              -- of the process: 'child', 'request', 'helper', 'php'
    pid               INTEGER,
    parent            INTEGER,
    slot              INTEGER,           -- the MPM's child number
    generation        INTEGER,
    duration_ns       INTEGER,           -- fork: how long it took; exit: lifetime
    requests          INTEGER,           -- exit: requests served
    unfinished        INTEGER,           -- exit: requests in flight when it ended
    reason            TEXT               -- exit: 'clean', 'signal', 'killed', 'unknown'
);
CREATE INDEX IF NOT EXISTS lifecycle_server ON lifecycle (server_id);

-- A server at one moment, ten times a second; once in a recording of several archives. Counters
-- count from the server's start: the difference of two rows is exact, however far apart they are.
CREATE TABLE IF NOT EXISTS samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,  -- instant
    moment            TEXT NOT NULL,     -- 'before' the load, 'during', at its 'end', 'after'
    cost_ns           INTEGER,           -- time for taking the sample
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
    connections       INTEGER,           -- open now; of an FPM those that its workers have taken
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
    unfinished        INTEGER,           -- counter: requests in flight when their child ended
    listen_queue      INTEGER,           -- connections waiting to be accepted now, at the
                                         -- fullest socket
    listen_queue_limit INTEGER,          -- limit of that socket's queue
    logging           INTEGER,           -- workers in this state, now
    logging_ns        INTEGER,           -- counter: time of all workers in it
    group_cpu_ns      INTEGER,           -- counter: CPU time of the control group that limits the
                                         -- parent process, with all groups below it
    group_cpu_limit_milli INTEGER,       -- thousandths of a CPU; NULL also: there is no limit
    group_throttled_ns INTEGER,          -- counter: time for which that limit stopped processes
    group_memory_bytes INTEGER,          -- of the control group that limits the memory
    group_memory_limit_bytes INTEGER,    -- NULL also: there is no limit
    group_io_stall_ns INTEGER,           -- counter: time during which any process of the parent
                                         -- process's own group waited for a disk; NULL also: it
                                         -- is in no group of version 2 but the root
    listen_address    TEXT,              -- of the fullest socket: with several pools of one FPM,
                                         -- it tells whose queue it is
    http2_workers_limit INTEGER,         -- threads that mod_http2 can have in each child; NULL:
                                         -- there is no mod_http2
    http2_workers_busy INTEGER,          -- those that work on streams now, in the child that has
                                         -- most of them
    listen_pool       TEXT,              -- the FPM pool of listen_address, by its label
    weight            INTEGER NOT NULL DEFAULT 1   -- number of samples that the row stands for
);
CREATE INDEX IF NOT EXISTS samples_server ON samples (server_id);

-- A pool of FPM's at one moment, with each sample of its server.
CREATE TABLE IF NOT EXISTS pool_samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,  -- instant: samples.time_ns
    moment            TEXT NOT NULL,     -- as in samples
    label             TEXT NOT NULL,     -- the pool's label; several pools can share it
    workers_limit     INTEGER NOT NULL,  -- pm.max_children
    workers_busy      INTEGER,           -- requests of that label in flight, now
    limit_reached     INTEGER,           -- counter: how often all of its workers were busy
    weight            INTEGER NOT NULL DEFAULT 1   -- as in samples
);
CREATE INDEX IF NOT EXISTS pool_samples_server ON pool_samples (server_id);

-- Local TCP ports of the recording machine in use towards one address, about once a second, for
-- addresses with a hundredth of all ports or more: towards a backend of the server, or from the load
-- tool to the server. Of the recorder's network namespace.
CREATE TABLE IF NOT EXISTS port_samples (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    time_ns           INTEGER NOT NULL,  -- instant
    remote            TEXT NOT NULL,     -- '127.0.0.1:9000', '[::1]:3306'
    ports             INTEGER NOT NULL,  -- connections, those in TIME_WAIT included
    ports_limit       INTEGER NOT NULL   -- ports in net.ipv4.ip_local_port_range
);
CREATE INDEX IF NOT EXISTS port_samples_run ON port_samples (run_id);

-- Memory (proportional set size) and open files of one process of a server.
CREATE TABLE IF NOT EXISTS process_samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,  -- instant
    pid               INTEGER NOT NULL,
    pss_bytes         INTEGER NOT NULL,
    cost_ns           INTEGER NOT NULL,  -- time for reading it
    files             INTEGER,           -- descriptors that it had open
    files_limit       INTEGER,           -- how many it may have
    state             TEXT               -- as the round began: 'S' sleeping, 'T' stopped, 'D' waiting
                                         -- uninterruptibly, ... (proc(5)); NULL: not known
);
CREATE INDEX IF NOT EXISTS process_samples_server ON process_samples (server_id);

-- Memory of all processes of a server together, once for each round of readings.
CREATE TABLE IF NOT EXISTS memory_samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,  -- instant: the round ended
    began_ns          INTEGER NOT NULL,  -- instant: the round began
    processes         INTEGER NOT NULL,
    pss_bytes         INTEGER NOT NULL,
    cost_ns           INTEGER NOT NULL,
    rss_bytes         INTEGER,           -- sum of resident set sizes: a shared page counts in each
                                         -- process that shares it
    weight            INTEGER NOT NULL DEFAULT 1   -- as in samples
);
CREATE INDEX IF NOT EXISTS memory_samples_server ON memory_samples (server_id);

-- The recording machine. Counters count from its boot.
CREATE TABLE IF NOT EXISTS machine_samples (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    time_ns           INTEGER NOT NULL,  -- instant
    moment            TEXT NOT NULL,     -- as in samples
    busy_ns           INTEGER,           -- CPU time of all CPUs together, or of those that the
                                         -- servers may use (environment: servers_cpus)
    total_ns          INTEGER,           -- busy and idle
    listen_overflows  INTEGER,           -- connections that found an accept queue full
    listen_drops      INTEGER,           -- connections dropped for that or another reason
    memory_stall_ns   INTEGER,           -- time during which any program had to wait for memory
    oom_kills         INTEGER,           -- processes that the kernel killed because memory ran out
    runnable          INTEGER,           -- threads that run or wait for a CPU, now
    blocked           INTEGER,           -- threads that wait for a disk, now
    cpu_stall_ns      INTEGER,           -- time during which any thread had to wait for a CPU
    context_switches  INTEGER,
    forks             INTEGER,           -- processes and threads made
    tcp_segments      INTEGER,           -- segments sent; these three cover the network namespace
    tcp_retransmits   INTEGER,           -- segments sent again
    syn_retransmits   INTEGER,           -- of these, SYNs of connections without an answer
    io_stall_ns       INTEGER,           -- time during which any thread had to wait for a disk
    stolen_ns         INTEGER,           -- of busy_ns, what the hypervisor gave to other machines
    memory_available  INTEGER            -- bytes that programs can have without swapping, now
);
CREATE INDEX IF NOT EXISTS machine_samples_run ON machine_samples (run_id);

-- CPU time and disks of the recording machine's programs during the load, by name and owner:
-- processes of one name can be of several owners. The name is cut to 15 bytes. 'processes that
-- cannot be seen from here' is what no process of /proc took, where that is a tenth of all or more:
-- another pid namespace's.
CREATE TABLE IF NOT EXISTS programs (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    program           TEXT NOT NULL,
    cpu_ns            INTEGER NOT NULL,
    owner             TEXT,              -- 'server' (processes of the recorded servers, and of the
                                         -- local backends that they called), 'tool' (the load
                                         -- tool), 'recorder', 'other', 'unseen'
    disk_bytes        INTEGER            -- that its processes caused to be read from and written to
                                         -- disks (/proc/PID/io); NULL: one of them could not be read
);
CREATE INDEX IF NOT EXISTS programs_run ON programs (run_id);

-- The environment of the run: machine, kernel, limits, versions. Names that begin with apache_ or
-- php_ (for a second server: apache2_) describe a server: _command is its parent's command line,
-- _settings are the directives of Apache's main server or the settings of php.ini; others are its
-- limits. load_tool is the version that the load tool prints. Names that begin with others_
-- describe the lab's servers without a board (nginx), all together: _pss_bytes, _rss_bytes and
-- _processes after the load, and _cpu_ns during the load.
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
    bytes             INTEGER NOT NULL,  -- number of bytes that it printed
    content           BLOB NOT NULL,     -- the output, or the end of a long one
    PRIMARY KEY (run_id, stream)
) WITHOUT ROWID;

-- What `mpmstat record` found in the run, the strongest first: as JSON's "findings". `mpmstat report`
-- finds anew, from the rows of this archive.
CREATE TABLE IF NOT EXISTS findings (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    rank              INTEGER NOT NULL,  -- from 1
    code              TEXT NOT NULL,     -- docs/reference/findings.md
    certainty         TEXT NOT NULL,     -- 'certain', 'likely', 'cannot-tell'
    subject           TEXT,              -- NULL: the server
    share_milli       INTEGER,           -- thousandths
    requests          INTEGER,
    text              TEXT NOT NULL,
    action            TEXT,
    predicted         TEXT,
    caused_by         TEXT,              -- code of the finding that it follows from; NULL: of none
    caused_by_subject TEXT,              -- and its subject
    PRIMARY KEY (run_id, rank)
) WITHOUT ROWID;

-- What a simulation of the run predicts for a change: of the advice that `mpmstat record` gave, and
-- of what `mpmstat whatif --keep` was asked. `mpmstat compare` sets beside it what a run with that
-- change brought. A change has a row for each measure that is predicted.
CREATE TABLE IF NOT EXISTS predictions (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    number            INTEGER NOT NULL,  -- of the change, from 1
    code              TEXT NOT NULL,     -- the finding that advises it; 'whatif': a user named it
    clients           INTEGER,           -- of the load with the change: they wait for answers; NULL:
                                         -- requests come by themselves
    load_per_1000s    INTEGER,           -- then: requests that come, in thousandths a second
    by_client         INTEGER NOT NULL,  -- 1: times are the load tool's; 0: the server's
    measure           TEXT NOT NULL,     -- 'requests_per_1000s' (the rate, in thousandths of a
                                         -- request per second), 'p50_ns', 'p95_ns'
    predicted         INTEGER NOT NULL,
    low               INTEGER NOT NULL,  -- 90 % of the recordings of the changed server are
    high              INTEGER NOT NULL,  -- between these two
    PRIMARY KEY (run_id, number, measure)
) WITHOUT ROWID;

-- The settings that a predicted change has other than the run. A change of the load alone has none.
CREATE TABLE IF NOT EXISTS predicted_settings (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    number            INTEGER NOT NULL,  -- predictions.number
    section           TEXT,              -- FPM's pool; NULL: Apache has none
    name              TEXT NOT NULL,     -- 'pm.max_children', 'MaxRequestWorkers'
    value             TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS predicted_settings_run ON predicted_settings (run_id);

-- Messages of mpmstat during the recording: warnings and errors.
CREATE TABLE IF NOT EXISTS notes (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    time_ns           INTEGER NOT NULL,  -- instant
    text              TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS notes_run ON notes (run_id);

-- A study that the lab ran. This row and the rows of its steps are written before the first step
-- begins; steps that were not reached are 'planned'.
CREATE TABLE IF NOT EXISTS studies (
    id                INTEGER PRIMARY KEY,
    name              TEXT NOT NULL,     -- 'mpm-event'
    title             TEXT NOT NULL,
    size              TEXT NOT NULL,     -- 'full', 'quick'
    seed              INTEGER NOT NULL,  -- seed of the order of the steps
    only              TEXT,              -- selected stacks, separated by blanks; NULL: all
    directory         TEXT,              -- directory of the study's file; NULL: not known
    text              TEXT NOT NULL,     -- the study's file, as it was run
    started_ns        INTEGER NOT NULL,  -- instant
    ended_ns          INTEGER,           -- instant; NULL: it has not ended
    interrupted       INTEGER NOT NULL   -- how often it was interrupted and continued
);

-- The files of a study's stacks and workloads, as they were when it began.
CREATE TABLE IF NOT EXISTS study_files (
    study_id          INTEGER NOT NULL REFERENCES studies(id),
    kind              TEXT NOT NULL,     -- 'stack', 'workload', 'include'
    name              TEXT NOT NULL,
    text              TEXT NOT NULL,
    PRIMARY KEY (study_id, kind, name)
) WITHOUT ROWID;

-- A step of a study: one run, or the reason why there is none. Steps with the same runs, stack,
-- workload and parameters are repetitions of one case.
CREATE TABLE IF NOT EXISTS steps (
    id                INTEGER PRIMARY KEY,
    study_id          INTEGER NOT NULL REFERENCES studies(id),
    ordinal           INTEGER NOT NULL,  -- position in the order of steps, from 1
    block             INTEGER NOT NULL,  -- from 1: a block has each case once, in random order
    repetition        INTEGER NOT NULL,  -- number of the repetition of its case, from 1
    start             INTEGER NOT NULL,  -- steps with the same number share a start of the servers
    runs              TEXT NOT NULL,     -- the study's section `%% runs NAME`
    stack             TEXT NOT NULL,
    workload          TEXT NOT NULL,
    load              TEXT,              -- the load tool's command; before the step it contains
                                         -- ${URL}; NULL: a ramp that has not run
    parameters        TEXT NOT NULL,     -- a JSON object: the variables of the case
    state             TEXT NOT NULL,     -- 'planned', 'running', 'done', 'failed', 'skipped'
    run_id            INTEGER REFERENCES runs(id),   -- NULL: there is no run
    failure           TEXT,              -- the error, and the servers' last log lines; for a
                                         -- skipped step the reason
    page_bytes        INTEGER,           -- length of the page before the run
    started_ns        INTEGER,           -- instant
    ended_ns          INTEGER,           -- instant
    warmup_ns         INTEGER            -- duration of the servers' warm-up for it
);
CREATE INDEX IF NOT EXISTS steps_study ON steps (study_id);
