// report.js - the charts of the report's page, from the JSON in it (data.c writes that), and the
// sorting of its tables. Everything that can be read without charts is there as HTML already; this
// adds figures, each with a legend that shows the values under the cursor, and a table behind it.
(function () {
"use strict";

const {
    data, scaled, asTime, asCount, asRate, asShare, asBytes, short, make, colour, figure,
    fillLegend, group, zoomTools, clock, announce, listen, drawCursor, drawPicked, lineChart,
    barChart, largest, needsLog, AXIS_WIDTH, PLOT_RIGHT, RUN_COLOURS, RUN_DASHES,
} = mpmstat;
const HEAT_ROWS_PER_DECADE = 16; // as series_requests.c cuts them
const HEAT_UNIT = 1e-6;

// ---- points from the tables ---------------------------------------------------------------

function binned(side, column, scale) {
    const values = side.over_time[column] || [], width = side.bin_seconds;
    return values.map((y, i) => ({ from: i * width, to: (i + 1) * width,
                                   y: y === null ? null : y * (scale || 1) }));
}
function spans(table, column, scale) {
    return (table[column] || []).map((y, i) => ({ from: Math.max(0, table.t0[i]), to: table.t1[i],
                                                  y: y === null ? null : y * (scale || 1) }))
        .filter(p => p.to > 0);
}
function anything(table, column) { return (table[column] || []).some(value => value > 0); }

const STATES = ["handling", "sending", "reading", "keepalive", "closing", "logging", "idle"];
const STATE_COLOURS = { handling: "handle", sending: "send", reading: "read",
                        keepalive: "keepalive", closing: "closing", logging: "upload",
                        idle: "idle" };
const NAMES = { apache: "Apache", php: "PHP" };
// A column of the server's parts, in the bins of over_time.
function ofParts(server, column) {
    const values = server.parts[column] || [];
    return binned(server, "t").map((point, i) => (
        { ...point, y: values[i] === undefined ? null : values[i] }));
}

function labelOf(part) { return `${part.name}: ${part.noun}`; }

// The parts that any request had, each as an area on those before it.
function areas(server, parts) {
    return parts.filter(part => anything(server.parts, part.name)).map(part => (
        { label: labelOf(part), colour: part.colour, fill: true, stack: true, step: true,
          points: ofParts(server, part.name) }));
}

function front(run) {
    const apaches = run.servers.filter(s => s.producer === "apache");
    return (apaches.length > 0 ? apaches : run.servers)
        .reduce((a, b) => a && a.requests >= b.requests ? a : b, null);
}

// ---- one run over time --------------------------------------------------------------------

function drawWorkersOverTime(parent, server, together, several) {
    const table = server.occupancy;
    const limit = spans(table, "limit");
    lineChart(parent, {
        title: several ? `What ${NAMES[server.producer]}'s workers did` : "What the workers did",
        about: "The mean number of workers in each state between two readings: exact, from the " +
            "time that each worker adds up itself. The line is the limit.",
        format: asCount, to: together.seconds, height: "tall", whole: true,
        suggestedMax: largest(limit) * 1.05,
        series: [
            ...STATES.map(state => ({ label: state, colour: STATE_COLOURS[state], fill: true,
                                      stack: true, step: true, points: spans(table, state) }))
                .filter(s => largest(s.points) > 0.0005),
            { label: "limit", colour: "limit", dash: [6, 4], step: true, points: limit },
        ],
    }, together);
}

// It had no request and no busy worker: its charts would be empty. One that is stuck had workers.
function wasIdle(server) {
    return server.requests === 0 && STATES.every(state => state === "idle" ||
        largest(spans(server.occupancy, state)) < 0.0005);
}

function drawLatency(parent, run, server, together) {
    const s = column => server.requests > 0 ? binned(server, column) : [];
    const c = column => run.client ? binned(run.client, column) : [];
    const lists = [s("p50"), s("p99"), s("max"), c("p50"), c("p99")];
    const wide = run.client && run.client.bin_seconds > server.bin_seconds;
    lineChart(parent, {
        title: "Latency", height: "tall", log: needsLog(lists), format: asTime,
        to: together.seconds,
        about: "Of the requests that ended then, as the server timed them and as the client did." +
            (wide ? ` The client's are over ${asTime(run.client.bin_seconds)}: its clock for the ` +
             `start of a request ticks every ${asTime(run.client.start_step)}.` : ""),
        series: [
            { label: "server p50", colour: "handle", points: s("p50") },
            { label: "server p99", colour: "queue", points: s("p99") },
            { label: "server max", colour: "queue", width: 1, dash: [2, 3], points: s("max") },
            { label: "client p50", colour: "client", width: 1.5, dash: [7, 4], step: wide,
              points: c("p50") },
            { label: "client p99", colour: "client", width: 1.5, dash: [2, 3], step: wide,
              points: c("p99") },
        ],
    }, together);
}

function drawThroughput(parent, run, server, together) {
    const per = 1 / server.bin_seconds;
    const failed = binned(server, "completed").map((p, i) => ({ ...p,
        y: (server.over_time["5xx"][i] + server.over_time.aborted[i]) * per }));
    const completed = binned(server, "completed", per), arrived = binned(server, "started", per);
    const apart = largest(arrived) > 3 * largest(completed);   // it would flatten the other
    const arrivals = { label: "arrived", colour: "client", width: 1, dash: [3, 3],
                       points: arrived };
    if (apart)
        lineChart(parent, {
            title: "Arrivals", height: "low", format: asRate, to: together.seconds,
            about: "Requests that began, per second.", series: [arrivals],
        }, together);
    lineChart(parent, {
        title: "Throughput", format: asRate, to: together.seconds,
        about: `Requests${apart ? "" : " begun and"} completed, per second, in bins of ` +
            `${asTime(server.bin_seconds)}.`,
        series: [
            { label: "completed", colour: "handle", points: completed },
            ...(apart ? [] : [arrivals]),
            ...(largest(failed) > 0 ? [{ label: "5xx or aborted", colour: "bad", fill: true,
                                         step: true, points: failed }] : []),
        ],
    }, together);
}

function drawBreakdown(parent, server, together) {
    lineChart(parent, {
        title: "Where a request's time went", height: "tall", format: asTime, to: together.seconds,
        about: "The mean time in each part, of the requests that ended then. The parts add up to " +
            "the mean latency, exactly.",
        series: areas(server, partsOfRequest),
    }, together);
}

// A PHP behind the server: what its workers did, how long requests waited for one, and ran.
function drawPhp(parent, server, together) {
    drawWorkersOverTime(parent, server, together, true);
    if (server.requests === 0) return;
    lineChart(parent, {
        title: "PHP's share", format: asTime, to: together.seconds,
        about: "Of the requests that PHP ended then: waiting for a PHP worker, and running, on " +
            "average; and the slowest hundredth of both together.",
        series: [
            { label: "waited", colour: "php_wait", fill: true, stack: true, step: true,
              points: binned(server, "php_wait") },
            ...areas(server, partsOfRequest.filter(part => part.within === "PHP_RUN")),
            { label: "p99", colour: "client", width: 1.5, points: binned(server, "p99") },
        ],
    }, together);
}

function drawQueue(parent, run, server, together) {
    const table = server.occupancy;
    const waiting = spans(table, "listen_queue_max");
    lineChart(parent, {
        title: "Accept queue", height: "low", whole: true, format: asCount, to: together.seconds,
        suggestedMax: 1,
        about: "Connections that the kernel held because nobody accepted them yet: the most that " +
            "was seen" + (anything(table, "listen_queue_limit")
            ? `; the queue has room for ${Math.max(...table.listen_queue_limit)}.` : "."),
        series: [
            { label: "waiting", colour: "queue", fill: true, step: true, points: waiting },
            ...(anything(run.machine, "listen_overflows") ? [{
                label: "found it full (machine)", colour: "limit", step: true,
                points: spans(run.machine, "listen_overflows") }] : []),
        ],
    }, together);
}

function drawMachine(parent, run, together) {
    lineChart(parent, {
        title: "CPUs of the machine", height: "low", format: asShare, to: together.seconds,
        suggestedMax: 1,
        about: "All programs together, the load tool's part too where it runs here.",
        series: [{ label: "busy", colour: "php_run", fill: true, step: true,
                   points: spans(run.machine, "cpu_busy") }],
    }, together);
}

// ---- limits over time: only where something came near to one -----------------------------

const NEAR = 0.5;      // of its limit
const STALLED = 0.05;  // of the time

// A table with a row for each bin that has a sample.
function sampled(table, column, run) {
    return (table[column] || []).map((y, i) => ({ from: table.t[i], y,
                                                  to: table.t[i] + run.bin_seconds }));
}
function isNear(table, used, limit) {
    return (table[used] || []).some((y, i) => y !== null && table[limit][i] > 0 &&
                                    y >= NEAR * table[limit][i]);
}
function drawLimit(parent, spec, used, limit, together) {
    lineChart(parent, {
        height: "low", to: together.seconds, suggestedMax: largest(limit) * 1.05, ...spec,
        series: [{ label: spec.used, colour: spec.colour, fill: true, step: true, points: used },
                 ...(largest(limit) > 0 ? [{ label: "limit", colour: "limit", dash: [6, 4],
                                             step: true, points: limit }] : [])],
    }, together);
}

function drawPools(parent, run, server, together) {
    lineChart(parent, {
        title: "Pools of PHP-FPM", format: asShare, to: together.seconds, suggestedMax: 1,
        about: "Busy workers of each pool as a share of its limit, pm.max_children: the most " +
            `that was seen in each ${asTime(run.bin_seconds)}.`,
        series: server.pools.map(({ pool, samples }, i) => ({
            label: `${pool}, limit ${Math.max(...samples.limit)}`, step: true,
            colour: RUN_COLOURS[i % RUN_COLOURS.length],
            dash: RUN_DASHES[Math.floor(i / RUN_COLOURS.length) % RUN_DASHES.length],
            points: sampled(samples, "busy_max", run).map((p, row) => ({
                ...p, y: p.y === null || !samples.limit[row] ? null
                                                             : p.y / samples.limit[row] })),
        })),
    }, together);
}

function drawLimits(parent, run, server, together, several) {
    const whose = several ? `: ${NAMES[server.producer]}` : "";
    const { group: cgroup, files } = server;
    if (server.pools.length > 0) drawPools(parent, run, server, together);
    if (isNear(cgroup, "cpus", "cpus_limit") || anything(cgroup, "throttled"))
        drawLimit(parent, {
            title: `CPU time of the control group${whose}`, format: asCount, used: "CPUs used",
            colour: "php_run", about: "Of all processes in the group that limits the server.",
        }, spans(cgroup, "cpus"), spans(cgroup, "cpus_limit"), together);
    if (isNear(cgroup, "memory_bytes", "memory_limit_bytes"))
        drawLimit(parent, {
            title: `Memory of the control group${whose}`, format: asBytes, used: "used",
            colour: "php_run", about: "Of all processes in the group that limits the server, the " +
                "page cache included.",
        }, spans(cgroup, "memory_bytes"), spans(cgroup, "memory_limit_bytes"), together);
    if (isNear(files, "files", "limit"))
        drawLimit(parent, {
            title: `Open files${whose}`, format: asCount, whole: true, used: "open",
            colour: "queue", about: "Of the process that was nearest to its limit.",
        }, sampled(files, "files", run), sampled(files, "limit", run), together);
    if ((cgroup.io_stall || []).some(y => y >= STALLED))
        drawLimit(parent, {
            title: `Waiting for a disk${whose}`, format: asShare, used: "any process waited",
            colour: "wait", suggestedMax: 1,
            about: "Share of the time in which a process of the server's control group waited " +
                "for a disk.",
        }, spans(cgroup, "io_stall"), [], together);
}

function drawMachineLimits(parent, run, together) {
    for (const { remote, limit, samples } of run.ports) {
        const used = sampled(samples, "ports", run);
        drawLimit(parent, {
            title: `Local ports towards ${remote}`, format: asCount, whole: true, used: "in use",
            colour: "queue", about: "Connections of this machine, those in TIME_WAIT included.",
        }, used, used.map(p => ({ ...p, y: limit })), together);
    }
    if ((run.machine.io_stall || []).some(y => y >= STALLED))
        drawLimit(parent, {
            title: "Waiting for a disk (machine)", format: asShare, used: "any program waited",
            colour: "wait", suggestedMax: 1,
            about: "Share of the time in which any program waited for a disk.",
        }, spans(run.machine, "io_stall"), [], together);
}

// Events are counted in bins; as steps they add up from 0.
function cumulative(table, column, run) {
    let sum = 0;
    const points = [], width = run.bin_seconds;
    for (let bin = 0, row = 0; bin < run.bins; bin++) {
        while (row < table.t.length && Math.round(table.t[row] / width) <= bin)
            sum += table[column][row++];
        points.push({ from: bin * width, to: (bin + 1) * width, y: sum });
    }
    return points;
}

function drawProcesses(parent, run, server, together) {
    const table = server.lifecycle;
    const kinds = [["children", "children forked", "handle"],
                   ["php", "PHP workers forked", "php_run"],
                   ["requests", "forks for one request", "php_wait"],
                   ["helpers", "helpers forked", "keepalive"],
                   ["exits", "ended", "queue"], ["crashes", "of these by a signal", "limit"]];
    const series = kinds.filter(([column]) => anything(table, column)).map(
        ([column, label, name]) => ({ label, colour: name, step: true,
                                      points: cumulative(table, column, run) }));
    const m = server.memory;
    if (series.length > 0 && m.t.length > 0)
        series.push({ label: "processes alive, when their memory was read", colour: "client",
                      dots: true, points: m.t.map((t, i) => ({
                          from: t, to: i + 1 < m.t.length ? m.t[i + 1] : t, y: m.processes[i] }))
                          .filter(p => p.from >= 0) });
    lineChart(parent, {
        title: "Processes", format: asCount, whole: true, to: together.seconds, series,
        about: "Forks and exits since the start of the load, added up.",
    }, together);
}

// What went wrong, and what ran out: only where there is something.
function drawErrors(parent, run, server, together) {
    const life = server.lifecycle;
    const classes = [["4xx", "4xx", "php_wait"], ["5xx", "5xx", "bad"],
                     ["aborted", "aborted by the client", "closing"]];
    const events = [["limits", "workers ran out", "limit"], ["crashes", "children crashed", "bad"],
                    ["forks_failed", "forks refused", "queue"],
                    ["generations", "restarts", "client"]];
    const series = [
        ...classes.filter(([column]) => anything(server.over_time, column)).map(
            ([column, label, name]) => ({ label, colour: name, fill: true, stack: true, step: true,
                                          points: binned(server, column) })),
        ...events.filter(([column]) => anything(life, column)).map(([column, label, name]) => ({
            label, colour: name, dots: true, points: life.t.map((t, i) => ({
                from: t, to: t + run.bin_seconds, y: life[column][i] || null })) })),
    ];
    lineChart(parent, {
        title: "Errors, and limits reached", height: "low", format: asCount, whole: true,
        to: together.seconds, suggestedMax: 2, series,
        about: `Requests in each ${asTime(server.bin_seconds)}, events in each ` +
            `${asTime(run.bin_seconds)}.`,
    }, together);
}

function drawHeatmap(parent, side, who, together) {
    const table = side.heatmap, rows = table.row;
    if (rows.length === 0) return;
    const low = Math.min(...rows), high = Math.max(...rows) + 1, most = Math.max(...table.requests);
    const edge = row => HEAT_UNIT * Math.pow(10, row / HEAT_ROWS_PER_DECADE);
    const scale = { low, high, most, edge, row: null };   // row: under the pointer
    const range = row => `${row === 0 ? "0" : asTime(edge(row))} to ${asTime(edge(row + 1))}`;
    const member = { at: () => 0, show() {}, readout: () => "", zoom() {} };
    const cells = new Map(), columns = new Map();
    table.requests.forEach((n, i) => {
        const bin = table.bin[i];
        cells.set(`${bin} ${rows[i]}`, n);
        columns.set(bin, (columns.get(bin) || 0) + n);
    });
    const spec = {
        title: `Latency of all requests (${who})`, height: "tall",
        about: "Each cell counts the requests that ended then after that time; the strongest has " +
            `${asCount(most)}. Two groups one above the other are two kinds of request.`,
        columns: ["from", "latency from", "latency to", "requests"],
        rows: () => rows.map((row, i) => [scaled(table.bin[i] * side.bin_seconds, " s"),
            row === 0 ? "0" : asTime(edge(row)), asTime(edge(row + 1)),
            asCount(table.requests[i])]),
    };
    spec.label = `${spec.title}: from ${asTime(edge(low))} to ${asTime(edge(high))}. Arrow keys ` +
        "move the cursor, + and - zoom, 0 shows all.";
    const counts = x => {
        const bin = Math.floor(x / side.bin_seconds);
        return [columns.get(bin) || 0, scale.row === null ? null
            : cells.get(`${bin} ${scale.row}`) || 0];
    };
    spec.paint = figure => {
        const [output] = fillLegend(figure, [{ label: "requests", colour: "hot", fill: true }]);
        const inCell = make("output");
        figure.legend.append(make("li", {}, inCell));
        const paint = x => paintHeatmap(figure, side, scale, together, x);
        const resized = new ResizeObserver(() => paint(together.x));
        const area = paint(together.x);
        resized.observe(figure.plot);
        member.at = pixel => {
            const width = figure.plot.clientWidth - AXIS_WIDTH - PLOT_RIGHT;
            return together.from +
                (pixel - AXIS_WIDTH) / width * (together.to - together.from);
        };
        member.show = x => {
            const [all, cell] = x === null ? [null, null] : counts(x);
            output.textContent = all === null ? "" : asCount(all);
            inCell.textContent = cell === null ? ""
                : `${asCount(cell)} of them took ${range(scale.row)}`;
            paint(x);
        };
        member.zoom = () => paint(together.x);
        return { area, destroy() {
            resized.disconnect();
            member.show = member.zoom = () => {};
        } };
    };
    const made = figure(parent, spec);
    together.members.push(member);
    member.readout = x => {
        const [all, cell] = counts(x);
        return `${scaled(x, " s")}: ${all} requests` +
            (cell === null ? "" : `, ${cell} of them took ${range(scale.row)}`);
    };
    listenToRows(made, scale, together, member);
    listen(together, made.canvas, member);
}

// The row of the heat map that the pointer is in, or that the arrows up and down choose.
function listenToRows(made, scale, together, member) {
    const { canvas } = made;
    canvas.addEventListener("pointermove", event => {
        const { top, bottom } = heatArea(made, together);
        const y = event.clientY - canvas.getBoundingClientRect().top;
        const row = scale.low + Math.floor((bottom - y) / (bottom - top) *
                                           (scale.high - scale.low));
        scale.row = row >= scale.low && row < scale.high ? row : null;
    });
    canvas.addEventListener("pointerleave", () => { scale.row = null; });
    canvas.addEventListener("keydown", event => {
        const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        const row = scale.row === null ? scale.low - (by < 0 ? 0 : 1) : scale.row;
        scale.row = Math.min(Math.max(row + by, scale.low), scale.high - 1);
        const x = together.x === null ? together.from : together.x;
        together.move(x);
        announce(member.readout(x));
    });
}

function heatArea(figure, together) {
    return { left: AXIS_WIDTH, right: figure.plot.clientWidth - PLOT_RIGHT, top: 6,
             bottom: figure.plot.clientHeight - (together.started === null ? 24 : 38) };
}

function paintHeatmap(figure, side, scale, together, x) {
    const context = figure.canvas.getContext("2d"), dense = window.devicePixelRatio || 1;
    const width = figure.plot.clientWidth, height = figure.plot.clientHeight;
    const area = heatArea(figure, together);
    const table = side.heatmap, rows = scale.high - scale.low;
    const atX = t => area.left + (t - together.from) / (together.to - together.from) *
        (area.right - area.left);
    const atY = row => area.bottom - (row - scale.low) / rows * (area.bottom - area.top);
    figure.canvas.width = Math.round(width * dense);
    figure.canvas.height = Math.round(height * dense);
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.fillStyle = colour("cool");
    context.fillRect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    context.fillStyle = colour("hot");
    for (let i = 0; i < table.bin.length; i++) {
        const from = Math.max(area.left, atX(table.bin[i] * side.bin_seconds));
        const to = Math.min(area.right, atX((table.bin[i] + 1) * side.bin_seconds));
        if (to < area.left || from > area.right) continue;
        const top = atY(table.row[i] + 1);
        context.globalAlpha = 0.14 + 0.86 * Math.log1p(table.requests[i]) / Math.log1p(scale.most);
        context.fillRect(from, top, Math.max(1, to - from), atY(table.row[i]) - top);
    }
    context.globalAlpha = 1;
    labelHeatmap(context, area, scale, together, atX, atY);
    if (x !== null) drawCursor(context, atX(x), area);
    drawPicked(context, together, atX, area);
    return area;
}

function labelHeatmap(context, area, scale, together, atX, atY) {
    const span = together.to - together.from;
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000]
        .find(s => span / s <= Math.max(2, (area.right - area.left) / 90)) || span;
    const decades = (scale.high - scale.low) / HEAT_ROWS_PER_DECADE;
    const marks = decades < 1.5 ? HEAT_ROWS_PER_DECADE / 4 : HEAT_ROWS_PER_DECADE;
    context.fillStyle = colour("quiet");
    context.strokeStyle = colour("line");
    context.font = `11px ${Chart.defaults.font.family}`;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (let n = Math.ceil(together.from / step - 1e-9); n * step <= together.to + 1e-9; n++) {
        context.fillText(short(v => scaled(v, " s"))(n * step), atX(n * step), area.bottom + 7);
        if (together.started !== null)
            context.fillText(clock(together.started + n * step * 1000, step < 1), atX(n * step),
                             area.bottom + 20);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let row = Math.ceil(scale.low / marks) * marks; row <= scale.high; row += marks)
        context.fillText(short(asTime)(scale.edge(row)), area.left - 8, atY(row));
}

// ---- distributions ------------------------------------------------------------------------

function spectrumPoints(side) {
    const { quantile, seconds } = side.spectrum;
    const place = q => q >= 1 ? Math.log10(Math.max(side.requests, 1)) : Math.log10(1 / (1 - q));
    return quantile.map((q, i) => ({ from: place(q), to: place(q), y: seconds[i] }));
}
function quantileTicks(to) {
    return [0, Math.log10(2), 1, 2, 3, 4, 5, 6].filter(x => x <= to + 1e-9)
        .map(value => ({ value }));
}
function quantileName(x) {
    if (x <= 0) return "min";
    const q = 100 * (1 - Math.pow(10, -x));
    return q < 99.9 ? "p" + Number(q.toPrecision(3)) : "p" + Number(q.toFixed(Math.ceil(x - 1)));
}

function spectrumChart(parent, title, about, list) {
    const all = list.map(s => s.points).filter(points => points.length > 0);
    const to = Math.max(...all.map(points => points[points.length - 1].from));
    if (all.length === 0) return;
    lineChart(parent, {
        title, about, format: asTime, to, height: "tall", log: needsLog(all),
        xName: "quantile", xText: quantileName,
        ticks: quantileTicks(to), xFormat: quantileName, series: list,
    }, group(to, 0.05));
}

function drawSpectrum(parent, run, server) {
    const list = [];
    if (server.requests > 0)
        list.push({ label: "server", colour: "handle", points: spectrumPoints(server) });
    if (run.client)
        list.push({ label: "client", colour: "client", dash: [7, 4],
                    points: spectrumPoints(run.client) });
    if (list.length === 0) return;
    spectrumChart(parent, "Percentiles", "How long the requests took, the slowest towards the " +
        "right: each step is ten times rarer. Of every request.", list);
    if (list.length === 2) drawDifference(parent, list);
}

// Of sorted times, not of single requests: which belongs to which is not known here.
function drawDifference(parent, [server, client]) {
    const points = client.points.filter(p => server.points.some(s => s.from === p.from)).map(p => ({
        ...p, y: p.y - server.points.find(s => s.from === p.from).y }));
    if (points.length < 2) return;
    lineChart(parent, {
        title: "Client minus server", format: asTime, to: points[points.length - 1].from,
        about: "At each percentile, what the client saw beyond the server's own time: " +
            "connecting, the network, retransmissions, the load tool.",
        xName: "quantile", xText: quantileName,
        ticks: quantileTicks(points[points.length - 1].from), xFormat: quantileName,
        series: [{ label: "client − server", colour: "client", points }],
    }, group(points[points.length - 1].from, 0.05));
}

// ---- workers, memory, statuses ------------------------------------------------------------

function drawWorkerEvenness(parent, run, server) {
    const held = server.workers.held.slice().sort((a, b) => b - a);
    if (held.length < 2 || !run.seconds) return;
    const most = 120, every = Math.ceil(held.length / most);
    const shown = held.filter((_, i) => i % every === 0).map(h => h / run.seconds);
    barChart(parent, {
        title: "How evenly the workers worked", xName: "worker", format: asShare, suggestedMax: 1,
        about: `Share of the run that each of the ${held.length} workers which got a request was ` +
            "held by one, the busiest first" + (every > 1 ? `; every ${every}th is shown.` : "."),
        names: shown.map((_, i) => String(1 + i * every)),
        lists: [{ label: "held by a request", colour: "handle", values: shown }],
    });
}

function drawMemory(parent, server, several) {
    const m = server.memory;
    if (m.t.length === 0) return;
    const counts = [...new Set(m.processes)];
    if (counts.length >= 3) {
        lineChart(parent, {
            title: `Memory by number of processes${several ? ": " + NAMES[server.producer] : ""}`,
            format: asBytes, xName: "processes",
            xText: asCount, xFormat: asCount, from: Math.min(...counts) - 1,
            to: Math.max(...counts) + 1,
            about: "PSS: shared pages are divided among those that share them, so that the sum " +
                "is what the server takes. The slope is what one more process costs.",
            series: [{ label: "PSS of all processes", colour: "php_run", dots: true,
                       points: m.processes.map((n, i) => ({ from: n, to: n,
                                                            y: m.pss_bytes[i] })) }],
        });
        return;
    }
    lineChart(parent, {
        title: `Memory${several ? ": " + NAMES[server.producer] : ""}`, format: asBytes,
        to: Math.max(...m.t, 0.1),
        about: `PSS of the server's ${counts.join(" or ")} processes together: shared pages ` +
            "counted once.",
        series: [{ label: "PSS", colour: "php_run", points: m.t.map((t, i) => ({
            from: Math.max(0, t), to: Math.max(0, t), y: m.pss_bytes[i] })) }],
    });
}

function drawStatuses(parent, server) {
    const { status, requests } = server.statuses;
    if (status.length === 0 || (status.length === 1 && status[0] === 200)) return;
    barChart(parent, {
        title: "Answers by status", xName: "status", format: asCount, sideways: true,
        height: "low", names: status.map(s => s === null ? "none" : String(s)),
        lists: [{ label: "requests", colour: "handle", values: requests }],
    });
}

// ---- runs over each other -----------------------------------------------------------------

const RUNS_OVERLAID = 16;

// A name has one colour and one entry in the legend, which hides all of its repetitions.
function overlaid(pick) {
    const named = new Set();
    return data.runs.slice(0, RUNS_OVERLAID).map(run => {
        const again = named.has(run.group);
        named.add(run.group);
        return {
            label: run.title, family: run.group, unlisted: again, width: again ? 1 : 2,
            colour: RUN_COLOURS[run.group % RUN_COLOURS.length],
            dash: RUN_DASHES[Math.floor(run.group / RUN_COLOURS.length) % RUN_DASHES.length],
            points: front(run) ? pick(run, front(run)) : [],
        };
    });
}

// The mean of a part in a run's summary.
function meanOf(part) {
    return summary => {
        const server = summary.servers.find(s => s.producer === "apache" && s.requests > 0) ||
            summary.servers.find(s => s.requests > 0);
        if (!server) return null;
        return server.parts[part.name] ? server.parts[part.name].mean_seconds : 0;
    };
}

function drawCompared(parent) {
    const seconds = Math.max(...data.runs.map(run => run.bins * run.bin_seconds));
    const together = group(seconds, Math.max(...data.runs.map(run => run.bin_seconds)));
    const more = data.runs.length > RUNS_OVERLAID
        ? ` The first ${RUNS_OVERLAID} of ${data.runs.length} runs.` : "";
    const order = data.runs.map((_, i) => i).sort((a, b) =>
        data.runs[a].group - data.runs[b].group || a - b);     // repetitions stand together
    const names = order.map(i => data.runs[i].title);
    parent.append(zoomTools(together));
    barChart(parent, {
        title: "Where a request's time went", xName: "run", format: asTime, sideways: true,
        stacked: true, height: names.length > 4 ? "tall" : "", names,
        about: "The mean of the run: the parts add up to the latency.",
        lists: partsOfRequest.map(part => ({ label: labelOf(part), colour: part.colour,
            values: order.map(i => meanOf(part)(data.summaries[i])) }))
            .filter(list => list.values.some(value => value > 0)),
    });
    drawConcurrency(parent);
    lineChart(parent, { title: "Throughput", format: asRate, to: seconds,
        about: "Requests that the server completed." + more,
        series: overlaid((run, server) => binned(server, "completed", 1 / server.bin_seconds)) },
    together);
    const p99 = overlaid((run, server) => binned(server, "p99"));
    lineChart(parent, { title: "Latency, p99", format: asTime, to: seconds,
        about: "As the server timed it.", log: needsLog(p99.map(s => s.points)), series: p99 },
    together);
    lineChart(parent, { title: "Workers busy", format: asCount, to: seconds, whole: true,
        about: "All states but idle, the mean between two readings.",
        series: overlaid((run, server) => spans(server.occupancy, "idle").map((p, i) => ({ ...p,
            y: busy(server.occupancy, server.occupancy.t1.indexOf(p.to)) }))) }, together);
    spectrumChart(parent, "Percentiles", "Of every request, as the server timed it." + more,
        overlaid((run, server) => server.requests > 0 ? spectrumPoints(server) : []));
}

function busy(table, row) {
    return STATES.filter(state => state !== "idle").reduce((sum, state) =>
        sum === null || row < 0 || table[state][row] === null ? null : sum + table[state][row], 0);
}

function drawConcurrency(parent) {
    const runs = data.summaries.filter(s => s.client && s.client.concurrency > 0 &&
                                       s.client.requests_per_second > 0);
    const levels = new Set(runs.map(s => s.client.concurrency));
    if (levels.size < 3) return;
    const most = Math.max(...levels);
    lineChart(parent, { title: "Throughput by concurrency", format: asRate, xName: "concurrency",
        xText: asCount, xFormat: asCount, to: most * 1.05,
        about: "A point a run, as the load tool counted.",
        series: [
            { label: "run", colour: "client", dots: true, points: runs.map(s => ({
                from: s.client.concurrency, to: s.client.concurrency,
                y: s.client.requests_per_second })) },
            ...(data.usl ? [{ label: "Universal Scalability Law", colour: "php_run",
                              points: uslPoints(most) }] : []),
        ] });
}

function uslPoints(most) {
    const { gamma, alpha, beta } = data.usl, points = [];
    for (let i = 0; i <= 100; i++) {
        const n = 1 + (most - 1) * i / 100;
        points.push({ from: n, to: n, y: gamma * n / (1 + alpha * (n - 1) + beta * n * (n - 1)) });
    }
    return points;
}

// ---- sorting ------------------------------------------------------------------------------

// What a cell says: a number where it has one.
function valueOf(row, column) {
    const cell = row.cells[column], number = cell.querySelector("data");
    return number ? Number(number.value) : cell.textContent.trim();
}
// What is not known is less than every number.
function compare(a, b) {
    if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
    return typeof a === "number" ? 1 : -1;
}

function sort(table, heads, column) {
    const body = table.tBodies[0], rows = Array.from(body.rows), head = heads[column];
    const numbers = rows.some(row => typeof valueOf(row, column) === "number");
    const before = head.getAttribute("aria-sort");
    const now = before === "none" ? numbers ? "descending" : "ascending"
        : before === "descending" ? "ascending" : "descending";
    heads.forEach(other => other.setAttribute("aria-sort", other === head ? now : "none"));
    rows.sort((a, b) => compare(valueOf(a, column), valueOf(b, column)) *
        (now === "ascending" ? 1 : -1));
    body.append(...rows);
    announce(`Sorted by ${head.textContent}, ${now}`);
}

// Each head becomes a button. The row of all others, in the foot, stays where it is.
document.querySelectorAll("table.sortable").forEach(table => {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
        const button = make("button", { type: "button", class: "sort" }, ...head.childNodes);
        head.replaceChildren(button);
        button.addEventListener("click", () => sort(table, heads, column));
    });
});

// ---- all of it ----------------------------------------------------------------------------

// Where the time went and how it came to that; in `more`, what limits it.
function drawRun(parent, more, run) {
    const server = front(run), seconds = run.bins * run.bin_seconds;
    const together = group(seconds, run.bin_seconds, Date.parse(run.started), run.marked);
    if (!server) return;
    const others = run.servers.filter(s => s !== server && !wasIdle(s));
    parent.append(zoomTools(together));
    if (server.requests > 0) drawBreakdown(parent, server, together);
    drawLatency(parent, run, server, together);
    if (server.requests > 0) {
        drawThroughput(parent, run, server, together);
        drawHeatmap(parent, server, "server", together);
    } else if (run.client) {
        drawHeatmap(parent, run.client, "client", together);
    }
    drawWorkersOverTime(parent, server, together, others.length > 0);
    others.forEach(other => other.producer === "php"
        ? drawPhp(parent, other, together) : drawWorkersOverTime(parent, other, together, true));
    more.append(zoomTools(together));
    drawErrors(more, run, server, together);
    drawQueue(more, run, server, together);
    drawMachine(more, run, together);
    drawMachineLimits(more, run, together);
    drawLimits(more, run, server, together, others.length > 0);
    others.forEach(other => drawLimits(more, run, other, together, true));
    drawProcesses(more, run, server, together);
    drawSpectrum(more, run, server);
    drawWorkerEvenness(more, run, server);
    drawMemory(more, server, others.length > 0);
    others.forEach(other => drawMemory(more, other, true));
    drawStatuses(more, server);
}

const compared = document.querySelector("[data-compared]");
if (compared) drawCompared(compared);
document.querySelectorAll(".charts[data-run]").forEach(element =>
    drawRun(element, document.querySelector(`[data-more="${element.dataset.run}"]`),
            data.runs[Number(element.dataset.run)]));
})();
