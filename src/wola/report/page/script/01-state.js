"use strict";
// What the page knows: the runs, what the user chose, and which runs that leaves. Texts of runs
// are only ever set as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const details = new Map(Object.entries(JSON.parse(document.getElementById("details").textContent)));
const rows = new Map();
// The strategies with the WoLA loss, each with its dataset and setting.
const withWola = new Set();
const FILTERS = {
  alpha: "alpha",
  f: "f",
  aggregator: "Aggregator",
  attack: "Attack",
  strategy: "Strategy",
};
const MEASURES = {
  accuracy: { title: "Accuracy", digits: 1, about: "Accuracy in %, mean over seeds (sd)." },
  worst: {
    title: "Worst case",
    digits: 1,
    about: "Accuracy in % under the worst attack on each aggregator, mean over seeds (sd).",
  },
  gain: {
    title: "Gain",
    digits: 1,
    about: "Points of accuracy above the best method without WoLA.",
  },
  dissimilarity: {
    title: "Dissimilarity",
    digits: 2,
    lower: true,
    about: "How far honest workers' momenta differ, mean over seeds (sd); lower is better.",
  },
};
// What the user chose; a focus or picks of null are left to the page, and follow new runs.
const state = {
  part: null,
  off: {},
  focus: null,
  picked: null,
  measure: "accuracy",
  all: false,
  stamp: "",
};
const view = { focus: null, picked: new Set() };
for (const name of Object.keys(FILTERS)) state.off[name] = new Set();

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

function groups(items, name) {
  const made = new Map();
  for (const item of items) {
    const value = name(item);
    if (!made.has(value)) made.set(value, []);
    made.get(value).push(item);
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
const own = (table, name) => (Object.hasOwn(table, name) ? table[name] : undefined);
const fixes = (strategy, axis) => own(data.fixed, strategy)?.includes(axis) ?? false;

// How a value of an axis is called.
const title = (value) => own(data.titles, value) ?? String(value);

function strategyTitle(name) {
  if (name === "-") return "– (rule alone)";
  return (own(data.strategies, name) ?? name).replace("-dagger", "†");
}

const titleOf = (axis) => (axis === "strategy" ? strategyTitle : title);

function ordered(kind, values) {
  const order = data.orders[kind] ?? [];
  const place = (value) => (order.includes(value) ? order.indexOf(value) : order.length);
  return unique(values).sort((a, b) => {
    if (typeof a === "number") return kind === "alpha" ? b - a : a - b;
    return place(a) - place(b) || (a < b ? -1 : 1);
  });
}

function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

const partOf = (row) => JSON.stringify([row.dataset, row.setting]);
const partTitle = (part) => {
  const [dataset, setting] = JSON.parse(part);
  return setting ? `${title(dataset)} · ${setting}` : title(dataset);
};

function parts() {
  const found = unique([...rows.values()].map(partOf));
  const order = ordered(
    "dataset",
    found.map((part) => JSON.parse(part)[0]),
  );
  const place = (part) => order.indexOf(JSON.parse(part)[0]);
  return found.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
}

const usesWola = (strategy) => withWola.has(JSON.stringify([state.part, strategy]));
const ofPart = () => [...rows.values()].filter((row) => partOf(row) === state.part);
const passes = (row, names) => names.every((name) => !state.off[name].has(row[name]));
const inFocus = (row) =>
  view.focus !== null && row.alpha === view.focus.alpha && row.f === view.focus.f;

function take(values) {
  const row = Object.fromEntries(data.fields.map((name, place) => [name, values[place]]));
  rows.set(row.key, row);
  if (row.wola) withWola.add(JSON.stringify([partOf(row), row.strategy]));
  return row;
}
