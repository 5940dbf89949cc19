// Elements, controls and small drawings that the sections share.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

/** An HTML element; strings among its children become plain text. */
const make = (name, attributes = {}, ...children) =>
  filled(document.createElement(name), attributes, children);

/** An SVG element. */
const draw = (name, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, name), attributes, children);

/** A name that CSS may cut; the whole name is in its title. */
const cut = (name) => make("span", { class: "cut", title: name }, name);

/** A box in which a wide or long table scrolls. */
const scrolling = (label, table, kind = "") =>
  make("div", { class: `table ${kind}`, role: "group", "aria-label": label, tabindex: "0" }, table);

/**
 * A labeled choice; `options` are pairs of value and text.
 * @param {string} label
 * @param {(string | number)[][]} options
 * @param {string | number} value
 * @param {(value: string) => void} changed
 */
function choice(label, options, value, changed) {
  const select = make("select", {}, ...options.map(([key, text]) => make("option", { value: key }, text)));
  select.value = value;
  select.addEventListener("change", () => changed(select.value));
  return make("label", { class: "control" }, make("span", {}, label), select);
}

/**
 * A labeled field whose text filters something.
 * @param {string} label
 * @param {(text: string) => void} changed
 */
function search(label, changed) {
  const input = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  input.addEventListener("input", () => changed(input.value.trim().toLowerCase()));
  return make("label", { class: "control" }, make("span", {}, label), input);
}

/**
 * @param {string} label
 * @param {boolean} checked
 * @param {(checked: boolean) => void} changed
 */
function tick(label, checked, changed) {
  const input = make("input", { type: "checkbox", checked });
  input.addEventListener("change", () => changed(input.checked));
  return make("label", { class: "control tick" }, input, make("span", {}, label));
}

const measureChoice = (value, changed) =>
  choice(
    "Measure",
    data.measures.map((name, at) => [at, name]),
    value,
    (text) => changed(Number(text)),
  );

/** @returns {[number, string][]} */
const runOptions = () => data.runs.map((name, run) => /** @type {[number, string]} */ ([run, name])).sort((a, b) => byName(a[1], b[1]));

/**
 * A column of a table whose rows are runs or queries; it sorts if it has a value.
 * @typedef {object} Column
 * @property {string} key
 * @property {string} head
 * @property {number} first the direction in which a first click sorts
 * @property {((row: number) => any) | null} value
 * @property {(a: number, b: number, way: number) => number} [compare]
 * @property {string | null} [group]
 * @property {number} [measure]
 * @property {string} [kind]
 * @property {(row: number) => (string | Node)[]} [cell]
 * @property {(row: number) => string} [title]
 */

/**
 * The head of a column with a button that sorts; without one if the column has no value to sort by.
 * `state` has sort (the key of a column) and direction; `redraw` fills `holder` again.
 * @param {Column} column
 * @param {{sort: string, direction: number}} state
 * @param {() => void} redraw
 * @param {HTMLElement} holder
 * @param {object} attributes
 */
function sortHead(column, state, redraw, holder, attributes = {}) {
  if (!column.value) return make("th", { scope: "col", ...attributes }, column.head);
  const name = [column.group, column.head].filter(Boolean).join(" ");
  const sorted = column.key === state.sort;
  const order = () => (state.direction > 0 ? "ascending" : "descending");
  const arrow = sorted ? { ascending: "↑", descending: "↓" }[order()] : "";
  const button = make(
    "button",
    { type: "button", class: "sort", "aria-label": name },
    column.head,
    make("span", { class: "arrow", "aria-hidden": "true" }, arrow),
  );
  button.addEventListener("click", () => {
    state.direction = state.sort === column.key ? -state.direction : column.first;
    state.sort = column.key;
    redraw();
    /** @type {HTMLElement | null} */ (holder.querySelector("th[aria-sort] button"))?.focus();
    announce(`Sorted by ${name}, ${order()}.`);
  });
  return make("th", { scope: "col", "aria-sort": sorted ? order() : null, ...attributes }, button);
}

/**
 * The items in the order that `state` asks for; equal ones in their own order, or turned as well.
 * @param {Column} column
 * @param {{sort: string, direction: number}} state
 * @param {Iterable<number>} items
 */
function sortedBy(column, state, items) {
  const ties = state.direction === column.first ? 1 : -1;
  const compare = column.compare ?? ((a, b, way) => byNumber(column.value(a), column.value(b), way));
  return [...items].sort((a, b) => compare(a, b, state.direction) || ties * (a - b));
}

const live = make("p", { class: "unseen", role: "status", "aria-live": "polite" });

/** Says something to users of screen readers. */
function announce(text) {
  live.textContent = text;
}

const tip = make("div", { class: "tip", hidden: true, "aria-hidden": "true" });

let tipTarget = null;

/** Shows the label of a cell, bar or point beside it. */
function showTip(target) {
  tipTarget = target;
  tip.textContent = target.getAttribute("aria-label");
  tip.hidden = false;
  const [box, size] = [target.getBoundingClientRect(), tip.getBoundingClientRect()];
  const room = document.documentElement.clientWidth - size.width - 8;
  const above = box.top - size.height - 6;
  tip.style.left = `${Math.max(8, Math.min(box.left + box.width / 2 - size.width / 2, room))}px`;
  tip.style.top = `${above > 0 ? above : box.bottom + 6}px`;
}

function hideTip() {
  tip.hidden = true;
  tip.removeAttribute("style");
  tipTarget = null;
}

/** After scrolling the tip follows what has the focus, and goes away otherwise. */
function moveTip() {
  if (tipTarget && tipTarget === document.activeElement) showTip(tipTarget);
  else hideTip();
}

/**
 * Makes the items of a box reachable by arrow keys, with one stop of the Tab key in all.
 * Items have `data-item` and an aria-label, which the tip shows. `rows()` has the visible items by row;
 * `act(item)` is called by a click, Enter or Space.
 */
function navigable(box, rows, act = null) {
  const itemOf = (event) => event.target.closest?.("[data-item]");
  const go = (item) => {
    for (const each of box.querySelectorAll("[data-item][tabindex='0']")) each.setAttribute("tabindex", "-1");
    item.setAttribute("tabindex", "0");
    item.focus();
  };
  rows()[0]?.[0]?.setAttribute("tabindex", "0");
  box.addEventListener("pointerover", (event) => {
    const item = itemOf(event);
    if (item) showTip(item);
    else hideTip();
  });
  box.addEventListener("pointerleave", hideTip);
  box.addEventListener("focusin", (event) => itemOf(event) && showTip(itemOf(event)));
  box.addEventListener("focusout", hideTip);
  box.addEventListener("click", (event) => {
    const item = itemOf(event);
    if (!item) return;
    go(item);
    act?.(item);
  });
  box.addEventListener("keydown", (event) => {
    const item = itemOf(event);
    if (!item || event.ctrlKey || event.altKey || event.metaKey) return;
    if (act && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      act(item);
      return;
    }
    const lines = rows();
    const row = lines.findIndex((line) => line.includes(item));
    const column = lines[row]?.indexOf(item);
    const next = {
      ArrowLeft: () => lines[row][column - 1],
      ArrowRight: () => lines[row][column + 1],
      ArrowUp: () => lines[row - 1]?.[column],
      ArrowDown: () => lines[row + 1]?.[column],
      Home: () => lines[row][0],
      End: () => lines[row].at(-1),
    }[event.key];
    if (!next || row < 0) return;
    event.preventDefault();
    const target = next();
    if (target) go(target);
  });
}

/**
 * Where a number stands between two ends, as pixels from 0 to `size`.
 * @param {number[]} ends
 * @param {number} size
 */
function scale([least, greatest], size) {
  const span = greatest - least || 1;
  return (value) => ((value - least) / span) * size;
}

/**
 * Round numbers between two ends, at most about `count`.
 * @param {number[]} ends
 * @param {number} count
 */
function ticks([least, greatest], count) {
  const rough = (greatest - least || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  const found = [];
  for (let at = Math.ceil(least / step - 1e-9); at * step <= greatest + step * 1e-9; at += 1)
    found.push(at * step);
  return found;
}

const axisNumber = (value) =>
  shown(value, 2)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");

/** A level from 1 to `levels` for a share between 0 and 1. */
const level = (share, levels) => Math.min(levels, Math.max(1, Math.ceil(share * levels)));

/** Rows of names, bars and numbers; `bars` have name, value, text and perhaps low and high. */
function barTable(caption, heads, bars, ends) {
  const width = 180;
  const x = scale(ends, width);
  const rows = bars.map(({ name, value, text, low, high, more = [] }) => {
    const bar = draw("svg", { class: "bar", width, height: 16, "aria-hidden": "true", focusable: "false" });
    if (known(value))
      bar.append(draw("rect", { class: "fill", y: 3, width: Math.max(1, x(value)), height: 10 }));
    if (known(low) && known(high)) {
      bar.append(draw("line", { class: "whisker", x1: x(low), x2: x(high), y1: 8, y2: 8 }));
    }
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, cut(name)),
      make("td", {}, bar),
      make("td", { class: "number" }, text),
      ...more.map((each) => make("td", { class: "number" }, each)),
    );
  });
  const [first, ...rest] = heads;
  return scrolling(
    caption,
    make(
      "table",
      {},
      make("caption", {}, make("span", {}, make("strong", {}, caption))),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", { scope: "col" }, first),
          make("th", { scope: "col" }, make("span", { class: "unseen" }, "bar")),
          ...rest.map((head) => make("th", { scope: "col", class: "number" }, head)),
        ),
      ),
      make("tbody", {}, ...rows),
    ),
  );
}
