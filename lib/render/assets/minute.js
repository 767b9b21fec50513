// minute.js - what happened between snapshots of a board, and what the last minute of it says: pure
// functions, without the document. Names are those of the JSON, which are promises.
const minute = (function () {
"use strict";

const { asTime, asShare, asCount } = pieces;
const OWN_LABEL = "mpm-status";
const SECONDS = 60;
// The limits of the tool's findings: tools/analysis/thresholds.h.
const REQUESTS_MIN = 20;       // of fewer nothing is said
const FAILED_SHARE = 0.03;     // errors come first from here on
const HEADLINE_SHARE = 0.2;    // of a request's time
const HELD_SHARE = 0.5;        // of the time of those that had a worker
const NO_IDLE_SHARE = 0.05;    // of the minute

function total(list, of) {
    return list.reduce((sum, item) => sum + (of(item) || 0), 0);
}
function sumOf(parts) { return total(Object.values(parts), seconds => seconds); }
function clients(board) { return board.labels.filter(l => l.label !== OWN_LABEL); }

// ---- the parts of a request's time -----------------------------------------------------------

// In the order in which they get what is left of their phase, as in lib/read/split.c: PHP's waits
// before its CPU time, and the rest of a phase last.
function isRest({ within, name }) { return name === within.toLowerCase() || name === "rest"; }
const takers = [part => part.isWait, part => !part.isWait && !isRest(part), isRest]
    .flatMap(which => partsOfRequest.filter(which));

// Of one board's requests: phases, and what is known within them, by name. Each part gets at most
// what is left, so they add up to the total.
function partsOf(phases, known) {
    const found = {}, left = { ...phases };
    for (const part of takers) {
        const phase = part.within.toLowerCase(), room = left[phase] || 0;
        found[part.name] = isRest(part) ? room
            : Math.min(Math.max(known[part.name] || 0, 0), room);
        left[phase] = room - found[part.name];
    }
    return found;
}

// Of PHP's: wait and run in seconds, and times within the run; cpu is all of the CPU time.
function partsOfPHP(wait, run, { cpu, compile, gc, cpu_wait, waits }) {
    return partsOf({ handle: wait, php_run: run },
                   { php_wait: wait, compile, gc, cpu: cpu - (compile || 0) - (gc || 0), cpu_wait,
                     ...waits });
}

function partsOfLabel(label, isPHP) {
    const sum = phase => (label.phases[phase] || {}).sum_seconds || 0;
    if (!isPHP) {
        const phases = ["queue", "read", "handle", "send"].map(phase => [phase, sum(phase)]);
        return partsOf(Object.fromEntries(phases), label.interval_seconds || {});
    }
    const php = label.php;
    return partsOfPHP(sum("php_wait"), sum("php_run"), {
        cpu: php.user_seconds + php.system_seconds, compile: php.compile_seconds,
        gc: php.gc_seconds, cpu_wait: php.cpu_wait_seconds, waits: php.waits_seconds });
}

// What PHP's boards say of Apache's time takes the place of `backend`, and of the rest of `handle`.
// PHP serves others, too, and counts a request sooner than Apache does: it gets no more than that.
// What of it lies in `send`, these sums do not tell.
function partsWithPHP(parts, phps) {
    const php = phps.map(step => step.parts).reduce((a, b) => combine(a, b, (x, y) => x + y), {});
    const found = { ...parts }, needed = sumOf(php);
    let left = needed;
    for (const name of ["backend", "handle"]) {
        const taken = Math.min(found[name] || 0, left);
        found[name] -= taken;
        left -= taken;
    }
    for (const [name, seconds] of Object.entries(php))
        found[name] = (found[name] || 0) + (needed > 0 ? seconds * (1 - left / needed) : 0);
    return found;
}

// The mean of each part of a request, for a chart; null: no request was complete.
function means(parts, requests) {
    return partsOfRequest.map(({ name }) => requests > 0 ? (parts[name] || 0) / requests : null);
}

// ---- sums ----------------------------------------------------------------------------------

function totalOf(labels, group) {
    const sums = {};
    for (const label of labels)
        for (const [name, value] of Object.entries(group(label) || {}))
            sums[name] = (sums[name] || 0) + (value || 0);
    return sums;
}

// All that only grows, of all labels but the page's own. Times are seconds.
function sums(board) {
    const labels = clients(board);
    return {
        seconds: board.uptime_seconds,
        requests: total(labels, l => l.phases.total && l.phases.total.count),
        no_idle: board.lifecycle.no_idle_worker_seconds || 0,
        status: totalOf(labels, l => l.status),
        workers: totalOf([board], b => b.workers.state_seconds),
        parts: totalOf(labels, label => partsOfLabel(label, board.producer === "php")),
        times: Object.fromEntries(board.total_buckets || []),
    };
}

function combine(a, b, how) {
    if (typeof a === "number" || typeof b === "number") return how(a || 0, b || 0);
    const names = new Set([...Object.keys(a || {}), ...Object.keys(b || {})]);
    return Object.fromEntries([...names].map(name =>
        [name, combine((a || {})[name], (b || {})[name], how)]));
}

// What happened between two snapshots, and when the later one was made; null: nothing did.
function between(before, now) {
    const step = combine(sums(now), sums(before), (later, earlier) => later - earlier);
    return step.seconds > 0 ? { at: now.uptime_seconds, watched: step.seconds, ...step } : null;
}

// The steps of the last minute as one; null: there are none.
function last(steps) {
    if (steps.length === 0) return null;
    const since = steps[steps.length - 1].at - SECONDS;
    return steps.filter((step, i) => i === steps.length - 1 || step.at - step.seconds >= since - 1)
        .reduce((all, step) => combine(all, step, (a, b) => a + b), {});
}

// ---- percentiles ---------------------------------------------------------------------------

// Of the bucket that begins there: lib/segment/histogram.h has eight for each octave of ns.
function bucketWidth(lower) {
    const ns = Math.round(lower * 1e9);
    return (ns < 512 ? 512 : 2 ** (Math.floor(Math.log2(ns)) - 3)) / 1e9;
}
function bucketOf(seconds) {
    const width = bucketWidth(seconds);
    return Math.floor(Math.round(seconds * 1e9) / Math.round(width * 1e9)) * width;
}

// The q-quantile of a step's times, in proportion within its bucket. null: too few requests for one
// of them to be beyond it.
function quantile(step, q) {
    const buckets = Object.entries(step.times).filter(([, n]) => n > 0)
        .map(([lower, n]) => [Number(lower), n]).sort((a, b) => a[0] - b[0]);
    const all = total(buckets, ([, n]) => n);
    if (all * (1 - q) < 0.999) return null;
    let below = 0;
    for (const [lower, n] of buckets) {
        if (below + n >= q * all) return lower + (q * all - below) / n * bucketWidth(lower);
        below += n;
    }
    return null;
}

// ---- single requests -----------------------------------------------------------------------

const REQUESTS_OF_A_BIN = 100, BINS_MAX = 200;

// What a chart needs of a record of the journal; null: it is no request of a client's.
function request(record) {
    const php = record.php_run !== undefined;
    if (record.label === OWN_LABEL || !(php || record.total !== undefined)) return null;
    const wait = record.php_wait || 0;
    return {
        end: record.start + (php ? record.php_run : record.total),
        total: php ? wait + record.php_run : record.total,
        status: record.aborted ? "aborted" : `${Math.floor((record.status || 200) / 100)}xx`,
        parts: php ? partsOfPHP(wait, record.php_run,
                                { ...record, cpu: record.user + record.system })
                   : partsOf(record, { ...record, backend: record.backend_time }),
        states: php ? { handling: record.php_run }
                    : { reading: record.read, handling: record.handle, sending: record.send },
    };
}

function addTo(sums, more) {
    for (const [name, value] of Object.entries(more))
        if (typeof value === "number") sums[name] = (sums[name] || 0) + value;
        else addTo(sums[name], value);
}

function addRequest(step, r) {
    addTo(step, { requests: 1, status: { [r.status]: 1 }, parts: r.parts,
                  times: { [bucketOf(r.total)]: 1 } });
}

// Requests as steps of equal length, of a hundred requests each on average, or more. `at` is Unix
// time.
function bins(requests) {
    if (requests.length === 0) return [];
    const ends = requests.map(r => r.end);
    const first = ends.reduce((a, b) => Math.min(a, b));
    const last = ends.reduce((a, b) => Math.max(a, b));
    const count = Math.max(1, Math.min(BINS_MAX, Math.floor(requests.length / REQUESTS_OF_A_BIN)));
    const seconds = Math.max((last - first) / count, 0.001);
    const steps = Array.from({ length: count }, () => ({ requests: 0, status: {}, parts: {},
        times: {} }));
    for (const r of requests)
        addRequest(steps[Math.min(count - 1, Math.floor((r.end - first) / seconds))], r);
    return steps.map((step, i) => ({ at: first + (i + 1) * seconds, seconds, ...step }));
}

// ---- before the page was opened ------------------------------------------------------------

const STEP_SECONDS = 2, STEPS_MAX = 300;

// Adds a time of a worker in a state to the steps in which it lies.
function addWorker(steps, state, from, to) {
    const first = steps[0].at - STEP_SECONDS;
    const until = Math.min(to, steps[steps.length - 1].at);
    for (let at = Math.max(from, first); at < until;) {
        const i = Math.min(steps.length - 1, Math.floor((at - first) / STEP_SECONDS));
        const end = Math.min(until, steps[i].at);
        if (end <= at) break;   // rounded
        steps[i].workers[state] = (steps[i].workers[state] || 0) + end - at;
        at = end;
    }
}

// What between() would have given, if the page had looked before: of the journal's last requests,
// and of those that `board` has in flight. isWhole: these are all since the server's start. How long no
// worker was idle is known of no time that was not watched; `at` is uptime.
function past(requests, board, isWhole) {
    const started = Date.parse(board.started) / 1000, now = board.uptime_seconds;
    const ended = requests.filter(r => r.end - started <= now);
    const oldest = isWhole ? 0 : ended.length ? ended[0].end - started : now;
    const length = (now - Math.max(0, oldest)) / STEP_SECONDS;
    const count = Math.min(STEPS_MAX, isWhole ? Math.ceil(length) : Math.floor(length));
    if (!(count > 0)) return [];
    const steps = Array.from({ length: count }, (_, i) => ({
        at: now - (count - 1 - i) * STEP_SECONDS, seconds: STEP_SECONDS, watched: 0, no_idle: 0,
        requests: 0, status: {}, parts: {}, workers: {}, times: {} }));
    for (const r of ended) {
        let at = r.end - started;
        const i = Math.ceil((at - now) / STEP_SECONDS) + count - 1;
        if (i >= 0) addRequest(steps[i], r);
        for (const [state, seconds] of Object.entries(r.states).reverse()) {
            addWorker(steps, state, at - seconds, at);
            at -= seconds;
        }
    }
    for (const slot of board.slots)
        if (slot.request_for_seconds !== null && slot.state !== null && slot.label !== OWN_LABEL)
            addWorker(steps, slot.state, now - slot.request_for_seconds, now);
    return steps;
}

// ---- what it says --------------------------------------------------------------------------

// "PHP's waiting for its own sleep took 100 ms".
function took(part, seconds) {
    const { noun } = partsOfRequest.find(({ name }) => name === part);
    return `${noun[0].toUpperCase()}${noun.slice(1)} took ${asTime(seconds)}`;
}

function failures(step) {
    const client = step.status["4xx"] || 0, server = step.status["5xx"] || 0;
    if (client + server < FAILED_SHARE * step.requests) return "";
    const of = [[client, "4xx"], [server, "5xx"]].filter(([n]) => n > 0)
        .map(([n, name]) => `${asCount(n)} were ${name}`).join(", ");
    return `Of ${asCount(step.requests)} answers ${of}. `;
}

// For how long it is known whether a worker was idle: not of before the page was opened.
function watched(step) { return step.watched === undefined ? step.seconds : step.watched; }
function noIdleShare(step) {
    return watched(step) > 0 ? Math.min(1, step.no_idle / watched(step)) : 0;
}
function wasWatched(step) { return watched(step) > step.seconds - STEP_SECONDS; }

// The wait for workers, and whether there were none.
function shortage(name, seconds, all, requests, server) {
    const share = seconds / all;
    if (!(share >= HEADLINE_SHARE)) return "";
    const noIdle = server ? noIdleShare(server.step) : 0;
    const out = noIdle >= NO_IDLE_SHARE && server.limit !== null
        ? `${name === "queue" ? "Apache" : "PHP"}'s workers ran out: none of `
          + `${asCount(server.limit)} was idle for ${asShare(noIdle)} of `
          + (wasWatched(server.step) ? "this time. "
                                     : `the last ${asTime(watched(server.step))}. `) : "";
    return `${out}${took(name, seconds / requests)} a request on average `
        + `(${asShare(share)} of its time). `;
}

// What most of the rest was, which is what held the workers.
function holder(found, all, requests) {
    const rest = Object.entries(found).filter(([name]) => !["queue", "php_wait"].includes(name));
    const held = total(rest, ([, seconds]) => seconds);
    const [name, seconds] = rest.reduce((a, b) => b[1] > a[1] ? b : a);
    if (seconds < HEADLINE_SHARE * all && seconds < HELD_SHARE * held) return "";
    return `${took(name, seconds / requests)} a request (${asShare(seconds / all)} of its time). `;
}

// Of Apache's board (undefined: there is none) and of PHP's, each { step, limit, busy }; step is of
// last(). Some sentences, the failures first. isTold: what holds the workers now stands above.
// `mpmstat explain` knows more: the page has sums only.
function say(apache, phps, isTold) {
    const front = apache || phps[0];
    const stepped = phps.filter(php => php.step);
    if (!front || !front.step) return "";
    const { step } = front, requests = step.requests;
    if (requests === 0) return "No request was complete.";
    if (requests < REQUESTS_MIN)
        return `Only ${asCount(requests)} request${requests === 1 ? " was" : "s were"} complete`
            + (isTold ? "." : ": too few to say more.");
    const found = apache ? partsWithPHP(step.parts, stepped.map(php => php.step)) : step.parts;
    const all = sumOf(found);
    const fullest = stepped.reduce((a, b) =>
        !a || noIdleShare(b.step) > noIdleShare(a.step) ? b : a, null);
    if (!(all > 0)) return failures(step);
    return failures(step)
        + (shortage("php_wait", found.php_wait, all, requests, fullest)
           + shortage("queue", found.queue || 0, all, requests, apache)
           || (!wasWatched(step) ? ""
               : front.busy === front.limit
               ? `All ${asCount(front.limit)} workers were busy at the last look, but requests `
                 + "hardly waited for one. "
               : `Workers did not run out: ${asCount(front.busy)} of ${asCount(front.limit)} `
                 + "were busy at the last look. "))
        + holder(found, all, requests);
}

// Of what the server tells of workers that are held now: those that are stuck; else who has
// requests that take longer than any that ended lately. stepOf: last() of a board.
function held(now, stepOf) {
    const stuck = now.filter(item => item.stuck);
    if (stuck.length > 0) return stuck;
    const longest = step => Math.max(0, ...Object.entries(step ? step.times : {})
        .filter(([, n]) => n > 0).map(([lower]) => Number(lower) + bucketWidth(Number(lower))));
    return now.filter(item => item.longest_seconds > longest(stepOf(item.board))).slice(0, 1);
}

return { OWN_LABEL, STEPS_MAX, clients, total, sumOf, between, last, quantile, request, bins, past,
         held, partsWithPHP, means, say };
})();
