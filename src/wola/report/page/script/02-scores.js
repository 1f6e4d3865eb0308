// The numbers of the tables, as the report computes them: means over runs, spread over seeds,
// gains and ranks.

function underWorstAttacks(found) {
  return [...groups(found, (row) => row.aggregator).values()].flatMap((same) => {
    const attacks = [...groups(same, (row) => row.attack)].map(([name, hit]) => ({
      name,
      hit,
      at: mean(hit.map((row) => row.accuracy)),
    }));
    return attacks.sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))[0].hit;
  });
}

function score(found, column, expected, choose = (all) => all) {
  const there = found.filter((row) => row[column] !== null);
  const made = { runs: there.length, expected, mean: null, sd: null };
  if (there.length !== expected || !expected) return made;
  const seeds = [...groups(choose(there), (row) => row.seed).values()].map((same) =>
    mean(same.map((row) => row[column])),
  );
  return { ...made, mean: mean(seeds), sd: deviation(seeds), seeds: seeds.length };
}

// The cells that some runs span: every alpha, f and strategy with every other.
function spanned(same) {
  // What a strategy itself sets on an axis is no value of the axis for the others.
  const number = (name, strategy) => {
    const fixed = fixes(strategy, name);
    const belongs = (row) => (fixed ? row.strategy === strategy : !fixes(row.strategy, name));
    return new Set(same.filter(belongs).map((row) => row[name])).size;
  };
  const values = (name) =>
    ordered(
      name,
      same.map((row) => row[name]),
    );
  const expectedOf = new Map(
    values("strategy").map((strategy) => [
      strategy,
      ["aggregator", "attack", "seed"].reduce((all, name) => all * number(name, strategy), 1),
    ]),
  );
  const placed = groups(same, (row) => JSON.stringify([row.alpha, row.f, row.strategy]));
  const places = values("alpha").flatMap((alpha) =>
    values("f").flatMap((f) => values("strategy").map((strategy) => ({ alpha, f, strategy }))),
  );
  return places.map(({ alpha, f, strategy }) => {
    const found = placed.get(JSON.stringify([alpha, f, strategy])) ?? [];
    const expected = expectedOf.get(strategy);
    return {
      alpha,
      f,
      strategy,
      rows: found,
      accuracy: score(found, "accuracy", expected),
      worst: score(found, "accuracy", expected, underWorstAttacks),
      dissimilarity: score(found, "dissimilarity", expected),
    };
  });
}

const columnOf = (cell) => JSON.stringify([cell.alpha, cell.f]);

// Every cell of the filtered table; without Byzantine workers other runs are expected than with.
function cells() {
  const kept = ofPart().filter((row) => passes(row, ["aggregator", "attack"]));
  const made = [...groups(kept, (row) => row.f > 0).values()].flatMap(spanned);
  for (const column of groups(made, columnOf).values()) addGains(column);
  const shown = made.filter((cell) => passes(cell, ["alpha", "f", "strategy"]));
  for (const column of groups(shown, columnOf).values()) addRanks(column);
  return shown;
}

function addGains(column) {
  const others = column.filter((cell) => !usesWola(cell.strategy));
  const whole = others.length > 0 && others.every((cell) => cell.accuracy.mean !== null);
  const best = whole ? others.reduce((a, b) => (b.accuracy.mean >= a.accuracy.mean ? b : a)) : null;
  for (const cell of column) {
    const fits = usesWola(cell.strategy) && best && cell.accuracy.mean !== null;
    cell.gain = {
      ...cell.accuracy,
      mean: fits ? cell.accuracy.mean - best.accuracy.mean : null,
      sd: null,
      over: best?.strategy,
    };
    cell.gain.apart = !usesWola(cell.strategy);
  }
}

// Equal printed numbers share a place, and the next number takes the place after it.
function addRanks(column) {
  for (const [name, { digits, lower }] of Object.entries(MEASURES)) {
    const known = column.filter((cell) => cell[name].mean !== null);
    const printed = unique(known.map((cell) => Number(fixed(cell[name].mean, digits)))).sort(
      (a, b) => (lower ? a - b : b - a),
    );
    for (const cell of known)
      cell[name].rank = printed.indexOf(Number(fixed(cell[name].mean, digits))) + 1;
  }
}
