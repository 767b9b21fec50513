// flame.js - the flame graph of PHP's code: CPU time and waiting in one picture. A box is a
// function, as wide as its time; below it are those that it called. From the JSON in the page.
(function () {
"use strict";

const { asTime, asShare, make } = pieces;
const data = JSON.parse(document.getElementById("data").textContent);
const ROW = 18;                 // pixels
const NARROWEST = 2;            // pixels: a narrower box is not drawn
const NAME_LEAST = 30;          // pixels: a narrower one has no name

// ---- the tree -----------------------------------------------------------------------------

function node(name, about, component, parent) {
    return { name, about, component, parent, kind: null, seconds: 0, children: new Map() };
}

function child(parent, key, name, about, component) {
    if (!parent.children.has(key))
        parent.children.set(key, node(name, about, component, parent));
    return parent.children.get(key);
}

// kinds: "cpu" or waits that count. byComponent: below the root comes the component that pays.
function makeTree(code, kinds, byComponent) {
    const root = node("all", "", "", null);
    for (const [path, named, times] of code.stacks) {
        for (const [kind, seconds] of Object.entries(times).filter(([k]) => kinds(k))) {
            const way = [root];
            const step = (...of) => way.push(child(way[way.length - 1], ...of));
            if (byComponent) {
                const owner = named === null ? "(PHP itself)" : code.frames[named][3];
                step(`component ${owner}`, owner, "component", owner);
            }
            for (const index of path) {
                const [name, file, line, component] = code.frames[index];
                step(`${name} ${file}`, name, file ? `${file}:${line}` : "PHP itself", component);
            }
            if (kind !== "cpu") {
                step(`[${kind}]`, `waits: ${kind}`, "", "");
                way[way.length - 1].kind = kind;
            }
            way.forEach(part => { part.seconds += seconds; });
        }
    }
    return root;
}

function sorted(parent) {
    return [...parent.children.values()].sort((a, b) => b.seconds - a.seconds);
}

// ---- the picture --------------------------------------------------------------------------

// The same component has the same colour: its name chooses the hue.
function hueOf(text) {
    let hash = 0;
    for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)) % 360;
    return hash;
}

function draw(element, code) {
    const all = Object.keys(Object.assign({}, ...code.stacks.map(stack => stack[2])));
    const state = { kinds: "all", byComponent: false, root: null, zoomed: null, found: "" };
    const boxes = make("div", { class: "boxes", role: "tree", tabindex: "0",
                                "aria-label": "Flame graph of PHP's code" });
    const said = make("p", { class: "said", "aria-live": "polite" });
    const shown = make("select", { "aria-label": "What is shown" },
        make("option", { value: "all" }, "CPU time and waiting"),
        ...all.map(kind => make("option", { value: kind }, kind === "cpu" ? "CPU time" : kind)));
    const grouped = make("select", { "aria-label": "Grouped by" },
        make("option", { value: "script" }, "by script"),
        make("option", { value: "component" }, "by component"));
    const search = make("input", { type: "search", placeholder: "Find a function or file",
                                   "aria-label": "Find a function or file" });
    const out = make("button", { type: "button" }, "Show all");
    let selected = null, drawn = new Map();

    const matches = box => state.found !== "" &&
        `${box.name} ${box.about}`.toLowerCase().includes(state.found);
    const share = box => asShare(state.root.seconds > 0 ? box.seconds / state.root.seconds : 0);

    function say(box) {
        said.textContent = box ? [`${box.name}: ${asTime(box.seconds)}, ${share(box)}`, box.about]
            .filter(Boolean).join(" · ") : foundText();
    }
    // A function within one that is found is not counted twice.
    function foundText() {
        if (state.found === "") return "Click or Enter: zoom; arrows: move; Escape: all of it.";
        const sum = box => matches(box) ? box.seconds
            : sorted(box).reduce((total, inner) => total + sum(inner), 0);
        const seconds = sum(state.root);
        return `“${search.value}”: ${asTime(seconds)}, ` +
            asShare(state.root.seconds > 0 ? seconds / state.root.seconds : 0);
    }

    function select(box) {
        if (selected && drawn.has(selected)) {
            drawn.get(selected).removeAttribute("aria-selected");
        }
        selected = box;
        const shownBox = drawn.get(box);
        if (shownBox) {
            shownBox.setAttribute("aria-selected", "true");
            boxes.setAttribute("aria-activedescendant", shownBox.id);
        }
        say(box);
    }

    function zoom(box) {
        state.zoomed = box;
        paint();
        select(box);
    }

    function add(box, depth, left, width) {
        const label = `${box.name}, ${asTime(box.seconds)}, ${share(box)}`;
        const shownBox = make("div", { role: "treeitem", "aria-label": label, title:
            [label, box.about].filter(Boolean).join("\n") }, width >= NAME_LEAST ? box.name : "");
        shownBox.id = `${element.id}-${drawn.size}`;
        if (box.kind) shownBox.classList.add("wait", box.kind);
        else shownBox.style.setProperty("--hue", hueOf(box.component || box.name));
        if (matches(box)) shownBox.classList.add("found");
        Object.assign(shownBox.style, { left: `${left}px`, top: `${depth * ROW}px`,
                                        width: `${Math.max(width - 1, 1)}px` });
        shownBox.addEventListener("click", () => { boxes.focus(); zoom(box); });
        shownBox.addEventListener("mouseenter", () => say(box));
        shownBox.addEventListener("mouseleave", () => say(selected));
        drawn.set(box, shownBox);
        boxes.append(shownBox);
    }

    // Those that called what is zoomed to are as wide as it is.
    function paint() {
        const width = boxes.clientWidth, above = [];
        let deepest = 0;
        drawn = new Map();
        boxes.replaceChildren();
        for (let box = state.zoomed; box; box = box.parent) above.unshift(box);
        above.forEach((box, depth) => add(box, depth, 0, width));
        (function below(parent, depth, left, perSecond) {
            deepest = Math.max(deepest, depth);
            for (const box of sorted(parent)) {
                if (box.seconds * perSecond < NARROWEST) break;
                add(box, depth, left, box.seconds * perSecond);
                below(box, depth + 1, left, perSecond);
                left += box.seconds * perSecond;
            }
        })(state.zoomed, above.length, 0,
           state.zoomed.seconds > 0 ? width / state.zoomed.seconds : 0);
        boxes.style.height = `${(deepest + 1) * ROW}px`;
        out.disabled = state.zoomed === state.root;
    }

    function build() {
        state.root = makeTree(code, kind => state.kinds === "all" || kind === state.kinds,
                              state.byComponent);
        state.zoomed = state.root;
        selected = null;
        paint();
        say(null);
    }

    function move(key) {
        const box = selected && drawn.has(selected) ? selected : state.zoomed;
        const beside = box.parent ? sorted(box.parent).filter(b => drawn.has(b)) : [box];
        const at = beside.indexOf(box);
        const to = { ArrowUp: box.parent, ArrowDown: sorted(box).find(b => drawn.has(b)),
                     ArrowLeft: beside[at - 1], ArrowRight: beside[at + 1] }[key];
        if (to) select(to);
    }

    boxes.addEventListener("keydown", event => {
        if (event.key === "Enter" && selected) zoom(selected);
        else if (event.key === "Escape") zoom(state.root);
        else if (event.key.startsWith("Arrow")) move(event.key);
        else return;
        event.preventDefault();
    });
    shown.addEventListener("change", () => { state.kinds = shown.value; build(); });
    grouped.addEventListener("change", () => {
        state.byComponent = grouped.value === "component";
        build();
    });
    search.addEventListener("input", () => {
        state.found = search.value.trim().toLowerCase();
        paint();
        say(null);
    });
    out.addEventListener("click", () => zoom(state.root));
    element.replaceChildren(make("div", { class: "tools" }, shown, grouped, search, out), boxes,
                            said);
    new ResizeObserver(() => { if (boxes.clientWidth > 0) paint(); }).observe(boxes);
    build();
}

document.querySelectorAll(".flame").forEach((element, i) => {
    const code = data.runs[Number(element.dataset.run)]
        .servers[Number(element.dataset.server)].code;
    element.id = `flame-${i + 1}`;
    if (code) draw(element, code);
});
})();
