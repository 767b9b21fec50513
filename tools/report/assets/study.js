// study.js - the charts of a study's page, from the JSON in it (study_json.c writes that): the
// original's charts drawn again, with what was published and what it lacked.
(function () {
"use strict";

const {
    data, scaled, asTime, asCount, asRate, asShare, asBytes, make, group, lineChart, barChart,
    needsLog, RUN_COLOURS, RUN_DASHES,
} = mpmstat;
const BAR = 30, BARS_AROUND = 46;     // pixels: a bar, and what is above and below all of them
const BAR_OF_SEVERAL = 16, NAME_LINE = 14, NAME_CHARACTERS = 22;
const CURVES_MOST = 24;

const FORMATS = { count: asCount, rate: asRate, time: asTime, bytes: asBytes, share: asShare,
                  byte_rate: value => value === null ? "not known" : asBytes(value) + "/s" };
// The parts of a request's time at the server: [metric, what it is called, its colour].
const PARTS = data.parts.map(metric =>
    [metric, data.metrics[metric].label, metric.replace("_mean_seconds", "")]);

function formatOf(metric) { return FORMATS[data.metrics[metric].unit]; }
function labelOf(metric) {
    const label = data.metrics[metric].label;
    return label.charAt(0).toUpperCase() + label.slice(1);
}
// [mean, low, high] of a case; null where it is not known.
function estimate(oneCase, metric) { return oneCase && oneCase.values[metric] || null; }
function mean(oneCase, metric) {
    const found = estimate(oneCase, metric);
    return found ? found[0] : null;
}
function bound(oneCase, metric, which) {
    const found = estimate(oneCase, metric);
    return found ? found[which] : null;
}
// The last case of each line: the heaviest load that it came to.
function heaviest(section) {
    return section.lines.filter(line => line.cases.length > 0)
        .map(line => ({ line, case: line.cases[line.cases.length - 1] }));
}
function known(section, metric) {
    return section.lines.some(line => line.cases.some(c => mean(c, metric) > 0));
}

// A system has its colour in all charts; its lines differ by their dashes. Where workers come
// each line is a way of its own.
function looks(section) {
    const seen = {};
    return section.lines.map((line, i) => {
        if (section.kind === "spawn")
            return { colour: RUN_COLOURS[i % RUN_COLOURS.length],
                     dash: RUN_DASHES[Math.floor(i / RUN_COLOURS.length) % RUN_DASHES.length] };
        const nth = seen[line.system] = (seen[line.system] || 0) + 1;
        return { colour: RUN_COLOURS[line.system % RUN_COLOURS.length],
                 dash: RUN_DASHES[(nth - 1) % RUN_DASHES.length] };
    });
}

function pairIn(parent) {
    const pair = make("div", { class: "pair" });
    parent.append(pair);
    return pair;
}

function nameOf(section, row) { return section.x ? row.case.label : row.line.label; }
// As high as the bars, or the lines of their names.
function barPixels(names, lists) {
    const lines = Math.max(...names.map(name => Math.ceil(name.length / NAME_CHARACTERS)));
    return BARS_AROUND + names.length * Math.max(BAR, BAR_OF_SEVERAL * lists + 8,
                                                 NAME_LINE * lines + 8);
}

// A pair with room for one more figure.
function nextInPair(parent) {
    const last = parent.lastElementChild;
    return last && last.className === "pair" && last.dataset.filled !== "yes" &&
        last.children.length === 1 ? last : pairIn(parent);
}

// ---- bars: one load -----------------------------------------------------------------------

function bars(parent, section, spec) {
    const rows = heaviest(section).filter(row => spec.lists.some(([metric]) =>
        estimate(row.case, metric)));
    if (rows.length === 0) return;
    const style = looks(section);
    const several = spec.lists.length > 1;
    const highs = rows.flatMap(row => spec.lists.map(([metric]) => bound(row.case, metric, 2)));
    barChart(parent, {
        suggestedMax: spec.stacked ? undefined : Math.max(...highs), ...spec, xName: "system",
        sideways: true,
        pixels: barPixels(rows.map(row => nameOf(section, row)),
                          spec.stacked ? 1 : spec.lists.length),
        names: rows.map(row => nameOf(section, row)),
        lists: spec.lists.map(([metric, label, name]) => ({
            label, colour: name,
            colours: several ? null
                : rows.map(row => style[section.lines.indexOf(row.line)].colour),
            values: rows.map(row => mean(row.case, metric)),
            low: spec.stacked ? null : rows.map(row => bound(row.case, metric, 1)),
            high: spec.stacked ? null : rows.map(row => bound(row.case, metric, 2)),
        })),
    });
}

// Fewer than three repetitions have no interval: the whiskers are then the least and the most.
function meanAbout(section) {
    const few = section.lines.some(line => line.cases.some(c => c.runs < 3));
    return "The mean of the repetitions, and " + (few ? "how far they reach: there are too few " +
        "for an interval." : "its 95 % interval.");
}

function drawPublished(parent, section, metric) {
    const rows = section.published.filter(row => row[metric] !== null);
    if (rows.length === 0) return;
    const style = looks(section);
    barChart(parent, {
        title: `${labelOf(metric)}, as published${data.year ? " in " + data.year : ""}`,
        about: "On the original's machine: compare the shape, not the scale.",
        xName: "system", sideways: true, format: formatOf(metric),
        pixels: barPixels(rows.map(row => row.system), 1), names: rows.map(row => row.system),
        lists: [{ label: "published", colour: "closing", faded: true,
                  colours: rows.map(row => row.line === null ? "closing" :
                      style[row.line].colour), values: rows.map(row => row[metric]) }],
    });
}

function drawFigure(parent, section, metric) {
    const beside = section.published.some(row => row[metric] !== null);
    const pair = beside ? pairIn(parent) : nextInPair(parent);
    if (beside) pair.dataset.filled = "yes";
    bars(pair, section, {
        title: `${labelOf(metric)}, here`, format: formatOf(metric),
        about: meanAbout(section), lists: [[metric, labelOf(metric), "handle"]],
    });
    drawPublished(pair, section, metric);
}

// What a chart tells more of than the table does.
const CHARTED = ["requests_per_second", "time_taken_seconds", "mean_seconds", "max_seconds",
                 "transfer_bytes_per_second", "failed", "error_share"];

function drawOneLoad(parent, section) {
    section.figures.filter(metric => CHARTED.includes(metric) && (known(section, metric) ||
        section.published.some(row => row[metric] > 0))).forEach(metric =>
        drawFigure(parent, section, metric));
    if (known(section, "connect_seconds"))
        bars(parent, section, {
            title: "Connecting and processing", format: asTime, stacked: true,
            about: "The mean of a request, as the client timed it: until the connection was " +
                "there, and from then to the last byte.",
            lists: [["connect_seconds", "connecting", "queue"],
                    ["processing_seconds", "processing", "handle"]],
        });
}

// ---- lines: a sweep -----------------------------------------------------------------------

function sweepSeries(section, metric) {
    const style = looks(section);
    return section.lines.map((line, i) => ({
        label: line.label, ...style[i], marks: true,
        points: line.cases.map(c => {
            const found = estimate(c, metric);
            return { from: c.x, to: c.x, y: found ? found[0] : null,
                     low: found ? found[1] : 0, high: found ? found[2] : 0 };
        }),
    }));
}

// All about the same, everywhere: nothing to be seen.
function isFlat(series) {
    const ys = series.flatMap(s => s.points.map(p => p.y)).filter(y => y !== null);
    return Math.max(...ys) <= Math.min(...ys) * 1.05;
}

// The original's charts are large, further ones in pairs.
function drawSweep(parent, section, metric, first) {
    const series = sweepSeries(section, metric);
    const xs = section.lines.flatMap(line => line.cases.map(c => c.x));
    const to = Math.max(...xs);
    if (!known(section, metric) || (!first && isFlat(series))) return;
    const step = to / Math.max(new Set(xs).size - 1, 1);
    lineChart(first ? parent : nextInPair(parent), {
        title: `${labelOf(metric)} by ${section.x}`, about: SWEPT_ABOUT[metric],
        format: formatOf(metric), suggestedMax: metric.endsWith("occupancy") ? 1 : undefined,
        xName: section.x, xText: asCount, xFormat: asCount, to: to * 1.02,
        pixels: first ? 360 : 250,
        series,
    }, group(to, step));
}

const SWEPT = ["mean_seconds", "time_taken_seconds", "requests_per_second", "error_share",
               "p99_seconds", "queue_mean_seconds", "php_wait_mean_seconds", "occupancy",
               "php_occupancy"];
const SWEPT_ABOUT = {
    mean_seconds: "As the client timed it, with the 95 % interval of the mean.",
    error_share: "Without answers that are only of another length than the first.",
    queue_mean_seconds: "Waiting for a worker of Apache's, which the client takes for a slow " +
        "answer.",
    php_wait_mean_seconds: "Waiting for a PHP worker.",
};

function drawSweeps(parent, section) {
    const first = section.figures.filter(metric => SWEPT.includes(metric) &&
        known(section, metric) && !isFlat(sweepSeries(section, metric))).slice(0, 2);
    first.forEach(metric => drawSweep(parent, section, metric, true));
    SWEPT.filter(metric => !first.includes(metric)).forEach(metric =>
        drawSweep(parent, section, metric, false));
}

// ---- what the original lacked -------------------------------------------------------------

function drawLacked(parent, section) {
    const load = section.x ? ", at the heaviest load" : "";
    bars(parent, section, {
        title: `Where a request's time went${load}`, format: asTime, stacked: true,
        about: "The mean at the server: the parts add up to its whole time.",
        lists: PARTS.filter(([metric]) => known(section, metric)),
    });
    const pair = pairIn(parent);
    pair.dataset.filled = "yes";
    bars(pair, section, {
        title: `Percentiles${load}`, format: asTime,
        about: "Half, nine tenths and 99 hundredths of the requests were answered within.",
        lists: [["p50_seconds", "p50", "handle"], ["p90_seconds", "p90", "php_wait"],
                ["p99_seconds", "p99", "queue"]].filter(([metric]) => known(section, metric)),
    });
    bars(pair, section, {
        title: `Workers busy${load}`, format: asShare, suggestedMax: 1,
        about: "The share of the workers' time, up to their limit: exact, not sampled.",
        lists: [["occupancy", "Apache's", "handle"], ["php_occupancy", "PHP's", "php_run"]]
            .filter(([metric]) => known(section, metric)),
    });
    bars(pair, section, {
        title: `Memory at its peak${load}`, format: asBytes,
        about: "All processes together. PSS counts what is shared once; RSS, added up, once for " +
            "each process.",
        lists: [["peak_pss_bytes", "PSS", "php_run"], ["peak_rss_bytes", "RSS", "closing"]]
            .filter(([metric]) => known(section, metric)),
    });
    bars(pair, section, {
        title: `Memory of a process${load}`, format: asBytes,
        about: "The same, divided by the number of processes then.",
        lists: [["pss_per_process_bytes", "PSS", "php_run"], ["rss_per_process_bytes", "RSS",
                "closing"]].filter(([metric]) => known(section, metric)),
    });
    bars(pair, section, {
        title: `Failures, by kind${load}`, format: asCount, stacked: true,
        about: "As the load tool tells them apart, the mean of the repetitions. An answer of " +
            "another length than the first is none.",
        lists: [["failed_length", "another length", "closing"],
                ["failed_connect", "no connection", "queue"],
                ["failed_receive", "no whole answer", "php_wait"],
                ["failed_timeout", "not in time", "send"], ["non_2xx", "not 2xx", "bad"]]
            .filter(([metric]) => known(section, metric)),
    });
    if (known(section, "forks"))
        bars(pair, section, {
            title: `Processes forked${load}`, format: asCount,
            about: "During the load, of all kinds.", lists: [["forks", "forked", "handle"]],
        });
    if (known(section, "no_idle_worker_seconds") || known(section, "php_no_idle_worker_seconds"))
        bars(pair, section, {
            title: `Time with no idle worker${load}`, format: asTime,
            about: "Requests that came then had to wait.",
            lists: [["no_idle_worker_seconds", "Apache's", "handle"],
                    ["php_no_idle_worker_seconds", "PHP's", "php_run"]]
                .filter(([metric]) => known(section, metric)),
        });
}

// ---- spawning -----------------------------------------------------------------------------

function drawSpawning(parent, section) {
    const style = looks(section), named = new Set();
    const runs = section.over_time.filter(run => run.spawn.t.length > 0).slice(0, CURVES_MOST);
    if (runs.length === 0) return;
    const reached = ({ t, processes }) => t[processes.indexOf(Math.max(...processes))];
    const ends = runs.map(run => run.spawn.t[run.spawn.t.length - 1]);
    const to = Math.min(1.15 * Math.max(...runs.map(run => reached(run.spawn)), 0.1),
                        Math.max(...ends, 0.1));
    const series = runs.map(run => {
        const again = named.has(run.line);
        named.add(run.line);
        const { t, processes } = run.spawn;
        return {
            ...style[run.line], width: again ? 1 : 2, step: true, unlisted: again,
            label: section.lines[run.line].label + (again ? `, repetition ${run.repetition}` : ""),
            points: t.map((from, i) => ({ from, to: i + 1 < t.length ? t[i + 1] : from,
                                          y: processes[i] })),
        };
    });
    lineChart(parent, {
        title: "Processes after the first request", format: asCount, to, whole: true, pixels: 360,
        about: "From fork events, at the millisecond: 0 is the arrival of the first request. " +
            "A line each repetition.",
        xName: "after", xText: asTime, series,
    }, group(to, to / 100));
    ["spawn_first_seconds", "spawn_all_seconds", "spawn_per_second"].filter(metric =>
        known(section, metric)).forEach(metric => bars(nextInPair(parent), section, {
            title: { spawn_first_seconds: "Until the first fork",
                     spawn_all_seconds: "Until all were there",
                     spawn_per_second: "Forks a second, in between" }[metric],
            about: meanAbout(section),
            format: formatOf(metric), lists: [[metric, labelOf(metric), "handle"]],
        }));
}

// ---- ramps --------------------------------------------------------------------------------

function overTime(run, side, column, scale) {
    const values = run[side] && run[side].over_time[column];
    return (values || []).map((y, i) => ({ from: i * run.bin_seconds, to: (i + 1) * run.bin_seconds,
                                           y: y === null ? null : y * (scale || 1) }));
}

function drawRamps(parent, section) {
    const style = looks(section);
    const runs = section.over_time.filter(run => run.server || run.client);
    if (runs.length === 0) return;
    const lengths = runs.map(run => run.bin_seconds * Math.max(
        ...["server", "client"].map(side => overTime(run, side, "completed").length)));
    const to = Math.max(...lengths), together = group(to, Math.min(...runs.map(
        run => run.bin_seconds)));
    const each = pick => runs.map(run => ({ ...style[run.line],
                                            label: section.lines[run.line].label,
                                            points: pick(run) }));
    const side = run => run.server ? "server" : "client";
    lineChart(parent, {
        title: "Rate over time", format: asRate, to, pixels: 280,
        about: "Requests that were completed, per second; dashed those that arrived. The first " +
            "repetition.",
        series: [...each(run => overTime(run, side(run), "completed", 1 / run.bin_seconds)),
                 ...each(run => overTime(run, side(run), "started", 1 / run.bin_seconds))
                     .map(s => ({ ...s, label: s.label + ", arrived", dash: [3, 3], width: 1 }))],
    }, together);
    const slow = each(run => overTime(run, run.client ? "client" : "server", "p50"));
    lineChart(parent, {
        title: "Response time over time (median)", format: asTime, to, pixels: 280,
        log: needsLog(slow.map(s => s.points)), series: slow,
        about: "Of the requests that ended then.",
    }, together);
    lineChart(parent, {
        title: "Errors over time", format: asRate, to, height: "low",
        about: "Answers with 5xx, and requests that the client gave up, per second.",
        series: each(run => overTime(run, side(run), "5xx", 1 / run.bin_seconds).map((p, i) => ({
            ...p, y: p.y === null ? null : p.y +
                ((overTime(run, side(run), "aborted", 1 / run.bin_seconds)[i] || {}).y || 0) })))
            .filter(s => s.points.some(p => p.y > 0)),
    }, together);
}

// ---- all of it ----------------------------------------------------------------------------

document.querySelectorAll(".charts[data-section]").forEach(element => {
    const section = data.sections[Number(element.dataset.section)];
    if (section.kind === "spawn") drawSpawning(element, section);
    else if (section.kind === "ramp") drawRamps(element, section);
    if (section.x) drawSweeps(element, section);
    else if (section.kind !== "spawn") drawOneLoad(element, section);
    drawLacked(element, section);
});
})();
