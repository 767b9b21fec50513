// charts.js - what the charts of the report's pages are made of: figures with a legend that hides
// and shows series and a table behind them, lines, bars, the cursor and the zoom that charts share,
// the theme, printing. A page's own script (report.js, study.js) draws with it, from the JSON in
// the page.
const mpmstat = (function () {
"use strict";

const { scaled, asTime, asCount, asRate, asShare, asBytes, make } = pieces;
const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const AXIS_WIDTH = 62;          // of every y axis, so that charts over time line up
const PLOT_RIGHT = 20;
const NAME_WIDTH = 24;          // characters in a line of a bar's name

// ---- numbers ------------------------------------------------------------------------------

// On an axis: as short as it goes.
function short(format) {
    return value => format(value).replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");
}

// ---- the document -------------------------------------------------------------------------

const probe = make("span", { class: "hidden", "aria-hidden": "true" });
document.body.append(probe);
// A colour by its name in report.css, in the present theme.
function colour(name) {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
}
function faded(rgb, alpha) {
    return rgb.replace(/^rgb\(([^)]*)\)$/, `rgba($1, ${alpha})`);
}

const announcer = make("div", { class: "hidden", "aria-live": "polite" });
document.body.append(announcer);
function announce(text) { announcer.textContent = text; }

// ---- figures: drawn when they come into view ----------------------------------------------

const figures = [];
const observer = new IntersectionObserver(entries => {
    for (const entry of entries)
        if (entry.isIntersecting) figures.find(f => f.element === entry.target).draw();
}, { rootMargin: "400px" });

function drawAll() { figures.forEach(figure => figure.draw()); }
function redraw() {
    figures.filter(figure => figure.drawn).forEach(figure => { figure.clear(); figure.draw(); });
}

// spec: title, about, height; columns and rows() for the table; paint(canvas) returns what
// clear() destroys. Returns the figure's parts.
function figure(parent, spec) {
    const canvas = make("canvas", { role: "img", tabindex: "0", "aria-label": spec.label });
    const legend = make("ul", { class: "legend" });
    const plot = make("div", { class: "plot " + (spec.height || "") }, canvas);
    if (spec.pixels) plot.style.height = `${spec.pixels}px`;
    const table = make("details", {}, make("summary", {}, "As a table"));
    const element = make("figure", {},
        make("figcaption", {}, make("strong", {}, spec.title),
            spec.about ? make("span", {}, spec.about) : null),
        plot, legend, table);
    const self = {
        element, canvas, legend, plot, drawn: null,
        draw() {
            if (!this.drawn) this.drawn = spec.paint(this);
            element.dataset.drawn = "";
        },
        clear() {
            if (this.drawn && this.drawn.destroy) this.drawn.destroy();
            this.drawn = null;
            legend.replaceChildren();
        },
    };
    table.addEventListener("toggle", () => {
        if (table.open && table.children.length === 1) table.append(makeTable(spec));
    });
    parent.append(element);
    figures.push(self);
    observer.observe(element);
    return self;
}

function makeTable(spec) {
    const body = make("tbody");
    for (const row of spec.rows())
        body.append(make("tr", {}, ...row.map((text, i) =>
            make(i === 0 ? "th" : "td", i === 0 ? { scope: "row" } : {}, text))));
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": spec.title },
        make("table", {}, make("thead", {}, make("tr", {}, ...spec.columns.map(name =>
            make("th", { scope: "col" }, name)))), body));
}

function key(series) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const mark = document.createElementNS("http://www.w3.org/2000/svg",
        series.fill ? "rect" : series.dots ? "circle" : "line");
    const set = (element, attributes) => {
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    };
    set(svg, { width: 22, height: 12, class: "key", "aria-hidden": "true" });
    if (series.fill)
        set(mark, { x: 4, width: 14, height: 12, rx: 2, fill: colour(series.colour) });
    else if (series.dots)
        set(mark, { cx: 11, cy: 6, r: 4, fill: colour(series.colour) });
    else
        set(mark, { x1: 0, x2: 22, y1: 6, y2: 6, "stroke-width": series.width || 2,
                    stroke: colour(series.colour),
                    "stroke-dasharray": (series.dash || []).join(" ") });
    svg.append(mark);
    return svg;
}

// With toggle(index, shown) each entry is a button that hides its series, or shows it again.
function fillLegend(figure, list, toggle) {
    return list.map((series, i) => {
        const output = make("output");
        if (series.unlisted) return output;
        const entry = toggle ? make("button", { type: "button", class: "toggle",
                                                "aria-pressed": String(!series.hidden) },
                                    key(series), series.label) : null;
        if (entry)
            entry.addEventListener("click", () => {
                const shown = entry.getAttribute("aria-pressed") !== "true";
                entry.setAttribute("aria-pressed", String(shown));
                toggle(i, shown);
            });
        figure.legend.append(entry ? make("li", {}, entry, output)
                                   : make("li", {}, key(series), series.label + " ", output));
        return output;
    });
}

// ---- the cursor and the view that charts share --------------------------------------------

const VIEW_LEAST = 2;           // of the group's steps: nothing narrower is shown
const DRAG_LEAST = 6;           // pixels: less is a click
const ZOOM = 0.5, PAN = 0.25;   // of what is shown, for each press

// The time of day, UTC, of an instant in milliseconds.
function clock(instant, fine) { return new Date(instant).toISOString().slice(11, fine ? 21 : 19); }

// Charts of one run over time move together: a cursor at x, and what is shown, from...to. started:
// the instant of 0, in milliseconds, where the axis is time. marked: the times of findings, each
// with code, from and to. A member has at(x), show(x), readout(x), zoom().
function group(seconds, step, started, marked) {
    return {
        members: [], x: null, waiting: false, seconds, step, from: 0, to: seconds, picked: null,
        started: Number.isFinite(started) ? started : null, marked: marked || [], tools: [],
        move(x) {
            this.x = x === null ? null : Math.min(Math.max(x, 0), this.seconds);
            if (this.waiting) return;
            this.waiting = true;
            requestAnimationFrame(() => {
                this.waiting = false;
                this.members.forEach(member => member.show(this.x));
            });
        },
        view(from, to) {
            const width = Math.min(Math.max(to - from, VIEW_LEAST * this.step), this.seconds);
            this.from = Math.min(Math.max(from, 0), this.seconds - width);
            this.to = this.from + width;
            this.members.forEach(member => member.zoom());
            this.tools.forEach(tell => tell());
        },
        zoom(factor) {
            const at = this.x !== null && this.x > this.from && this.x < this.to ? this.x
                : (this.from + this.to) / 2;
            this.view(at - (at - this.from) * factor, at + (this.to - at) * factor);
        },
        pan(part) {
            const by = part * (this.to - this.from);
            this.view(this.from + by, this.to + by);
        },
        all() { this.view(0, this.seconds); },
    };
}

// Buttons for what the pointer and the keys do, too.
function zoomTools(group) {
    const output = make("output");
    const button = (text, name, act) => {
        const element = make("button", { type: "button", title: name, "aria-label": name }, text);
        element.addEventListener("click", act);
        return element;
    };
    const tell = () => {
        const fine = group.to - group.from < 10;
        output.textContent = `${scaled(group.from, " s")} to ${scaled(group.to, " s")}` +
            (group.started === null ? "" : `, ${clock(group.started + group.from * 1000, fine)} ` +
             `to ${clock(group.started + group.to * 1000, fine)} UTC`);
    };
    group.tools.push(tell);
    tell();
    const marks = group.marked.map(mark => make("span", { class: "mark" },
        `${mark.code}: ${scaled(mark.from, " s")} to ${scaled(mark.to, " s")}`));
    return make("div", { class: "zoom", role: "group", "aria-label": "What all charts show" },
        button("+", "Zoom in", () => group.zoom(ZOOM)),
        button("−", "Zoom out", () => group.zoom(1 / ZOOM)),
        button("←", "Earlier", () => group.pan(-PAN)),
        button("→", "Later", () => group.pan(PAN)),
        button("All", "Show all", () => group.all()), output, ...marks);
}

function listenToKeys(group, canvas, member) {
    canvas.addEventListener("keydown", event => {
        const x = group.x === null ? group.from : group.x;
        const views = { "+": () => group.zoom(ZOOM), "=": () => group.zoom(ZOOM),
                        "-": () => group.zoom(1 / ZOOM), "0": () => group.all() };
        const pans = { ArrowLeft: -PAN, ArrowRight: PAN };
        const to = { ArrowLeft: x - group.step, ArrowRight: x + group.step, Home: 0,
                     End: group.seconds, Escape: null }[event.key];
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (views[event.key]) {
            event.preventDefault();
            views[event.key]();
        } else if (event.shiftKey && pans[event.key]) {
            event.preventDefault();
            group.pan(pans[event.key]);
        } else if (to !== undefined) {
            event.preventDefault();
            group.move(to);
            if (to !== null && (to < group.from || to > group.to))
                group.pan(to < group.from ? -PAN : PAN);
            announce(to === null ? "" : member.readout(Math.max(0, to)));
        }
    });
}

// What is dragged over is shown larger; a double click shows all; a wheel with Ctrl zooms.
function listenToDrags(group, canvas, at) {
    let began = null;
    const end = () => {
        began = null;
        group.picked = null;
        group.move(group.x);
    };
    canvas.addEventListener("pointerdown", event => {
        if (event.pointerType === "touch" || event.button !== 0) return;
        began = { pixel: event.clientX, x: at(event) };
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
        if (began) group.picked = [began.x, at(event)];
    });
    canvas.addEventListener("pointerup", event => {
        const from = began;
        end();
        if (from && Math.abs(event.clientX - from.pixel) >= DRAG_LEAST)
            group.view(Math.min(from.x, at(event)), Math.max(from.x, at(event)));
    });
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("dblclick", () => group.all());
    canvas.addEventListener("wheel", event => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        group.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM);
    }, { passive: false });
}

function listen(group, canvas, member) {
    const at = event => member.at(event.clientX - canvas.getBoundingClientRect().left);
    canvas.addEventListener("pointermove", event => group.move(at(event)));
    canvas.addEventListener("pointerdown", event => group.move(at(event)));
    canvas.addEventListener("pointerleave", event => {
        if (event.pointerType === "mouse") group.move(null);
    });
    listenToDrags(group, canvas, at);
    listenToKeys(group, canvas, member);
}

// atX: where an x of the group is in the picture.
function drawPicked(context, group, atX, area) {
    if (!group.picked) return;
    const [from, to] = group.picked.map(x => Math.min(Math.max(atX(x), area.left), area.right));
    context.save();
    context.fillStyle = colour("accent");
    context.globalAlpha = 0.18;
    context.fillRect(Math.min(from, to), area.top, Math.abs(to - from), area.bottom - area.top);
    context.restore();
}

// The times in which findings hold that hold in a part of the run.
function drawMarked(context, group, atX, area) {
    context.save();
    context.fillStyle = colour("limit");
    context.globalAlpha = 0.12;
    group.marked.forEach(mark => {
        const [from, to] = [mark.from, mark.to]
            .map(x => Math.min(Math.max(atX(x), area.left), area.right));
        context.fillRect(from, area.top, to - from, area.bottom - area.top);
    });
    context.restore();
}

function drawCursor(context, x, area) {
    if (x < area.left || x > area.right) return;
    context.save();
    context.strokeStyle = colour("ink");
    context.globalAlpha = 0.55;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, area.top);
    context.lineTo(Math.round(x) + 0.5, area.bottom);
    context.stroke();
    context.restore();
}

// ---- charts with Chart.js -----------------------------------------------------------------

Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.plugins.legend.display = false;
Chart.defaults.plugins.tooltip.enabled = false;
Chart.defaults.font.size = 11;
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;

function yAxis(spec, stacked) {
    const log = spec.log;
    return {
        type: log ? "logarithmic" : "linear", stacked, beginAtZero: !log,
        suggestedMax: spec.suggestedMax, min: spec.min,
        grid: { color: faded(colour("line"), 0.8), borderColor: colour("line"), tickLength: 4 },
        ticks: { color: colour("quiet"), maxTicksLimit: log ? 20 : 5, padding: 4,
                 precision: spec.whole ? 0 : undefined,
                 callback(value) {
                     if (log && Math.abs(Math.log10(value) - Math.round(Math.log10(value))) > 1e-6)
                         return null;
                     return short(spec.format)(value);
                 } },
        afterFit(axis) { axis.width = AXIS_WIDTH; },
    };
}

// Over time, a tick has the time since the start of the load and, beneath it, the time of day.
function xAxis(spec, together) {
    const text = short(spec.xFormat || (v => scaled(v, " s")));
    const timed = together && together.started !== null;
    return {
        type: "linear", min: together ? together.from : spec.from || 0,
        max: together ? together.to : spec.to,
        grid: { color: faded(colour("line"), 0.5), borderColor: colour("line"), tickLength: 4 },
        ticks: { color: colour("quiet"), maxRotation: 0, autoSkipPadding: 24,
                 includeBounds: false,
                 callback: value => timed ? [text(value), clock(
                     together.started + value * 1000, value % 1 !== 0)] : text(value) },
        afterFit(axis) { axis.paddingLeft = axis.paddingRight = 0; },
        afterBuildTicks: spec.ticks ? axis => {
            axis.ticks = spec.ticks.filter(({ value }) => value >= axis.min - 1e-9 &&
                                           value <= axis.max + 1e-9);
        } : undefined,
    };
}

// A step is a value from one end of its bin to the other, a line goes through their middles.
// A point with nothing on either side would not be seen as a line: it gets a dot.
function dataset(series, order) {
    const [first] = series.points;
    const alone = series.points.length === 1 && first.from < first.to;
    const points = !series.step && !alone
        ? series.points.map(p => ({ x: (p.from + p.to) / 2, y: p.y }))
        : series.points.flatMap(p => [{ x: p.from, y: p.y }, { x: p.to, y: p.y }]);
    const lone = i => points[i].y !== null && (i === 0 || points[i - 1].y === null) &&
        (i + 1 >= points.length || points[i + 1].y === null);
    return {
        label: series.label, data: points, order: series.fill ? 1000 + order : order,
        borderColor: colour(series.colour), borderWidth: series.stack ? 0 : series.width || 2,
        backgroundColor: faded(colour(series.colour), series.stack ? 1 : 0.25),
        borderDash: series.dash || [], fill: series.fill ? "origin" : false,
        pointRadius: series.fill ? 0 : series.dots ? 3.5 : series.marks ? 3 : context =>
            points[context.dataIndex] && lone(context.dataIndex) ? 2 : 0,
        pointBackgroundColor: colour(series.colour), pointHitRadius: 0, pointHoverRadius: 0,
        showLine: !series.dots, hidden: Boolean(series.hidden),
    };
}

// Stacked series are drawn from the highest to the lowest, each over the one before, down to
// 0: their edges are then those of the bins. Values shown stay the series' own. What is hidden
// adds nothing.
function datasets(list) {
    const sums = [];
    const stacked = series => ({ ...series, points: series.points.map((p, i) => {
        if (p.y !== null) sums[i] = (sums[i] || 0) + p.y;
        return { ...p, y: p.y === null ? null : sums[i] };
    }) });
    return list.map((series, order) => dataset(
        series.stack && !series.hidden ? stacked(series) : series, order));
}

// Of points that are not spans (a quantile's, a run's) it is the last one before x.
function valueAt(series, x) {
    const points = series.points, last = points[points.length - 1];
    if (points.length === 0 || x < points[0].from) return undefined;
    const at = points.findIndex((p, i) => p.from === p.to
        ? i + 1 >= points.length || x < points[i + 1].from : x >= p.from && x < p.to);
    return at >= 0 ? points[at].y : x === last.to ? last.y : undefined;
}

// From low to high, at places along a bar's end or a point: intervals.
function drawWhisker(context, sideways, at, low, high) {
    const half = 3.5, line = (a, b) => {
        context.moveTo(...(sideways ? a : a.slice().reverse()));
        context.lineTo(...(sideways ? b : b.slice().reverse()));
    };
    context.beginPath();
    line([low, at], [high, at]);
    line([low, at - half], [low, at + half]);
    line([high, at - half], [high, at + half]);
    context.stroke();
}

function whiskersOfLines(series) {
    return { id: "whiskers", afterDatasetsDraw(chart) {
        const context = chart.ctx, y = chart.scales.y, x = chart.scales.x;
        context.save();
        context.globalAlpha = 0.6;
        for (const s of series) {
            context.strokeStyle = colour(s.colour);
            for (const p of s.hidden ? [] : s.points)
                if (p.y !== null && p.low < p.high)
                    drawWhisker(context, false, x.getPixelForValue((p.from + p.to) / 2),
                                y.getPixelForValue(p.low), y.getPixelForValue(p.high));
        }
        context.restore();
    } };
}

// Series of {label, colour, points: [{from, to, y}]} over a common x; a point may have an
// interval, low to high.
function lineChart(parent, spec, together) {
    spec.series = spec.series.filter(s => s.points.some(p => p.y !== null));
    if (spec.series.length === 0) return null;
    const xName = spec.xName || "from";
    const xText = spec.xText || (x => scaled(x, " s"));
    const longest = spec.series.reduce((a, b) => a.points.length >= b.points.length ? a : b);
    spec.columns = [xName, ...spec.series.map(s => s.label)];
    spec.rows = () => longest.points.map(p => [xText(p.from), ...spec.series.map(s => {
        const y = valueAt(s, p.from + (p.to - p.from) / 2);
        return y === undefined ? "" : y === null ? "–" : spec.format(y);
    })]);
    spec.label = spec.title + ". " + spec.series.map(s => {
        const ys = s.points.map(p => p.y).filter(y => y !== null);
        return `${s.label}: ${spec.format(Math.min(...ys))} to ${spec.format(Math.max(...ys))}`;
    }).join("; ") + (together ? ". Arrow keys move the cursor, + and - zoom, 0 shows all." : ".");
    const member = { at: () => 0, show() {}, readout: () => "", zoom() {} };
    spec.paint = figure => {
        const place = make("output"), outputs = fillLegend(figure, spec.series, (i, shown) => {
            spec.series.forEach((s, k) => {
                if (k === i || s.family !== undefined && s.family === spec.series[i].family)
                    s.hidden = !shown;
            });
            chart.data.datasets = datasets(spec.series);
            chart.update("none");
        });
        if (together) figure.legend.append(make("li", {}, place));
        const chart = new Chart(figure.canvas, {
            type: "line",
            data: { datasets: datasets(spec.series) },
            options: {
                parsing: false, normalized: true, spanGaps: false, events: [],
                layout: { padding: { right: PLOT_RIGHT, top: 6 } },
                scales: { x: xAxis(spec, together), y: yAxis(spec, false) },
            },
            plugins: [whiskersOfLines(spec.series), { id: "marked", beforeDatasetsDraw(c) {
                if (together)
                    drawMarked(c.ctx, together, x => c.scales.x.getPixelForValue(x), c.chartArea);
            } }, { id: "cursor", afterDatasetsDraw(c) {
                if (!together) return;
                const atX = x => c.scales.x.getPixelForValue(x);
                if (together.x !== null) drawCursor(c.ctx, atX(together.x), c.chartArea);
                drawPicked(c.ctx, together, atX, c.chartArea);
            } }],
        });
        member.zoom = () => {
            chart.options.scales.x.min = together.from;
            chart.options.scales.x.max = together.to;
            chart.update("none");
        };
        member.at = pixel => chart.scales.x.getValueForPixel(pixel);
        member.show = x => {
            place.textContent = x === null ? "" : "at " + xText(x) + (together.started === null ? ""
                : `, ${clock(together.started + x * 1000, true)} UTC`);
            outputs.forEach((output, i) => {
                const y = x === null ? undefined : valueAt(spec.series[i], x);
                output.textContent = y === undefined || y === null ? "" : spec.format(y);
            });
            chart.draw();
        };
        member.readout = x => `${xText(x)}: ` + spec.series.map(s => {
            const y = valueAt(s, x);
            return y === undefined || y === null ? null : `${s.label} ${spec.format(y)}`;
        }).filter(Boolean).join(", ");
        return { chart, destroy() {
            chart.destroy();
            member.show = member.zoom = () => {};
        } };
    };
    const made = figure(parent, spec);
    if (together) {
        together.members.push(member);
        listen(together, made.canvas, member);
    }
    return made;
}

function largest(points) { return points.reduce((most, p) => Math.max(most, p.y || 0), 0); }
function needsLog(lists) {
    const ys = lists.flat().map(p => p.y).filter(y => y > 0);
    return ys.length > 0 && Math.max(...ys) / Math.min(...ys) > 200;
}

const RUN_COLOURS = ["handle", "queue", "php_run", "send", "php_wait", "read", "client", "closing"];
const RUN_DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

// A list of bars may have intervals: low and high, one each.
function whiskersOfBars(spec) {
    return { id: "whiskers", afterDatasetsDraw(chart) {
        const context = chart.ctx;
        context.save();
        context.strokeStyle = colour("ink");
        spec.lists.forEach((list, i) => (list.low || []).forEach((low, at) => {
            if (list.hidden) return;
            const bar = chart.getDatasetMeta(i).data[at], scale = chart.scales[
                spec.sideways ? "x" : "y"];
            if (bar && low !== null && low < list.high[at])
                drawWhisker(context, Boolean(spec.sideways), spec.sideways ? bar.y : bar.x,
                            scale.getPixelForValue(low), scale.getPixelForValue(list.high[at]));
        }));
        context.restore();
    } };
}

// A long name in lines, broken between words.
function inLines(name) {
    const lines = [];
    for (const word of name.split(" ")) {
        const last = lines[lines.length - 1];
        if (last !== undefined && last.length + 1 + word.length <= NAME_WIDTH)
            lines[lines.length - 1] = `${last} ${word}`;
        else lines.push(word);
    }
    return lines.length > 1 ? lines : name;
}

// One for all bars of the list, or one each; faded is what is only there to compare with.
function barColours(list) {
    if (!list.colours) return colour(list.colour);
    return list.colours.map(name => list.faded ? faded(colour(name), 0.45) : colour(name));
}

function barChart(parent, spec) {
    spec.label = spec.title + ". " + spec.names.slice(0, 12).map((name, i) =>
        `${name}: ${spec.lists.map(l => spec.format(l.values[i])).join(", ")}`).join("; ");
    spec.columns = [spec.xName, ...spec.lists.map(l => l.label)];
    spec.rows = () => spec.names.map((name, i) => [name, ...spec.lists.map(l =>
        spec.format(l.values[i]))]);
    spec.paint = figure => {
        if (spec.lists.length > 1 || !spec.lists[0].colours)
            fillLegend(figure, spec.lists.map(l => ({ ...l, fill: true })), (i, shown) => {
                spec.lists[i].hidden = !shown;
                chart.setDatasetVisibility(i, shown);
                chart.update("none");
            });
        const value = { ...yAxis(spec, spec.stacked), afterFit: undefined };
        const name = { stacked: spec.stacked, grid: { display: false, borderColor: colour("line") },
                       ticks: { color: colour("quiet"), maxRotation: 0,
                                autoSkip: !spec.sideways } };
        const chart = new Chart(figure.canvas, {
            type: "bar",
            data: { labels: spec.names.map(inLines), datasets: spec.lists.map(l => ({
                label: l.label, data: l.values, backgroundColor: barColours(l),
                hidden: Boolean(l.hidden),
                barPercentage: 0.9, categoryPercentage: 0.9, maxBarThickness: 34 })) },
            options: { indexAxis: spec.sideways ? "y" : "x", events: [],
                       layout: { padding: { right: PLOT_RIGHT, top: 6 } },
                       scales: spec.sideways ? { x: value, y: name } : { x: name, y: value } },
            plugins: [whiskersOfBars(spec)],
        });
        return { chart, destroy() { chart.destroy(); } };
    };
    return figure(parent, spec);
}

// ---- the page -----------------------------------------------------------------------------

function addThemeSwitch() {
    const button = make("button", { type: "button" });
    const dark = () => root.dataset.theme ? root.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
    const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
    button.addEventListener("click", () => {
        root.dataset.theme = dark() ? "light" : "dark";
        name();
        redraw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        name();
        redraw();
    });
    name();
    document.getElementById("controls").append(button);
}

// Charts are drawn again for paper, which is light and has another width.
function preparePrinting() {
    let theme;
    window.addEventListener("beforeprint", () => {
        theme = root.dataset.theme;
        root.dataset.theme = "light";
        document.body.style.maxWidth = "720px";
        drawAll();
        redraw();
    });
    window.addEventListener("afterprint", () => {
        if (theme) root.dataset.theme = theme;
        else delete root.dataset.theme;
        document.body.style.maxWidth = "";
        redraw();
    });
}

// A link to a run that is folded opens it, and what it is folded in.
function openWhatIsLinked() {
    const open = () => {
        const target = location.hash && document.getElementById(location.hash.slice(1));
        if (!target) return;
        const details = target.querySelector(":scope > details");
        if (details) details.open = true;
        for (let around = target; around; around = around.parentElement)
            if (around.tagName === "DETAILS") around.open = true;
        target.scrollIntoView();
    };
    window.addEventListener("hashchange", open);
    open();
}

addThemeSwitch();
preparePrinting();
openWhatIsLinked();
return {
    data, scaled, asTime, asCount, asRate, asShare, asBytes, short, make, colour, figure,
    fillLegend, group, zoomTools, clock, announce, listen, drawCursor, drawPicked, lineChart,
    barChart, largest, needsLog, AXIS_WIDTH, PLOT_RIGHT, RUN_COLOURS, RUN_DASHES,
};
})();
