// status.js - /mpm-status in a browser: draws the snapshot in the page, then requests a new one
// every two seconds. Rates are differences of two snapshots by the server's own clock, so they
// are exact however late an answer comes. Names are those of the JSON, which are promises.
(function () {
"use strict";

const { asTime, asCount, asRate, asBytes, make } = pieces;
const { OWN_LABEL, clients, total } = minute;
const { makeChart, drawSteps } = bands;
const EVERY_MS = 2000;
const PATIENCE_MS = 5000;      // the page says so where an answer takes longer
const PAST_REQUESTS = 1000;    // of each board, with which the charts begin
const EVENTS_SHOWN = 20, EVENTS_KEPT = 200;
const REQUESTS_SHOWN = 10;
const WORKERS_SHOWN = 4000;    // further squares would be too small to tell apart
const APACHE_STATES = ["handling", "sending", "reading", "keepalive", "closing", "logging",
                       "idle"];
const STATE_COLOURS = { handling: "handle", sending: "send", reading: "read",
                        keepalive: "keepalive", closing: "closing", logging: "upload",
                        idle: "idle" };
const CLASSES = [["2xx", "handle"], ["3xx", "read"], ["1xx", "closing"], ["4xx", "php_wait"],
                 ["5xx", "queue"], ["aborted", "send"]];
const PERCENTILES = [["p50", 0.5, "handle"], ["p95", 0.95, "php_wait"], ["p99", 0.99, "queue"]];

function baseName(path) { return (path || "").replace(/^.*\//, ""); }

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

// "database mysql 127.0.0.1:3306, 12.3 s". An end of which no more is known has its kind's name.
function waitOf(slot) {
    if (!slot.wait) return null;
    const end = slot.wait_end === slot.wait ? null : slot.wait_end;
    return [slot.wait, end].filter(Boolean).join(" ") + `, ${asTime(slot.wait_for_seconds)}`;
}

// "in Repository->find, src/Repo.php:88". Without a wait it is where the code was sampled last.
function codeOf(slot) {
    const { function: name, file, line } = slot.code;
    if (!name) return null;
    const at = [file, line].filter(Boolean).join(":");
    return `${slot.wait ? "in" : "last seen in"} ${[name, at].filter(Boolean).join(", ")}`;
}

// What PHP's workers are doing, by the request's number, which Apache's worker with the same
// request has, too. Two Apaches can have given the same number: such is not an answer.
function phpByRequest(boards) {
    const found = new Map();
    for (const board of boards.filter(b => b.producer === "php"))
        for (const slot of board.slots.filter(s => s.request_id !== null))
            found.set(slot.request_id, found.has(slot.request_id) ? null : slot);
    return found;
}
function waitIn(slot, byRequest) {
    const php = slot.request_id === null ? null : byRequest.get(slot.request_id);
    const said = worker => [waitOf(worker), codeOf(worker)].filter(Boolean).join(" ");
    return said(slot) || (php && php !== slot ? said(php) || `PHP, pid ${php.pid}` : null);
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
        fill(board, byRequest) {
            const all = board.slots.filter(slot => slot.pid !== null && slot.state !== null)
                .sort((a, b) => a.slot - b.slot);
            const slots = all.slice(0, WORKERS_SHOWN);
            const wanted = slots.map(slot => `${slot.slot}:${slot.pid}`).join(" ");
            if (wanted !== layout) lay(slots);
            layout = wanted;
            for (const slot of slots) {
                const square = squares.get(slot.slot);
                square.className = STATE_COLOURS[slot.state];
                const wait = waitIn(slot, byRequest);
                square.title = [`${slot.state} for ${asTime(slot.state_for_seconds)}`,
                                wait && `waits for ${wait}`, slot.label, slot.path,
                                `${asCount(slot.requests)} requests so far`]
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

function rateChart(classes, options) {
    return makeChart("Requests a second", "by status; without this page's own", classes, asRate,
                     options);
}
function partsChart(about, options) {
    return makeChart("Where a request's time went", about,
                     partsOfRequest.map(({ name, colour }) => [name, colour]), asTime, options);
}
function percentileChart(options) {
    return makeChart("The slower requests", "half, 95 % and 99 % of the requests took at most "
        + "this; a percentile of too few requests is left out",
                     PERCENTILES.map(([name, , colour]) => [name, colour]), asTime,
                     { nested: true, ...options });
}

// What was before the page was opened: the journal's single requests, asked for by a button, as
// they can be many megabytes.
function makePast(section) {
    if (!location.protocol.startsWith("http")) return null;   // a saved page has no server
    const button = make("button", { type: "button" }, "Show what was before");
    const about = make("p", { class: "about", role: "status" });
    const charts = make("div", { class: "charts" });
    button.addEventListener("click", async () => {
        button.disabled = true;
        try {
            await showPast(section, about, charts);
        } catch (error) {
            about.textContent = `No answer: ${error.message}.`;
        } finally {
            button.disabled = false;
        }
    });
    return make("section", {}, make("h3", {}, "Before"), button, about, charts);
}

async function showPast(section, about, charts) {
    const requests = await askRequests(section, read => {
        about.textContent = `${asCount(read)} records read …`;
    });
    const steps = minute.bins(requests), last = steps[steps.length - 1];
    about.textContent = last ? `${asCount(requests.length)} requests: all that the journal `
        + "still has." : "The journal has no requests.";
    charts.replaceChildren();
    if (!last) return;
    const end = { end: new Date(last.at * 1000).toLocaleTimeString() };
    const drawn = [
        [rateChart(section.classes, end), step => rates(section, step)],
        [partsChart("the mean of each part", end), step => minute.means(step.parts,
                                                                        step.requests)],
        [percentileChart(end), percentiles],
    ];
    charts.append(...drawn.map(([chart]) => chart.element));
    for (const [chart, values] of drawn) drawSteps(chart, steps, values);
}

function rates(section, step) {
    return section.classes.map(([name]) => (step.status[name] || 0) / step.seconds);
}
function percentiles(step) { return PERCENTILES.map(([, q]) => minute.quantile(step, q)); }
function makeSection(first) {
    const php = first.producer === "php";
    const tiles = {
        requests: tile("requests/s", "completed since the last sample"),
        mean: tile("mean time", "of these, as the server saw it"),
        p99: tile("p99", "of the requests of the last minute, as far as this page saw it"),
        busy: tile("workers busy", "now, and their limit"),
        wanted: tile("workers wanted", "that would be busy if no connection had to wait for one"),
        http2: tile("HTTP/2 workers", "busy now in the child that has most, and a child's limit"),
        flight: tile("in flight", "requests that have begun and are not complete"),
        queue: tile("waiting", "connections that are not accepted yet, of all listeners"),
        no_idle: tile("no worker idle", "the share of the time since the last sample in which all"
                      + " workers were busy"),
    };
    if (php) delete tiles.queue, delete tiles.wanted;
    if (first.connections.http2_workers_limit === null) delete tiles.http2;
    const states = APACHE_STATES.filter(state => first.workers.states[state] !== null);
    const classes = CLASSES.filter(([name]) => !php || name !== "1xx");
    const parts = {
        rate: rateChart(classes),
        mean: partsChart("the mean of the requests that were complete then" + (php ? ""
            : "; what PHP's boards say of it is in place of backend and handle")),
        slow: percentileChart(),
        workers: makeChart("What the workers did",
                           "how many were in each state, on average; dashed: the limit",
                           states.map(state => [state, STATE_COLOURS[state]]), asCount),
        grid: makeGrid(),
        longest: makeTable("Longest in flight", "", ["for", "waits for", "label", "path",
                                                     "state", "pid"]),
        labels: makeTable("By label", "Since the server's start.",
                          ["label", "requests", "in flight", "5xx", "aborted", "bytes",
                           "p50", "p90", "p99", "longest"]),
        pools: makeTable("Pools", "Requests of each pool of PHP-FPM, its limit (pm.max_children), "
                         + "how often all of its workers were busy, and how many it would have in "
                         + "use if no connection waited for one.",
                         ["pool", "in flight", "limit", "limit reached", "wanted"]),
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
    const section = { name, about, warning, tiles, parts, php, states, classes,
                      started: first.started, first, hasPast: false, last: null, steps: [],
                      minute: null, events: [], cursor: "start", written: null };
    section.element = make("article", {}, name, about, warning,
        make("dl", { class: "tiles" }, ...Object.values(tiles).map(t => t.element)),
        make("div", { class: "charts" }, parts.rate.element, parts.mean.element,
             parts.slow.element, parts.workers.element),
        parts.grid.element, make("div", { class: "tables" },
            ...["longest", "labels", "pools", "within", "ends", "listeners", "events"]
                .map(part => parts[part].element)),
        makePast(section));
    return section;
}

function knownCount(number) { return number === null ? "not known" : asCount(number); }

function noIdle(step) { return Math.min(1, step.no_idle / step.seconds); }

function fillTiles(section, board, step) {
    const set = (name, text) => {
        if (section.tiles[name]) section.tiles[name].value.textContent = text;
    };
    const mean = step && step.requests > 0 ? minute.sumOf(step.parts) / step.requests : null;
    const p99 = section.minute && minute.quantile(section.minute, 0.99);
    const limit = board.workers.limit;
    set("requests", step ? asRate(step.requests / step.seconds) : "…");
    set("mean", !step ? "…" : mean === null ? "none ended" : asTime(mean));
    set("p99", !section.minute ? "…" : p99 === null ? "too few" : asTime(p99));
    set("busy", asCount(board.workers.busy) + (limit === null ? "" : ` of ${asCount(limit)}`));
    set("wanted", knownCount(board.workers.wanted));
    set("http2", `${asCount(board.connections.http2_workers_busy)} of `
        + asCount(board.connections.http2_workers_limit));
    set("flight", asCount(total(clients(board), l => l.in_flight)));
    set("queue", board.listeners && board.listeners.some(l => l.queue !== null)
        ? asCount(total(board.listeners, l => l.queue)) : "not known");
    set("no_idle", step ? (noIdle(step) * 100).toFixed(0) + " %" : "…");
}

// Of a label: [name, count, seconds] of what there was, the longest time first.
function within(board, label) {
    const php = board.producer === "php";
    const seconds = php ? label.php.waits_seconds : label.interval_seconds;
    const counts = php ? label.php.waits : label.intervals;
    return Object.keys(seconds || {}).filter(name => seconds[name] > 0)
        .map(name => [name, counts[name], seconds[name]]).sort((a, b) => b[2] - a[2]);
}

function fillTables(section, board, byRequest) {
    const { longest, labels, pools, listeners, ends } = section.parts;
    const none = "";
    section.parts.within.fill(clients(board).flatMap(l => within(board, l).map(
        ([name, count, seconds]) => [l.label || none, name, asCount(count),
                                     asTime(count > 0 ? seconds / count : null),
                                     asTime(seconds)])));
    ends.fill((board.ends || []).slice().sort((a, b) => b.seconds - a.seconds)
        .map(e => [e.name, e.kind === e.name ? none : e.kind || none, asCount(e.calls),
                   asCount(e.failed), asTime(e.calls > 0 ? e.seconds / e.calls : null),
                   (e.seconds / board.uptime_seconds).toFixed(2)]));
    longest.fill(board.slots.filter(slot => slot.request_for_seconds !== null
                                            && slot.label !== null && slot.label !== OWN_LABEL)
        .sort((a, b) => b.request_for_seconds - a.request_for_seconds).slice(0, REQUESTS_SHOWN)
        .map(slot => [asTime(slot.request_for_seconds), waitIn(slot, byRequest) || none, slot.label,
                      slot.path || none, slot.state, String(slot.pid)]));
    labels.fill([...clients(board), ...board.labels.filter(l => l.label === OWN_LABEL)]
        .filter(l => l.requests > 0 || l.in_flight > 0)
        .map(l => [l.label || none, asCount(l.requests), asCount(l.in_flight),
                   asCount(l.status["5xx"]), asCount(l.status.aborted), asBytes(l.bytes),
                   ...["p50_seconds", "p90_seconds", "p99_seconds", "max_seconds"]
                       .map(name => asTime(l.phases.total[name]))]));
    pools.fill(clients(board).filter(l => l.workers && l.workers.limit !== null)
        .map(l => [l.label || none, asCount(l.in_flight), asCount(l.workers.limit),
                   knownCount(l.workers.limit_reached), knownCount(l.workers.wanted)]));
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
    if (step && noIdle(step) > 0.5)
        return "All workers are busy: new requests wait.";
    return "";
}

// The steps of PHP's boards that end with Apache's: those of the same looks.
function stepsOfPHP(section, nth) {
    return [...sections.values()].filter(other => other !== section && other.php)
        .map(other => other.steps[other.steps.length - (section.steps.length - nth)])
        .filter(Boolean);
}

function drawCharts(section, board) {
    const { rate, mean, slow, workers } = section.parts;
    drawSteps(rate, section.steps, step => rates(section, step));
    drawSteps(mean, section.steps, (step, nth) => minute.means(
        section.php ? step.parts : minute.partsWithPHP(step.parts, stepsOfPHP(section, nth)),
        step.requests));
    drawSteps(slow, section.steps, percentiles);
    drawSteps(workers, section.steps, step => section.states.map(state =>
        step.workers[state] / step.seconds), board.workers.limit);
}

// What a query calls a board: its file's base name, or its path where others have the same.
function nameOf(board, boards) {
    const name = baseName(board.board);
    return boards.filter(other => baseName(other.board) === name).length > 1 ? board.board : name;
}

// The first board is the page's own: a query without a name is about it. Its name helps only beside
// another server of its kind.
function fill(section, board, boards, byRequest) {
    const isPage = board === boards[0], name = nameOf(board, boards);
    const isNamed = !isPage || boards.filter(b => b.producer === board.producer).length > 1;
    const step = section.last ? minute.between(section.last, board) : null;
    section.name.textContent = [SERVERS[board.producer] || board.producer, board.mpm || board.sapi,
                                isNamed ? name : null].filter(Boolean).join(" · ");
    section.about.textContent = [board.server, `pid ${board.pid}`,
        `up ${asTime(board.uptime_seconds)}`,
        board.generation === null ? null : `generation ${board.generation}`]
        .filter(Boolean).join(" · ");
    section.query = isPage ? "" : "&board=" + encodeURI(name);
    if (step) section.steps.push(step);
    if (section.steps.length > minute.STEPS_MAX) section.steps.shift();
    section.minute = minute.last(section.steps);
    section.parts.grid.fill(board, byRequest);
    fillTiles(section, board, step);
    fillTables(section, board, byRequest);
    section.warning.textContent = warningOf(board, step);
    section.warning.hidden = section.warning.textContent === "";
    section.last = board;
}

// What holds the workers at this moment, in the server's own words.
function fillNow(held) {
    now.hidden = held.length === 0;
    now.className = held.some(item => item.stuck) ? "stuck" : "";
    now.replaceChildren(...held.map(item => make("span", {}, item.sentence)));
}

// What the last minute says of all boards.
function fillMinute() {
    const seen = [...sections.values()].map(section =>
        ({ php: section.php, step: section.minute, limit: section.last.workers.limit,
           busy: section.last.workers.busy }));
    const apache = seen.find(board => !board.php);
    const said = minute.say(apache, seen.filter(board => board.php), !now.hidden);
    const step = (apache || seen[0] || {}).step;
    lastMinute.hidden = said === "";
    lastMinute.replaceChildren(make("strong", {}, step ? `The last ${asTime(step.seconds)}: ` : ""),
                               said);
}

// ---- the page ----------------------------------------------------------------------------

const main = document.querySelector("main");
const state = make("p", { id: "state", role: "status" });
const pause = make("button", { type: "button" }, "Pause");
const now = make("p", { id: "now" });
const lastMinute = make("p", { id: "minute" });
const unreadable = make("ul", { class: "unreadable" });
const articles = make("div", {});
const sections = new Map();

function show(snapshot) {
    const seen = new Set(), byRequest = phpByRequest(snapshot.boards);
    snapshot.boards.forEach(board => {
        const key = board.board + " " + board.producer;
        let section = sections.get(key);
        seen.add(key);
        if (!section || section.started !== board.started) {
            const fresh = makeSection(board);
            if (section) section.element.replaceWith(fresh.element);
            else articles.append(fresh.element);
            sections.set(key, section = fresh);
        }
        fill(section, board, snapshot.boards, byRequest);
    });
    for (const [key, section] of sections)
        if (!seen.has(key)) { section.element.remove(); sections.delete(key); }
        else drawCharts(section, section.last);
    const held = minute.held(snapshot.now || [], path => (
        [...sections.values()].find(section => section.last.board === path) || {}).minute);
    fillNow(held);
    fillMinute();
    unreadable.replaceChildren(...(snapshot.unreadable || []).map(u =>
        make("li", {}, u.reason.includes(u.board) ? u.reason : `${u.board}: ${u.reason}`)));
    const first = snapshot.boards[0];
    if (first)
        document.title = (now.className === "stuck" ? "stuck · " : "")
            + `${first.workers.busy} of ${first.workers.limit} busy · ${location.host}`;
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

// The requests that the journal has of before the page was opened, as steps: once for each start of
// a server.
async function askPast(section) {
    const answer = await ask("?format=journal&since=last&limit=" + PAST_REQUESTS + section.query,
                             true);
    if (answer === null) return;
    const records = answer.trim().split("\n").map(line => JSON.parse(line))
        .filter(line => line.total !== undefined || line.php_run !== undefined);
    const isWhole = records.length ? records[0].ticket === 1
                                   : section.first.journal.requests.written === 0;
    section.hasPast = true;
    section.steps.unshift(...minute.past(records.map(minute.request).filter(Boolean),
                                         section.first, isWhole));
    section.steps.splice(0, section.steps.length - minute.STEPS_MAX);
    section.minute = minute.last(section.steps);
}

// Lets the charts begin with what the journals have.
async function beginCharts() {
    const lack = [...sections.values()].filter(section => !section.hasPast);
    for (const section of lack) await askPast(section);
    if (lack.length === 0) return;
    for (const section of sections.values()) drawCharts(section, section.last);
    fillMinute();
}

// Fetches the events since the last sample, where the board has any. After a restart the server
// does not know the cursor any more: then it begins again.
async function askEvents(board) {
    const section = sections.get(board.board + " " + board.producer);
    const written = board.journal.lifecycle.written;
    if (!section || written === null || written === section.written) return;
    const answer = await ask("?format=journal&only=lifecycle&since=" + section.cursor
        + section.query, true);
    if (answer === null) return;
    const lines = answer.trim().split("\n").map(line => JSON.parse(line));
    const trailer = lines.pop();
    section.cursor = trailer.next;
    section.written = trailer.more ? null : written;
    section.events = [...lines.reverse(), ...section.events].slice(0, EVENTS_KEPT);
    fillEvents(section);
}

// All requests of a board's journal that clients sent, page by page; tell() hears how many records
// were read.
async function askRequests(section, tell) {
    const requests = [];
    let cursor = "start", read = 0, trailer;
    do {
        const lines = (await ask("?format=journal&since=" + cursor + section.query)).trim()
            .split("\n").map(line => JSON.parse(line));
        trailer = lines.pop();
        cursor = trailer.next;
        read += lines.length;
        requests.push(...lines.map(minute.request).filter(Boolean));
        tell(read);
    } while (trailer.more);
    return requests;
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
        await beginCharts();
        for (const board of snapshot.boards) await askEvents(board);
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
    now, lastMinute, unreadable, articles);
show(JSON.parse(document.getElementById("data").textContent));
if (location.protocol.startsWith("http")) {
    follow();
} else {   // a saved page has no server
    pause.remove();
    state.textContent = "As it was when the page was saved.";
}
})();
