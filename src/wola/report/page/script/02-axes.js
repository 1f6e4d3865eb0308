// What runs can be arranged by: the axes, their values, how those are called, and which runs may
// stand in one table.

const AXES = {
  strategy: "Strategy",
  aggregator: "Aggregator",
  attack: "Attack",
  loss: "Loss",
  mixing: "Mixing",
  objective: "Objective",
  objective_attack: "Objective attack",
  dataset: "Dataset",
  alpha: "alpha",
  f: "f",
};
// What a table is filtered by in any case, and what the rows are if nothing is chosen: the first
// that varies.
const FILTERS = ["alpha", "f", "aggregator", "attack", "strategy"];
const ROWS = ["strategy", "aggregator", "attack", "loss", "dataset"];
const COLUMNS = ["alpha", "f"];
// What a strategy consists of, and so belongs to it.
const STRATEGY_FIELDS = ["loss", "objective", "objective_attack", "mixing"];

const axisTitle = (axis) => own(AXES, axis) ?? axis.replaceAll("_", " ");

// The value of a run on an axis: its own, or else the usual one of its dataset.
function valueOf(row, axis) {
  const value = row[axis];
  if (value !== undefined) return value;
  if (Object.hasOwn(row.more, axis)) return row.more[axis];
  return own(own(data.usual, row.dataset), axis) ?? null;
}

const fixes = (strategy, axis) => own(data.fixed, strategy)?.includes(axis) ?? false;

// How a value of an axis is called.
const title = (value) => own(data.titles, value) ?? String(value ?? "none");

function strategyTitle(name) {
  if (name === "-") return "– (rule alone)";
  return (own(data.strategies, name) ?? name).replaceAll("-dagger", "†");
}

const titleOf = (axis) => (axis === "strategy" ? strategyTitle : title);
// A value with its axis, where it would say nothing alone.
const placeTitle = (axis, value) =>
  typeof value === "string" && Object.hasOwn(data.orders, axis)
    ? titleOf(axis)(value)
    : `${axisTitle(axis)} = ${titleOf(axis)(value)}`;

function ordered(axis, values) {
  const order = own(data.orders, axis) ?? [];
  const place = (value) => (order.includes(value) ? order.indexOf(value) : order.length);
  return unique(values).sort((a, b) => {
    if (typeof a === "number" && typeof b === "number") return axis === "alpha" ? b - a : a - b;
    return place(a) - place(b) || (String(a) < String(b) ? -1 : 1);
  });
}

// The different values of an axis among some runs.
function valuesAmong(found, axis) {
  const made = new Set();
  for (const row of found) made.add(valueOf(row, axis));
  return made;
}

// All values that an axis has among the runs, and among those of this part.
const valuesOn = (axis) =>
  once(`values ${axis}`, () => ordered(axis, [...valuesAmong(rows.values(), axis)]));
const valuesHere = (axis) =>
  once(`values ${axis} ${partName()}`, () => ordered(axis, [...valuesAmong(ofPart(), axis)]));

// Whether runs differ on an axis.
function differ(found, axis) {
  const first = found.length ? valueOf(found[0], axis) : null;
  return found.some((row) => valueOf(row, axis) !== first);
}

// Where a run stands on some axes, as one text.
function placeOf(row, on, name = on.join(" ")) {
  row.places ??= new Map();
  let place = row.places.get(name);
  if (place === undefined) {
    place = on.map((axis) => valueOf(row, axis)).join("\n");
    row.places.set(name, place);
  }
  return place;
}

// The axes on which runs differ.
const varyingAxes = () =>
  once("axes", () =>
    unique([...Object.keys(AXES), ...data.settingFields, "seed"]).filter(
      (axis) => valuesOn(axis).length > 1,
    ),
  );

const placed = () => [view.rows, ...view.columns];

// A setting in words without what it says of some fields. The words of a field begin with its name.
function settingWithout(setting, fields) {
  const names = data.settingFields.join("|");
  return setting
    .split(new RegExp(`, (?=(?:${names}|content) )`))
    .filter((words) => !fields.includes(words.split(" ", 1)[0]))
    .join(", ");
}

// What tells tables apart: dataset and setting, but for what stands on the rows and columns.
function partOf(base, without = placed()) {
  return once(`part ${base} ${without}`, () => {
    const [dataset, setting] = JSON.parse(base);
    return JSON.stringify([
      without.includes("dataset") ? "" : dataset,
      settingWithout(setting, without),
    ]);
  });
}

// How many datasets and settings are like this one but for an axis.
const likesOf = (base, axis) =>
  bases().filter((other) => partOf(other, [axis]) === partOf(base, [axis])).length;

function partTitle(part) {
  const [dataset, setting] = JSON.parse(part);
  return [dataset === "" ? "all datasets" : title(dataset), setting].filter(Boolean).join(" · ");
}

// The datasets and settings of all runs, in order.
const bases = () =>
  once("bases", () => {
    const place = (base) => valuesOn("dataset").indexOf(JSON.parse(base)[0]);
    return unique([...rows.values()].map((row) => row.base)).sort(
      (a, b) => place(a) - place(b) || (a < b ? -1 : 1),
    );
  });

const parts = () => unique(bases().map((base) => partOf(base)));
const thisPart = () => partOf(state.part ?? bases()[0]);
const partName = () => `${thisPart()} ${placed()}`;
const ofPart = () =>
  once(`rows ${partName()}`, () => {
    const these = new Set(bases().filter((base) => partOf(base) === thisPart()));
    return [...rows.values()].filter((row) => these.has(row.base));
  });

const usesWola = (strategy) =>
  once(`wola ${strategy} ${partName()}`, () =>
    bases().some((base) => partOf(base) === thisPart() && withWola.has(`${base} ${strategy}`)),
  );

// The runs that pass the filters of some axes.
function passing(found, names) {
  const cut = names.filter((axis) => own(state.off, axis)?.size);
  if (!cut.length) return found;
  return found.filter((row) => cut.every((axis) => !state.off[axis].has(String(valueOf(row, axis)))));
}

// Which axes the rows and columns are: those chosen if the runs have them, else those that vary.
function settleAxes() {
  if (!bases().includes(state.part)) state.part = null;
  const base = state.part ?? bases()[0];
  const these = once(`base ${base}`, () => [...rows.values()].filter((row) => row.base === base));
  // Runs of other datasets or settings count if they differ from these in the axis alone.
  const varies = (axis) =>
    once(`varies ${base} ${axis}`, () => differ(these, axis) || likesOf(base, axis) > 1);
  const can = (axis) =>
    Object.hasOwn(AXES, axis) || data.settingFields.includes(axis) || axis === "seed";
  const usual = unique([...ROWS, ...data.settingFields]).find(varies) ?? "strategy";
  view.rows = can(state.rows) ? state.rows : usual;
  view.columns = (state.columns ?? COLUMNS).filter((axis) => axis !== view.rows && can(axis));
  view.arranged = view.rows !== usual || String(view.columns) !== String(COLUMNS);
}
