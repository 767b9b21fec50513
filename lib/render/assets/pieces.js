// pieces.js - shared by the scripts of all pages: numbers for people, elements.
const pieces = (function () {
"use strict";

// ---- numbers for people, formatted as in the tool's own output ---------------------------

function scaled(value, unit) {
    const magnitude = Math.abs(value);
    return value.toFixed(magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0) + unit;
}
function known(format) {
    return value => value === null || value === undefined || Number.isNaN(value)
        ? "not known" : format(value);
}
const asTime = known(value => {
    const magnitude = Math.abs(value);
    if (magnitude === 0) return "0";
    if (magnitude < 0.0009995) return scaled(value * 1e6, " µs");
    return magnitude < 0.9995 ? scaled(value * 1e3, " ms") : scaled(value, " s");
});
const asCount = known(value => Number.isInteger(value) ? String(value) : scaled(value, ""));
const asRate = known(value => scaled(value, "/s"));
const asShare = known(value => (value * 100).toFixed(1) + " %");
const asBytes = known(value => {
    const units = [" B", " kB", " MB", " GB", " TB"];
    let i = 0;
    for (; Math.abs(value) >= 999.5 && i < units.length - 1; i++) value /= 1000;
    return scaled(value, units[i]);
});
// ---- the document -------------------------------------------------------------------------

function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
        if (value !== null && value !== undefined) element.setAttribute(name, value);
    element.append(...children.filter(child => child !== null));
    return element;
}

return { scaled, asTime, asCount, asRate, asShare, asBytes, make };
})();
