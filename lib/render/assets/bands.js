// bands.js - charts over time: each series is a band on those before it.
const bands = (function () {
"use strict";

const { asTime, make } = pieces;
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 600, HEIGHT = 150;

// end: what the axis says at its right. nested: each value has those before it within, as
// percentiles have; else they add up.
function makeChart(title, about, series, format, { nested, end } = {}) {
    const svg = document.createElementNS(SVG, "svg");
    const legend = make("ul", { class: "legend" });
    const scale = make("span", { class: "scale" });
    const outputs = series.map(() => make("output", {}));
    const entries = series.map(([name, colour], i) =>
        make("li", {}, make("i", { class: colour }), name + " ", outputs[i]));
    legend.append(...entries);
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    const since = make("span", {});
    return {
        element: make("figure", {}, make("figcaption", {}, make("strong", {}, title), about),
            make("div", { class: "plot" }, svg, scale),
            make("div", { class: "axis" }, since, make("span", {}, end || "now")), legend),
        // steps: { from, to, values: one for each series, null where it is unknown }.
        draw(steps, limit) {
            const top = nested ? Math.max : (a, b) => a + b;
            const tops = steps.map(step => step.values.reduce((a, b) => top(a, b || 0), 0));
            const highest = Math.max(limit || 0, ...tops, 0);
            const last = steps[steps.length - 1];
            svg.replaceChildren(...paths(steps, series, highest, nested),
                                ...limitLine(limit, highest));
            outputs.forEach((output, i) => {
                output.textContent = !last ? "…" : last.values[i] === null ? "–"
                                                 : format(last.values[i]);
            });
            entries.forEach((entry, i) => {   // of what never was there is nothing to explain
                entry.hidden = steps.length > 0 && !steps.some(step => step.values[i] > 0);
            });
            svg.setAttribute("aria-label", title + ": " + entries.filter(entry => !entry.hidden)
                .map(entry => entry.textContent).join(", "));
            scale.textContent = highest > 0 ? format(highest) : "";
            since.textContent = last ? asTime(last.to - steps[0].from) + " ago" : "";
        },
    };
}

// Each series is a band on top of those before it, and constant during a step, whose mean it is.
function paths(steps, series, highest, nested) {
    if (steps.length === 0 || highest <= 0) return [];
    const start = steps[0].from, length = steps[steps.length - 1].to - start;
    const x = time => ((time - start) / length * WIDTH).toFixed(1);
    const y = value => (HEIGHT - value / highest * HEIGHT).toFixed(1);
    const below = steps.map(() => 0);
    return series.map(([, colour], nth) => {
        let d = "";
        steps.forEach((step, i) => {
            const height = (step.values[nth] || 0) - (nested ? below[i] : 0);
            if (height > 0)
                d += `M${x(step.from)} ${y(below[i])}V${y(below[i] + height)}H${x(step.to)}`
                    + `V${y(below[i])}Z`;
            below[i] += Math.max(0, height);
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

// Draws steps {at, seconds}: values(step, nth) gives a chart's values of one.
function drawSteps(chart, steps, values, line) {
    chart.draw(steps.map((step, nth) =>
        ({ from: step.at - step.seconds, to: step.at, values: values(step, nth) })), line);
}

return { makeChart, drawSteps };
})();
