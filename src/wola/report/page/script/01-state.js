"use strict";
// What the page knows, what the user chose, and the small tools that all of it is made with. Texts
// of runs are only ever set as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const details = new Map(Object.entries(JSON.parse(document.getElementById("details").textContent)));
const rows = new Map();
// The strategies with the WoLA loss, each with its dataset and setting.
const withWola = new Set();

// What the user can choose; what is null is left to the page, and follows new runs.
const unchosen = () => ({
  part: null,
  off: {},
  rows: null,
  columns: null,
  focus: null,
  picked: null,
  measure: "accuracy",
  across: null,
  cell: null,
  sort: null,
  search: "",
  more: 1,
  run: null,
});
const state = unchosen();
// What that comes to among the runs that are there.
const view = { rows: "strategy", columns: [], arranged: false, focus: null, picked: new Set() };

// What was computed from the runs, until there are others.
const computed = new Map();
function once(name, compute) {
  if (!computed.has(name)) computed.set(name, compute());
  return computed.get(name);
}

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function make(tag, properties = {}, ...children) {
  const node = tag.startsWith("svg:")
    ? document.createElementNS(SVG, tag.slice(4))
    : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

function button(id, label, press, properties = {}) {
  return make("button", { type: "button", class: "button", id, onclick: press, ...properties }, label);
}

function groups(items, name) {
  const made = new Map();
  for (const item of items) {
    const value = name(item);
    const same = made.get(value);
    if (same) same.push(item);
    else made.set(value, [item]);
  }
  return made;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const unique = (values) => [...new Set(values)];

function deviation(values) {
  if (values.length < 2) return null;
  const middle = mean(values);
  return Math.sqrt(
    values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1),
  );
}

// As Python prints numbers: what lies exactly between two goes to the even one.
function fixed(value, digits) {
  const halves = value * 2 ** (digits + 1);
  if (Number.isInteger(halves) && halves % 2 !== 0) {
    const below = Math.floor(value * 10 ** digits);
    return ((below % 2 === 0 ? below : below + 1) / 10 ** digits).toFixed(digits);
  }
  return value.toFixed(digits);
}

const signed = (value, digits) => (value < 0 ? "−" : "+") + fixed(Math.abs(value), digits);
const short = (value) => String(Number(value.toPrecision(3)));
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const own = (table, name) =>
  table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;

function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function take(values) {
  const row = {};
  data.fields.forEach((name, place) => {
    row[name] = values[place];
  });
  rows.set(row.key, row);
  row.base = JSON.stringify([row.dataset, row.setting]);
  if (row.wola) withWola.add(`${row.base} ${row.strategy}`);
  return row;
}

// Takes a choice over into the page and its address.
function choose(changes, options) {
  Object.assign(state, changes);
  writeLink(options);
  render();
}
