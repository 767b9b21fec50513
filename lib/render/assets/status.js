// status.js - /mpm-status in a browser: draws the snapshot in the page, then requests a new one
// every two seconds. Rates are differences of two snapshots by the server's own clock, so they
// are exact however late an answer comes. Names are those of the JSON, which are promises.
(function () {
"use strict";

const { asTime, asCount, asRate, asBytes, make } = pieces;
const EVERY_MS = 2000;
const PATIENCE_MS = 5000;      // the page says so where an answer takes longer
const SAMPLES_KEPT = 300;      // ten minutes
const EVENTS_SHOWN = 20, EVENTS_KEPT = 200;
const REQUESTS_SHOWN = 10;
const WORKERS_SHOWN = 4000;    // further squares would be too small to tell apart
const OWN_LABEL = "mpm-status";
const APACHE_STATES = ["handling", "sending", "reading", "keepalive", "closing", "logging",
                       "idle"];
const STATE_COLOURS = { handling: "handle", sending: "send", reading: "read",
                        keepalive: "keepalive", closing: "closing", logging: "upload",
                        idle: "idle" };
const CLASSES = [["2xx", "handle"], ["3xx", "read"], ["1xx", "closing"], ["4xx", "php_wait"],
                 ["5xx", "queue"], ["aborted", "send"]];
const PHASES = { apache: [["queue", "queue"], ["read", "read"], ["handle", "handle"],
                          ["send", "send"]],
                 php: [["php_wait", "php_wait"], ["php_run", "php_run"]] };

// ---- two snapshots of a board ------------------------------------------------------------

function baseName(path) { return (path || "").replace(/^.*\//, ""); }
function labelsBut(board, own) { return board.labels.filter(l => (l.label === OWN_LABEL) === own); }
function clients(board) { return labelsBut(board, false); }
function sum(list, of) {
    return list.reduce((total, item) => total + (of(item) || 0), 0);
}
function phaseSum(board, phase, what) {
    return sum(clients(board), l => l.phases[phase] && l.phases[phase][what]);
}

// What happened between two samples: rates by class, the mean of each phase, workers by state.
function between(before, now) {
    const seconds = now.uptime_seconds - before.uptime_seconds;
    if (!(seconds > 0)) return null;
    const grown = of => (of(now) - of(before)) / seconds;
    const ended = phaseSum(now, "total", "count") - phaseSum(before, "total", "count");
    const step = { seconds, at: now.uptime_seconds, rate: {}, mean: {}, workers: {} };
    for (const [name] of CLASSES)
        step.rate[name] = grown(board => sum(clients(board), l => l.status[name]));
    for (const [name] of PHASES[now.producer])
        step.mean[name] = ended > 0 ? (phaseSum(now, name, "sum_seconds")
            - phaseSum(before, name, "sum_seconds")) / ended : null;
    for (const state of APACHE_STATES)
        step.workers[state] = grown(board => board.workers.state_seconds[state] || 0);
    step.requests = ended / seconds;
    step.no_idle = grown(board => board.lifecycle.no_idle_worker_seconds || 0);
    return step;
}

// ---- the parts of a board's section ------------------------------------------------------

function tile(name, title) {
    const value = make("dd", {});
    return { value, element: make("div", { title }, make("dt", {}, name), value) };
}

function row(tag, texts) {
    return make("tr", {}, ...texts.map((text, i) =>
        make(i === 0 ? "th" : tag, tag === "th" ? { scope: "col" } : i === 0 ? { scope: "row" } : {},
             text)));
}

function makeTable(title, about, columns) {
    const body = make("tbody", {});
    const element = make("section", {}, make("h3", {}, title),
        about ? make("p", { class: "about" }, about) : null,
        make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title },
             make("table", {}, make("thead", {}, row("th", columns)), body)));
    return {
        element,
        fill(rows) {
            element.hidden = rows.length === 0;
            body.replaceChildren(...rows.map(texts => row("td", texts)));
        },
    };
}

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 600, HEIGHT = 150;

function makeChart(title, about, series, format) {
    const svg = document.createElementNS(SVG, "svg");
    const legend = make("ul", { class: "legend" });
    const scale = make("span", { class: "scale" });
    const outputs = series.map(([name, colour]) => {
        const output = make("output", {});
        legend.append(make("li", {}, make("i", { class: colour }), name + " ", output));
        return output;
    });
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    const since = make("span", {});
    return {
        element: make("figure", {}, make("figcaption", {}, make("strong", {}, title), about),
            make("div", { class: "plot" }, svg, scale),
            make("div", { class: "axis" }, since, make("span", {}, "now")), legend),
        // steps: { from, to, values: one for each series, null where it is unknown }.
        draw(steps, limit) {
            const tops = steps.map(step => step.values.reduce((a, b) => a + (b || 0), 0));
            const highest = Math.max(limit || 0, ...tops, 0);
            const last = steps[steps.length - 1];
            svg.replaceChildren(...paths(steps, series, highest), ...limitLine(limit, highest));
            outputs.forEach((output, i) => {
                output.textContent = !last ? "…" : last.values[i] === null ? "–"
                                                 : format(last.values[i]);
            });
            svg.setAttribute("aria-label", title + ": " + series.map(([name], i) =>
                `${name} ${outputs[i].textContent}`).join(", "));
            scale.textContent = highest > 0 ? format(highest) : "";
            since.textContent = last ? asTime(last.to - steps[0].from) + " ago" : "";
        },
    };
}

// Each series is a band on top of those before it, and constant during a step, whose mean it is.
function paths(steps, series, highest) {
    if (steps.length === 0 || highest <= 0) return [];
    const start = steps[0].from, length = steps[steps.length - 1].to - start;
    const x = time => ((time - start) / length * WIDTH).toFixed(1);
    const y = value => (HEIGHT - value / highest * HEIGHT).toFixed(1);
    const below = steps.map(() => 0);
    return series.map(([, colour], nth) => {
        let d = "";
        steps.forEach((step, i) => {
            const height = step.values[nth] || 0;
            if (height > 0)
                d += `M${x(step.from)} ${y(below[i])}V${y(below[i] + height)}H${x(step.to)}`
                    + `V${y(below[i])}Z`;
            below[i] += height;
        });
        const path = document.createElementNS(SVG, "path");
        path.setAttribute("d", d);
        path.setAttribute("class", colour);
        return path;
    });
}

function limitLine(limit, highest) {
    if (!limit || highest <= 0) return [];
    const line = document.createElementNS(SVG, "line");
    const y = (HEIGHT - limit / highest * HEIGHT).toFixed(1);
    for (const [name, value] of Object.entries({ x1: 0, x2: WIDTH, y1: y, y2: y, class: "limit" }))
        line.setAttribute(name, value);
    return [line];
}

// "database mysql 127.0.0.1:3306, 12.3 s". An end of which no more is known has its kind's name.
function waitOf(slot) {
    if (!slot.wait) return null;
    const end = slot.wait_end === slot.wait ? null : slot.wait_end;
    return [slot.wait, end].filter(Boolean).join(" ") + `, ${asTime(slot.wait_for_seconds)}`;
}

// A square for each worker, a row for each process. Squares are reused, so that one under the
// pointer keeps its tooltip.
function makeGrid() {
    const rows = make("div", { class: "grid" });
    const counts = make("ul", { class: "legend" });
    const rest = make("p", { class: "about" });
    let squares = new Map(), layout = "";
    function lay(slots) {
        const processes = new Map();
        squares = new Map();
        for (const slot of slots) {
            if (!processes.has(slot.pid))
                processes.set(slot.pid, make("div", { class: "process" },
                                             make("span", { class: "pid" }, String(slot.pid))));
            const square = make("i", {});
            squares.set(slot.slot, square);
            processes.get(slot.pid).append(square);
        }
        rows.replaceChildren(...processes.values());
    }
    return {
        element: make("section", {}, make("h3", {}, "The workers now"), counts, rows, rest),
        fill(board) {
            const all = board.slots.filter(slot => slot.pid !== null && slot.state !== null)
                .sort((a, b) => a.slot - b.slot);
            const slots = all.slice(0, WORKERS_SHOWN);
            const wanted = slots.map(slot => `${slot.slot}:${slot.pid}`).join(" ");
            if (wanted !== layout) lay(slots);
            layout = wanted;
            for (const slot of slots) {
                const square = squares.get(slot.slot);
                square.className = STATE_COLOURS[slot.state];
                const wait = waitOf(slot);
                square.title = [`${slot.state} for ${asTime(slot.state_for_seconds)}`,
                                wait && `waits for ${wait}`, slot.label, slot.path, `${asCount(slot.requests)} requests so far`]
                    .filter(Boolean).join(" · ");
            }
            counts.replaceChildren(...APACHE_STATES.filter(s => board.workers.states[s] !== null)
                .map(state => make("li", {}, make("i", { class: STATE_COLOURS[state] }),
                                   `${state} `, make("output", {},
                                                     String(board.workers.states[state])))));
            rest.textContent = all.length > slots.length
                ? `and ${all.length - slots.length} more workers` : "";
        },
    };
}

// ---- a board's section -------------------------------------------------------------------

const SERVERS = { apache: "Apache", php: "PHP" };

function makeSection(first) {
    const php = first.producer === "php";
    const tiles = {
        requests: tile("requests/s", "completed since the last sample"),
        mean: tile("mean time", "of these, as the server saw it"),
        p99: tile("p99", "since the server's start, of the label with the longest"),
        busy: tile("workers busy", "now, and their limit"),
        http2: tile("HTTP/2 workers", "busy now in the child that has most, and a child's limit"),
        flight: tile("in flight", "requests that have begun and are not complete"),
        queue: tile("waiting", "connections that are not accepted yet, of all listeners"),
        no_idle: tile("no worker idle", "the share of the time since the last sample in which all"
                      + " workers were busy"),
    };
    if (php) delete tiles.queue;
    if (first.connections.http2_workers_limit === null) delete tiles.http2;
    const states = APACHE_STATES.filter(state => first.workers.states[state] !== null);
    const parts = {
        rate: makeChart("Requests a second", "by status; without this page's own",
                        CLASSES.filter(([name]) => !php || name !== "1xx"), asRate),
        mean: makeChart("Where a request's time went", php
            ? "the mean wait for a PHP worker, and the mean time that PHP ran"
            : "the mean of the requests that were complete then, by phase",
                        PHASES[first.producer], asTime),
        workers: makeChart("What the workers did",
                           "how many were in each state, on average; dashed: the limit",
                           states.map(state => [state, STATE_COLOURS[state]]), asCount),
        grid: makeGrid(),
        longest: makeTable("Longest in flight", "", ["for", "label", "path", "state",
                                                     ...(php ? ["waits for"] : []), "pid"]),
        labels: makeTable("By label", "Since the server's start.",
                          ["label", "requests", "in flight", "5xx", "aborted", "bytes",
                           "p50", "p90", "p99", "longest"]),
        pools: makeTable("Pools", "Requests of each pool of PHP-FPM, its limit (pm.max_children), "
                         + "and how often all of its workers were busy.",
                         ["pool", "in flight", "limit", "limit reached"]),
        within: makeTable("Within the phases, by label", php
            ? "What PHP waited for, since the server's start."
            : "Intervals of the phases, and of what follows them, since the server's start.",
                          ["label", php ? "waited for" : "interval", php ? "calls" : "requests",
                           "mean", "all together"]),
        ends: makeTable("Other ends", "What requests were handed to, or waited for, since the "
                        + "server's start.",
                        ["other end", "kind", "calls", "failed", "mean", "at once"]),
        listeners: makeTable("Accept queue", "",
                             ["listener", "waiting", "fullest socket", "limit of each"]),
        events: makeTable("Latest events", "Forks, exits, limits, generations.",
                          ["time", "event", "pid", "slot", "generation", "took", "requests",
                           "reason"]),
    };
    if (php) parts.listeners.element.hidden = true;
    const name = make("h2", {}), about = make("p", { class: "about" });
    const warning = make("p", { class: "warning", role: "status" });
    const element = make("article", {}, name, about, warning,
        make("dl", { class: "tiles" }, ...Object.values(tiles).map(t => t.element)),
        make("div", { class: "charts" }, parts.rate.element, parts.mean.element,
             parts.workers.element),
        parts.grid.element, parts.longest.element, parts.labels.element,
        parts.pools.element, parts.within.element, parts.ends.element, parts.listeners.element,
        parts.events.element);
    return { element, name, about, warning, tiles, parts, started: first.started,
             last: null, steps: [], events: [], cursor: "start", written: null };
}

function fillTiles(section, board, step) {
    const set = (name, text) => {
        if (section.tiles[name]) section.tiles[name].value.textContent = text;
    };
    const mean = step && Object.values(step.mean).some(value => value !== null)
        ? sum(Object.values(step.mean), value => value) : null;
    const p99 = Math.max(...clients(board).map(l => l.phases.total.p99_seconds || 0), 0);
    const limit = board.workers.limit;
    set("requests", step ? asRate(step.requests) : "…");
    set("mean", !step ? "…" : mean === null ? "none ended" : asTime(mean));
    set("p99", p99 > 0 ? asTime(p99) : "none yet");
    set("busy", asCount(board.workers.busy) + (limit === null ? "" : ` of ${asCount(limit)}`));
    set("http2", `${asCount(board.connections.http2_workers_busy)} of `
        + asCount(board.connections.http2_workers_limit));
    set("flight", asCount(sum(clients(board), l => l.in_flight)));
    set("queue", board.listeners && board.listeners.some(l => l.queue !== null)
        ? asCount(sum(board.listeners, l => l.queue)) : "not known");
    set("no_idle", step ? Math.min(100, step.no_idle * 100).toFixed(0) + " %" : "…");
}

// Of a label: [name, count, seconds] of what there was, the longest time first.
function within(board, label) {
    const php = board.producer === "php";
    const seconds = php ? label.php.waits_seconds : label.interval_seconds;
    const counts = php ? label.php.waits : label.intervals;
    return Object.keys(seconds || {}).filter(name => seconds[name] > 0)
        .map(name => [name, counts[name], seconds[name]]).sort((a, b) => b[2] - a[2]);
}

function fillTables(section, board) {
    const { longest, labels, pools, listeners, ends } = section.parts;
    const none = "";
    section.parts.within.fill(clients(board).flatMap(l => within(board, l).map(
        ([name, count, seconds]) => [l.label || none, name, asCount(count),
                                     asTime(count > 0 ? seconds / count : null),
                                     asTime(seconds)])));
    ends.fill((board.ends || []).slice().sort((a, b) => b.seconds - a.seconds)
        .map(e => [e.name, e.kind === e.name ? none : e.kind || none, asCount(e.calls), asCount(e.failed),
                   asTime(e.calls > 0 ? e.seconds / e.calls : null),
                   (e.seconds / board.uptime_seconds).toFixed(2)]));
    longest.fill(board.slots.filter(slot => slot.request_for_seconds !== null
                                            && slot.label !== null && slot.label !== OWN_LABEL)
        .sort((a, b) => b.request_for_seconds - a.request_for_seconds).slice(0, REQUESTS_SHOWN)
        .map(slot => [asTime(slot.request_for_seconds), slot.label, slot.path || none, slot.state,
                      ...(board.producer === "php" ? [waitOf(slot) || none] : []),
                      String(slot.pid)]));
    labels.fill([...clients(board), ...labelsBut(board, true)]
        .filter(l => l.requests > 0 || l.in_flight > 0)
        .map(l => [l.label || none, asCount(l.requests), asCount(l.in_flight),
                   asCount(l.status["5xx"]), asCount(l.status.aborted), asBytes(l.bytes),
                   ...["p50_seconds", "p90_seconds", "p99_seconds", "max_seconds"]
                       .map(name => asTime(l.phases.total[name]))]));
    pools.fill(clients(board).filter(l => l.workers && l.workers.limit !== null)
        .map(l => [l.label || none, asCount(l.in_flight), asCount(l.workers.limit),
                   l.workers.limit_reached === null ? "not known"
                                                    : asCount(l.workers.limit_reached)]));
    listeners.fill((board.listeners || []).map(l => [l.address || "another", asCount(l.queue),
                                                     asCount(l.queue_fullest),
                                                     asCount(l.queue_limit)]));
}

// Limits and generations have only one kind.
function what(event) {
    return ["limit", "generation"].includes(event.event) ? event.event
                                                         : `${event.event} ${event.kind}`;
}

function fillEvents(section) {
    const text = (value, format) => value === null ? "" : format(value);
    section.parts.events.fill(section.events.slice(0, EVENTS_SHOWN).map(e =>
        [new Date(e.time * 1000).toLocaleTimeString(), what(e),
         text(e.pid, String), text(e.slot, String), text(e.generation, String),
         text(e.duration, asTime), text(e.requests, asCount), text(e.reason, String)]));
}

function warningOf(board, step) {
    if (board.running !== "yes")
        return board.running === "no" ? `Stopped${board.stopped ? " at " + board.stopped : ""}.`
                                      : "It is not known whether it still runs.";
    if (step && step.no_idle > 0.5)
        return "All workers are busy: new requests wait.";
    return "";
}

function fill(section, board, isPage) {
    const step = section.last ? between(section.last, board) : null;
    const limit = board.workers.limit;
    section.name.textContent = [SERVERS[board.producer] || board.producer, board.mpm || board.sapi,
                                isPage ? null : baseName(board.board)].filter(Boolean).join(" · ");
    section.about.textContent = [board.server, `pid ${board.pid}`,
        `up ${asTime(board.uptime_seconds)}`,
        board.generation === null ? null : `generation ${board.generation}`]
        .filter(Boolean).join(" · ");
    if (step) section.steps.push(step);
    if (section.steps.length > SAMPLES_KEPT) section.steps.shift();
    const shown = section.steps.map(s => ({ from: s.at - s.seconds, to: s.at, s }));
    const draw = (chart, values, line) =>
        chart.draw(shown.map(({ from, to, s }) => ({ from, to, values: values(s) })), line);
    const { rate, mean, workers, grid } = section.parts;
    draw(rate, s => CLASSES.filter(([name]) => board.producer !== "php" || name !== "1xx")
        .map(([name]) => s.rate[name]));
    draw(mean, s => PHASES[board.producer].map(([name]) => s.mean[name]));
    draw(workers, s => APACHE_STATES.filter(state => board.workers.states[state] !== null)
        .map(state => s.workers[state]), limit);
    grid.fill(board);
    fillTiles(section, board, step);
    fillTables(section, board);
    section.warning.textContent = warningOf(board, step);
    section.warning.hidden = section.warning.textContent === "";
    section.last = board;
}

// ---- the page ----------------------------------------------------------------------------

const main = document.querySelector("main");
const state = make("p", { id: "state", role: "status" });
const pause = make("button", { type: "button" }, "Pause");
const unreadable = make("ul", { class: "unreadable" });
const articles = make("div", {});
const sections = new Map();

function show(snapshot) {
    const seen = new Set();
    snapshot.boards.forEach((board, i) => {
        const key = board.board + " " + board.producer;
        let section = sections.get(key);
        seen.add(key);
        if (!section || section.started !== board.started) {
            const fresh = makeSection(board);
            if (section) section.element.replaceWith(fresh.element);
            else articles.append(fresh.element);
            sections.set(key, section = fresh);
        }
        fill(section, board, i === 0);
    });
    for (const [key, section] of sections)
        if (!seen.has(key)) { section.element.remove(); sections.delete(key); }
    unreadable.replaceChildren(...(snapshot.unreadable || []).map(u =>
        make("li", {}, u.reason.includes(u.board) ? u.reason : `${u.board}: ${u.reason}`)));
    const first = snapshot.boards[0];
    if (first)
        document.title = `${first.workers.busy} of ${first.workers.limit} busy · ${location.host}`;
}

// The answer is null where the server says "later" (503) and the caller allows that: it limits
// the answers of its journal at a time.
async function ask(query, mayBePutOff) {
    const answer = await fetch(query, { cache: "no-store", credentials: "same-origin" });
    const text = await answer.text();
    if (mayBePutOff && answer.status === 503) return null;
    if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, 200)}`);
    return text;
}

// Fetches the events since the last sample, where the board has any. After a restart the server
// does not know the cursor any more: then it begins again.
async function askEvents(board, isPage) {
    const section = sections.get(board.board + " " + board.producer);
    const written = board.journal.lifecycle.written;
    if (!section || written === null || written === section.written) return;
    const answer = await ask("?format=journal&only=lifecycle&since=" + section.cursor
        + (isPage ? "" : "&board=" + encodeURIComponent(baseName(board.board))), true);
    if (answer === null) return;
    const lines = answer.trim().split("\n").map(line => JSON.parse(line));
    const trailer = lines.pop();
    section.cursor = trailer.next;
    section.written = trailer.more ? null : written;
    section.events = [...lines.reverse(), ...section.events].slice(0, EVENTS_KEPT);
    fillEvents(section);
}

async function look() {
    const slow = setTimeout(() => {
        state.className = "late";
        state.textContent = "No answer yet: perhaps all workers are busy. On the server, "
            + "“mpmstat status” asks none of them.";
    }, PATIENCE_MS);
    try {
        const snapshot = JSON.parse(await ask("?format=json"));
        show(snapshot);
        for (const [i, board] of snapshot.boards.entries()) await askEvents(board, i === 0);
        state.className = "live";
        state.textContent = `Live: as of ${new Date().toLocaleTimeString()}`;
    } catch (error) {
        for (const section of sections.values()) section.cursor = "start";
        state.className = "late";
        state.textContent = `No answer: ${error.message}. Asking again.`;
    } finally {
        clearTimeout(slow);
    }
}

let paused = false;
// A page that is not visible sends no requests.
async function follow() {
    if (!paused && !document.hidden) await look();
    setTimeout(follow, EVERY_MS);
}

pause.addEventListener("click", () => {
    paused = !paused;
    pause.textContent = paused ? "Go on" : "Pause";
    pause.setAttribute("aria-pressed", String(paused));
    if (paused) { state.className = ""; state.textContent = "Paused."; }
});

main.replaceChildren(
    make("header", {}, make("h1", {}, location.host || "mpm-status"), state, pause),
    unreadable, articles);
show(JSON.parse(document.getElementById("data").textContent));
if (location.protocol.startsWith("http")) {
    follow();
} else {   // a saved page has no server
    pause.remove();
    state.textContent = "As it was when the page was saved.";
}
})();
