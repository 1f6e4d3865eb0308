// The numbers of the tables, as the report computes them: means over runs, spread over seeds,
// gains and ranks.

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
  final: {
    title: "At the end",
    digits: 1,
    about: "Accuracy in % of the final model, mean over seeds (sd).",
  },
  balanced: {
    title: "Balanced",
    digits: 1,
    about: "Mean over classes of the final model's accuracy in %, mean over seeds (sd).",
  },
  "macro-f1": {
    title: "Macro-F1",
    digits: 1,
    about: "Mean over classes of the final model's F1 in %, mean over seeds (sd).",
  },
  "worst-class": {
    title: "Worst class",
    digits: 1,
    about: "Accuracy in % of the final model on its worst class, mean over seeds (sd).",
  },
  dissimilarity: {
    title: "Dissimilarity",
    digits: 2,
    lower: true,
    about: "How far honest workers' momenta differ, mean over seeds (sd); lower is better.",
  },
  cosine: {
    title: "Cosine",
    digits: 2,
    about: "Cosine of the aggregate and the honest workers' mean, mean over seeds (sd).",
  },
};

// Those that are a number of each run.
const OF_RUNS = Object.keys(MEASURES).filter((name) => name !== "worst" && name !== "gain");

// The measures that mean something for these rows and columns.
const measures = () =>
  once(`measures ${partName()}`, () =>
    Object.keys(MEASURES).filter((name) => {
      if (name === "worst") return !placed().includes("attack");
      if (name === "gain")
        return view.rows === "strategy" && new Set(valuesHere("strategy").map(usesWola)).size === 2;
      return true;
    }),
  );

const measure = () => (measures().includes(state.measure) ? state.measure : "accuracy");

// The axes that a number is averaged over.
const averaged = (on) =>
  unique([...FILTERS, ...placed(), "seed"]).filter((axis) => !on.includes(axis));

// Of each combination of what is averaged over, the attack with the lowest mean over seeds.
function underWorstAttacks(found, on) {
  const apart = averaged(on).filter((axis) => axis !== "attack" && axis !== "seed");
  const name = apart.join(" ");
  const alike = groups(found, (row) => placeOf(row, apart, name));
  return [...alike.values()].flatMap((same) => {
    const attacks = [...groups(same, (row) => row.attack)].map(([attack, hit]) => ({
      attack,
      hit,
      at: mean(hit.map((row) => row.accuracy)),
    }));
    return attacks.sort((a, b) => a.at - b.at || (a.attack < b.attack ? -1 : 1))[0].hit;
  });
}

function score(found, column, expected, select = (all) => all) {
  const there = found.filter((row) => row[column] !== null);
  const made = { runs: there.length, expected, mean: null, sd: null };
  if (there.length !== expected || !expected) return made;
  const sums = new Map();
  for (const row of select(there)) {
    const sum = sums.get(row.seed);
    if (sum) {
      sum[0] += row[column];
      sum[1] += 1;
    } else sums.set(row.seed, [row[column], 1]);
  }
  const seeds = [...sums.values()].map(([sum, number]) => sum / number);
  return { ...made, mean: mean(seeds), sd: deviation(seeds), seeds: seeds.length };
}

// The values of an axis that runs of a strategy have to have. What a strategy itself sets on an
// axis is no value of the axis for the others.
function expectedValues(same) {
  const found = new Map();
  return (axis, strategy) => {
    if (axis === "strategy") return new Set([strategy]);
    const alone = STRATEGY_FIELDS.includes(axis) || fixes(strategy, axis);
    const name = `${axis} ${alone ? strategy : ""}`;
    if (!found.has(name)) {
      const belongs = (row) => (alone ? row.strategy === strategy : !fixes(row.strategy, axis));
      found.set(name, valuesAmong(same.filter(belongs), axis));
    }
    return found.get(name);
  };
}

const productOf = (lists) =>
  lists.reduce((made, list) => made.flatMap((some) => list.map((value) => [...some, value])), [[]]);

// The cells that some runs span: every value of the axes `on` with every other. A cell knows its
// `values`, its `rows`, and how many there would have to be.
function spanned(same, on) {
  const expectedOf = expectedValues(same);
  const strategies = [...valuesAmong(same, "strategy")];
  const over = averaged(on).filter((axis) => axis !== "strategy");
  const each = new Map(
    strategies.map((strategy) => [
      strategy,
      over.reduce((all, axis) => all * expectedOf(axis, strategy).size, 1),
    ]),
  );
  const name = on.join(" ");
  const at = groups(same, (row) => placeOf(row, on, name));
  const lists = on.map((axis) => {
    const there = valuesAmong(same, axis);
    return valuesOn(axis).filter((value) => there.has(value));
  });
  return productOf(lists).map((values) => {
    const belongs = (strategy) =>
      on.every((axis, place) => expectedOf(axis, strategy).has(values[place]));
    const expected = strategies
      .filter(belongs)
      .reduce((sum, strategy) => sum + each.get(strategy), 0);
    return new Cell(on, values, at.get(values.join("\n")) ?? [], expected);
  });
}

// A cell of a table: where it is, its runs, how many there would have to be, and its numbers, which
// are computed when they are first asked for.
class Cell {
  constructor(on, values, found, expected) {
    Object.assign(this, { on, values, rows: found, expected });
  }

  #scores = {};

  #score(name, compute) {
    this.#scores[name] ??= compute();
    return this.#scores[name];
  }

  plain(name) {
    return this.#score(name, () => score(this.rows, name, this.expected));
  }

  get worst() {
    const select = (all) => underWorstAttacks(all, this.on);
    return this.#score("worst", () => score(this.rows, "accuracy", this.expected, select));
  }
}

for (const name of OF_RUNS)
  Object.defineProperty(Cell.prototype, name, {
    get() {
      return this.plain(name);
    },
  });

// The runs that pass the filters of what is averaged over. Runs without Byzantine workers are never
// averaged with others.
function kept(on) {
  const found = passing(ofPart(), averaged(on));
  const attacked = on.includes("f") ? [] : found.filter((row) => row.f > 0);
  return attacked.length ? attacked : found;
}

// Every cell of some axes; without Byzantine workers other runs are expected than with.
// `select` takes those that matter out of the runs.
function cellsOn(on, select = (all) => all) {
  const found = [...groups(select(kept(on)), (row) => row.f > 0).values()];
  return found.flatMap((same) => spanned(same, on)).filter((cell) => cell.expected);
}

// The cells of the overview, each with its `row` and `column`.
function cells() {
  const made = cellsOn(placed());
  for (const cell of made) {
    cell.row = cell.values[0];
    cell.column = cell.values.slice(1).join("\n");
  }
  for (const column of groups(made, (cell) => cell.column).values()) addGains(column);
  const shown = made.filter((cell) =>
    cell.on.every((axis, place) => !own(state.off, axis)?.has(String(cell.values[place]))),
  );
  for (const column of groups(shown, (cell) => cell.column).values()) addRanks(column);
  return shown;
}

function addGains(column) {
  if (view.rows !== "strategy") return;
  const aligned = new Set(column.map((cell) => cell.row).filter(usesWola));
  const others = column.filter((cell) => !aligned.has(cell.row));
  const whole = others.length > 0 && others.every((cell) => cell.accuracy.mean !== null);
  const best = whole ? others.reduce((a, b) => (b.accuracy.mean >= a.accuracy.mean ? b : a)) : null;
  for (const cell of column) {
    const fits = aligned.has(cell.row) && best && cell.accuracy.mean !== null;
    cell.gain = {
      ...cell.accuracy,
      mean: fits ? cell.accuracy.mean - best.accuracy.mean : null,
      sd: null,
      over: best?.row,
      apart: !aligned.has(cell.row),
    };
  }
}

// Equal printed numbers share a place, and the next number takes the place after it.
function addRanks(column) {
  for (const name of unique(["accuracy", "worst", measure()])) {
    if (!measures().includes(name)) continue;
    const { digits, lower } = MEASURES[name];
    const known = column.filter((cell) => cell[name].mean !== null);
    const printed = unique(known.map((cell) => Number(fixed(cell[name].mean, digits)))).sort(
      (a, b) => (lower ? a - b : b - a),
    );
    for (const cell of known)
      cell[name].rank = printed.indexOf(Number(fixed(cell[name].mean, digits))) + 1;
  }
}

// The columns of the cells, in order: their values, their cells, and what they are called.
function columnsOf(found) {
  const place = (axis, value) => valuesOn(axis).indexOf(value);
  const made = [...groups(found, (cell) => cell.column)].map(([name, same]) => {
    const values = same[0].values.slice(1);
    const words = view.columns.map((axis, at) => placeTitle(axis, values[at]));
    return { name, values, cells: same, title: words.join(", ") };
  });
  return made.sort((a, b) =>
    view.columns.reduce(
      (order, axis, at) => order || place(axis, a.values[at]) - place(axis, b.values[at]),
      0,
    ),
  );
}
