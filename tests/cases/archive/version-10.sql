CREATE TABLE runs (
    id                INTEGER PRIMARY KEY,
    name              TEXT,
    command           TEXT NOT NULL,
    command_line      TEXT,
    added             TEXT,
    tool              TEXT,
    started_ns        INTEGER NOT NULL,
    ended_ns          INTEGER,
    duration_ns       INTEGER,
    complete          INTEGER NOT NULL DEFAULT 0,
    outcome           TEXT NOT NULL DEFAULT 'unfinished',
    exit_status       INTEGER,
    exit_signal       INTEGER,
    tool_cpu_ns       INTEGER,
    tool_threads      INTEGER,
    memory_cost_ns    INTEGER,
    mpmstat_version   TEXT NOT NULL,
    repetition        INTEGER,
    recorder_cpu_ns   INTEGER,
    recording         TEXT,
    part              INTEGER,
    thinned_ns        INTEGER
);
CREATE TABLE client_results (
    run_id            INTEGER PRIMARY KEY REFERENCES runs(id),
    requests          INTEGER,
    requested         INTEGER,
    unfinished        INTEGER,
    abandons          INTEGER NOT NULL,
    failed            INTEGER,
    failed_connect    INTEGER,
    failed_receive    INTEGER,
    failed_length     INTEGER,
    failed_other      INTEGER,
    non_2xx           INTEGER,
    concurrency       INTEGER,
    bytes             INTEGER,
    duration_ns       INTEGER,
    requests_per_1000s INTEGER,
    mean_ns           INTEGER,
    p50_ns            INTEGER,
    p90_ns            INTEGER,
    p99_ns            INTEGER,
    max_ns            INTEGER,
    rows_start_step_ns INTEGER,
    rows_time_step_ns INTEGER,
    failed_timeout    INTEGER,
    time_step_ns      INTEGER,
    corrected         INTEGER
);
CREATE TABLE client_requests (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    start_ns          INTEGER NOT NULL,
    duration_ns       INTEGER NOT NULL,
    connect_ns        INTEGER,
    wait_ns           INTEGER,
    status            INTEGER,
    client_id         INTEGER,
    generator_id      INTEGER
);
CREATE INDEX client_requests_run ON client_requests (run_id);
CREATE TABLE generators (
    id                INTEGER PRIMARY KEY,
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    name              TEXT NOT NULL,
    tool              TEXT NOT NULL,
    file_hash         INTEGER NOT NULL,
    requests          INTEGER NOT NULL,
    failed            INTEGER NOT NULL,
    failed_connect    INTEGER NOT NULL,
    failed_receive    INTEGER NOT NULL,
    failed_timeout    INTEGER NOT NULL,
    failed_other      INTEGER NOT NULL,
    bad_lines         INTEGER NOT NULL,
    first_ns          INTEGER NOT NULL,
    last_ns           INTEGER NOT NULL,
    start_step_ns     INTEGER,
    clock_ahead_ns    INTEGER NOT NULL,
    clock_uncertainty_ns INTEGER,
    fitting_milli     INTEGER,
    dropped           INTEGER,
    cpu_ns            INTEGER,
    cpu_wall_ns       INTEGER,
    ended             INTEGER
);
CREATE INDEX generators_run ON generators (run_id);
CREATE TABLE servers (
    id                INTEGER PRIMARY KEY,
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    target            TEXT NOT NULL,
    board             TEXT,
    producer          TEXT NOT NULL,
    server            TEXT,
    mpm               TEXT,
    sapi              TEXT,
    version           TEXT,
    pid               INTEGER,
    started_ns        INTEGER,
    local             INTEGER NOT NULL,
    lost              INTEGER,
    restarts          INTEGER,
    cpu_ns            INTEGER,
    unknown           TEXT,
    clock_offset_ns   INTEGER,
    cgroup            TEXT,
    memory_limit_bytes INTEGER,
    oom_kills         INTEGER,
    memory_stall_ns   INTEGER,
    throttled_ns      INTEGER,
    name              TEXT,
    clock_ahead_ns    INTEGER,
    clock_uncertainty_ns INTEGER,
    config_file       TEXT,
    config_check      TEXT,
    listens           TEXT
);
CREATE INDEX servers_run ON servers (run_id);
CREATE TABLE settings (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    section           TEXT,
    name              TEXT NOT NULL,
    value             TEXT,
    file              TEXT NOT NULL,
    line              INTEGER NOT NULL
);
CREATE INDEX settings_server ON settings (server_id);
CREATE TABLE server_requests (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,
    start_ns          INTEGER NOT NULL,
    queue_ns          INTEGER NOT NULL,
    read_ns           INTEGER NOT NULL,
    handle_ns         INTEGER NOT NULL,
    send_ns           INTEGER NOT NULL,
    held_ns           INTEGER NOT NULL,
    bytes             INTEGER,
    label             TEXT NOT NULL,
    status            INTEGER,
    aborted           INTEGER NOT NULL,
    no_worker         INTEGER NOT NULL,
    pid               INTEGER,
    worker            INTEGER,
    connection        INTEGER,
    port              INTEGER,
    nth               INTEGER,
    request_id        INTEGER,
    ghost             INTEGER NOT NULL,
    front_ns          INTEGER,
    client_id         INTEGER,
    tls_ns            INTEGER,
    h2_wait_ns        INTEGER,
    checks_ns         INTEGER,
    upload_ns         INTEGER,
    backend_ns        INTEGER,
    send_client_ns    INTEGER,
    send_network_ns   INTEGER,
    send_server_ns    INTEGER,
    undelivered_ns    INTEGER,
    undelivered_bytes INTEGER,
    log_ns            INTEGER,
    handler           TEXT,
    backend           TEXT,
    trace_id          TEXT,
    parent_span       TEXT,
    sampled           INTEGER,
    weight            INTEGER NOT NULL DEFAULT 1,
    path              TEXT
);
CREATE INDEX server_requests_id ON server_requests (server_id, request_id);
CREATE TABLE php_requests (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,
    start_ns          INTEGER NOT NULL,
    request_id        INTEGER,
    wait_ns           INTEGER,
    run_ns            INTEGER NOT NULL,
    user_ns           INTEGER,
    system_ns         INTEGER,
    memory_bytes      INTEGER,
    label             TEXT NOT NULL,
    status            INTEGER,
    script            TEXT,
    aborted           INTEGER NOT NULL,
    fatal             INTEGER NOT NULL,
    timeout           INTEGER NOT NULL,
    cached            INTEGER,
    pid               INTEGER,
    worker            INTEGER,
    ghost             INTEGER NOT NULL,
    cpu_wait_ns       INTEGER,
    waits_ns          INTEGER,
    weight            INTEGER NOT NULL DEFAULT 1,
    compile_ns        INTEGER,
    gc_ns             INTEGER
);
CREATE INDEX php_requests_server ON php_requests (server_id);
CREATE INDEX php_requests_id ON php_requests (request_id);
CREATE TABLE php_waits (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,
    kind              TEXT NOT NULL,
    end               TEXT,
    calls             INTEGER,
    failed            INTEGER,
    wait_ns           INTEGER NOT NULL,
    stack             INTEGER,
    frame             INTEGER,
    stack_calls       INTEGER,
    stack_ns          INTEGER
);
CREATE INDEX php_waits_request ON php_waits (server_id, key);
CREATE TABLE ends (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    kind              TEXT NOT NULL,
    end               TEXT NOT NULL,
    calls             INTEGER,
    failed            INTEGER,
    end_ns            INTEGER,
    connect_ns        INTEGER
);
CREATE INDEX ends_server ON ends (server_id);
CREATE TABLE marks (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,
    time_ns           INTEGER NOT NULL,
    name              TEXT,
    pid               INTEGER,
    request_start_ns  INTEGER NOT NULL
);
CREATE INDEX marks_server ON marks (server_id);
CREATE TABLE frames (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    frame             INTEGER NOT NULL,
    function          TEXT,
    file              TEXT,
    line              INTEGER
);
CREATE INDEX frames_server ON frames (server_id, frame);
CREATE TABLE stacks (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    stack             INTEGER NOT NULL,
    caller            INTEGER,
    frame             INTEGER NOT NULL
);
CREATE INDEX stacks_server ON stacks (server_id, stack);
CREATE TABLE php_samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,
    time_ns           INTEGER NOT NULL,
    request_start_ns  INTEGER NOT NULL,
    pid               INTEGER,
    stack             INTEGER NOT NULL,
    kind              TEXT NOT NULL,
    weight_ns         INTEGER NOT NULL
);
CREATE INDEX php_samples_server ON php_samples (server_id);
CREATE TABLE opcache (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,
    state             TEXT NOT NULL,
    used_bytes        INTEGER,
    wasted_bytes      INTEGER,
    limit_bytes       INTEGER,
    scripts           INTEGER,
    keys              INTEGER,
    keys_limit        INTEGER,
    hits              INTEGER,
    misses            INTEGER,
    restarts          INTEGER
);
CREATE INDEX opcache_server ON opcache (server_id);
CREATE TABLE lifecycle (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    key               INTEGER NOT NULL,
    time_ns           INTEGER NOT NULL,
    event             TEXT NOT NULL,
    kind              TEXT,
    pid               INTEGER,
    parent            INTEGER,
    slot              INTEGER,
    generation        INTEGER,
    duration_ns       INTEGER,
    requests          INTEGER,
    unfinished        INTEGER,
    reason            TEXT
);
CREATE INDEX lifecycle_server ON lifecycle (server_id);
CREATE TABLE samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,
    moment            TEXT NOT NULL,
    cost_ns           INTEGER,
    workers_limit     INTEGER,
    workers_busy      INTEGER,
    idle              INTEGER,
    reading           INTEGER,
    handling          INTEGER,
    sending           INTEGER,
    keepalive         INTEGER,
    closing           INTEGER,
    idle_ns           INTEGER,
    reading_ns        INTEGER,
    handling_ns       INTEGER,
    sending_ns        INTEGER,
    keepalive_ns      INTEGER,
    closing_ns        INTEGER,
    connections       INTEGER,
    in_flight         INTEGER,
    accepted          INTEGER,
    shed              INTEGER,
    requests          INTEGER,
    status_requests   INTEGER,
    bytes             INTEGER,
    forks             INTEGER,
    exits             INTEGER,
    forks_failed      INTEGER,
    no_idle_ns        INTEGER,
    generations       INTEGER,
    unfinished        INTEGER,
    listen_queue      INTEGER,
    listen_queue_limit INTEGER,
    logging           INTEGER,
    logging_ns        INTEGER,
    group_cpu_ns      INTEGER,
    group_cpu_limit_milli INTEGER,
    group_throttled_ns INTEGER,
    group_memory_bytes INTEGER,
    group_memory_limit_bytes INTEGER,
    group_io_stall_ns INTEGER,
    listen_address    TEXT,
    http2_workers_limit INTEGER,
    http2_workers_busy INTEGER,
    listen_pool       TEXT,
    weight            INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX samples_server ON samples (server_id);
CREATE TABLE pool_samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,
    moment            TEXT NOT NULL,
    label             TEXT NOT NULL,
    workers_limit     INTEGER NOT NULL,
    workers_busy      INTEGER,
    limit_reached     INTEGER,
    weight            INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX pool_samples_server ON pool_samples (server_id);
CREATE TABLE port_samples (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    time_ns           INTEGER NOT NULL,
    remote            TEXT NOT NULL,
    ports             INTEGER NOT NULL,
    ports_limit       INTEGER NOT NULL
);
CREATE INDEX port_samples_run ON port_samples (run_id);
CREATE TABLE process_samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,
    pid               INTEGER NOT NULL,
    pss_bytes         INTEGER NOT NULL,
    cost_ns           INTEGER NOT NULL,
    files             INTEGER,
    files_limit       INTEGER,
    state             TEXT
);
CREATE INDEX process_samples_server ON process_samples (server_id);
CREATE TABLE memory_samples (
    server_id         INTEGER NOT NULL REFERENCES servers(id),
    time_ns           INTEGER NOT NULL,
    began_ns          INTEGER NOT NULL,
    processes         INTEGER NOT NULL,
    pss_bytes         INTEGER NOT NULL,
    cost_ns           INTEGER NOT NULL,
    rss_bytes         INTEGER,
    weight            INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX memory_samples_server ON memory_samples (server_id);
CREATE TABLE machine_samples (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    time_ns           INTEGER NOT NULL,
    moment            TEXT NOT NULL,
    busy_ns           INTEGER,
    total_ns          INTEGER,
    listen_overflows  INTEGER,
    listen_drops      INTEGER,
    memory_stall_ns   INTEGER,
    oom_kills         INTEGER,
    runnable          INTEGER,
    blocked           INTEGER,
    cpu_stall_ns      INTEGER,
    context_switches  INTEGER,
    forks             INTEGER,
    tcp_segments      INTEGER,
    tcp_retransmits   INTEGER,
    syn_retransmits   INTEGER,
    io_stall_ns       INTEGER,
    stolen_ns         INTEGER,
    memory_available  INTEGER
);
CREATE INDEX machine_samples_run ON machine_samples (run_id);
CREATE TABLE programs (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    program           TEXT NOT NULL,
    cpu_ns            INTEGER NOT NULL,
    owner             TEXT,
    disk_bytes        INTEGER
);
CREATE INDEX programs_run ON programs (run_id);
CREATE TABLE environment (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    name              TEXT NOT NULL,
    value             TEXT,
    PRIMARY KEY (run_id, name)
) WITHOUT ROWID;
CREATE TABLE output (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    stream            TEXT NOT NULL,
    bytes             INTEGER NOT NULL,
    content           BLOB NOT NULL,
    PRIMARY KEY (run_id, stream)
) WITHOUT ROWID;
CREATE TABLE findings (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    rank              INTEGER NOT NULL,
    code              TEXT NOT NULL,
    certainty         TEXT NOT NULL,
    subject           TEXT,
    share_milli       INTEGER,
    requests          INTEGER,
    text              TEXT NOT NULL,
    action            TEXT,
    predicted         TEXT,
    caused_by         TEXT,
    caused_by_subject TEXT,
    PRIMARY KEY (run_id, rank)
) WITHOUT ROWID;
CREATE TABLE notes (
    run_id            INTEGER NOT NULL REFERENCES runs(id),
    time_ns           INTEGER NOT NULL,
    text              TEXT NOT NULL
);
CREATE INDEX notes_run ON notes (run_id);
CREATE TABLE studies (
    id                INTEGER PRIMARY KEY,
    name              TEXT NOT NULL,
    title             TEXT NOT NULL,
    size              TEXT NOT NULL,
    seed              INTEGER NOT NULL,
    only              TEXT,
    directory         TEXT,
    text              TEXT NOT NULL,
    started_ns        INTEGER NOT NULL,
    ended_ns          INTEGER,
    interrupted       INTEGER NOT NULL
);
CREATE TABLE study_files (
    study_id          INTEGER NOT NULL REFERENCES studies(id),
    kind              TEXT NOT NULL,
    name              TEXT NOT NULL,
    text              TEXT NOT NULL,
    PRIMARY KEY (study_id, kind, name)
) WITHOUT ROWID;
CREATE TABLE steps (
    id                INTEGER PRIMARY KEY,
    study_id          INTEGER NOT NULL REFERENCES studies(id),
    ordinal           INTEGER NOT NULL,
    block             INTEGER NOT NULL,
    repetition        INTEGER NOT NULL,
    start             INTEGER NOT NULL,
    runs              TEXT NOT NULL,
    stack             TEXT NOT NULL,
    workload          TEXT NOT NULL,
    load              TEXT,
    parameters        TEXT NOT NULL,
    state             TEXT NOT NULL,
    run_id            INTEGER REFERENCES runs(id),
    failure           TEXT,
    page_bytes        INTEGER,
    started_ns        INTEGER,
    ended_ns          INTEGER,
    warmup_ns         INTEGER
);
CREATE INDEX steps_study ON steps (study_id);
INSERT INTO runs (id, name, command, command_line, tool, started_ns, ended_ns, duration_ns, complete, outcome, exit_status, tool_cpu_ns, tool_threads, memory_cost_ns, mpmstat_version, recorder_cpu_ns)
    VALUES (1, 'old', '["ab", "http://127.0.0.1/"]', 'ab http://127.0.0.1/', 'ab', 1700000000000000000, 1700000004000000000, 4000000000, 1, 'complete', 0, 100000000, 1, 0, '0.1.0', 5000000);
INSERT INTO client_results (run_id, requests, requested, unfinished, abandons, failed, failed_connect, failed_receive, failed_length, failed_other, non_2xx, concurrency, bytes, duration_ns, requests_per_1000s, mean_ns, p50_ns, p90_ns, p99_ns, max_ns, rows_start_step_ns, rows_time_step_ns, failed_timeout, time_step_ns, corrected)
    VALUES (1, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1000, 4000000000, 500, 9000000, 9000000, 9000000, 9000000, 9000000, 1000000000, 1000000, 0, 1000000, 0);
INSERT INTO client_requests (run_id, start_ns, duration_ns, connect_ns, wait_ns, status)
    VALUES (1, 1700000001000000000, 9000000, 0, 8000000, 200);
INSERT INTO client_requests (run_id, start_ns, duration_ns, connect_ns, wait_ns, status)
    VALUES (1, 1700000002000000000, 9000000, 0, 8000000, 200);
INSERT INTO servers (id, run_id, target, board, producer, server, mpm, version, pid, started_ns, local, lost, restarts, cpu_ns, clock_offset_ns)
    VALUES (1, 1, 'x.board', 'x.board', 'apache', 'Apache/2.4', 'event', '0.1.0', 7, 1600000000000000000, 1, 0, 0, 5000000, 1600000000000000000);
INSERT INTO server_requests (server_id, key, start_ns, queue_ns, read_ns, handle_ns, send_ns, held_ns, bytes, label, status, aborted, no_worker, pid, connection, port, nth, request_id, ghost)
    VALUES (1, 1, 1700000001000000000, 1, 2, 3, 4, 5, 6, 'site', 200, 0, 0, 11, 12, 13, 14, 77, 0);
INSERT INTO server_requests (server_id, key, start_ns, queue_ns, read_ns, handle_ns, send_ns, held_ns, bytes, label, status, aborted, no_worker, pid, connection, port, nth, request_id, ghost)
    VALUES (1, 2, 1700000002000000000, 1, 2, 3, 4, 5, 6, 'site', 200, 0, 0, 11, 12, 13, 15, 78, 0);
INSERT INTO lifecycle (server_id, key, time_ns, event, pid, parent, slot, generation, duration_ns, requests, unfinished, reason)
    VALUES (1, 1, 1700000001000000000, 'exit', 12, 7, 0, 0, 9, 2, 0, 'clean');
INSERT INTO memory_samples (server_id, time_ns, began_ns, processes, pss_bytes, cost_ns)
    VALUES (1, 1700000001000000000, 1700000001000000000, 3, 30000000, 1000);
INSERT INTO machine_samples (run_id, time_ns, moment, busy_ns, total_ns, listen_overflows, listen_drops, memory_stall_ns, oom_kills)
    VALUES (1, 1700000001000000000, 'before', 0, 0, 7, 7, 5, 3);
PRAGMA application_id = 1836084595;
PRAGMA user_version = 10;
