// Which attack breaks what: accuracy for every attack and every rule, or strategy, in one column of
// the overview.

const SHADES = 9;

function acrossAxes() {
  return unique(["aggregator", "strategy", view.rows]).filter(
    (axis) => axis !== "attack" && axis !== "dataset" && valuesHere(axis).length > 1,
  );
}

// The cells of the matrix at the column in focus.
function matrixCells(across) {
  const fixedAxes = view.columns.filter((axis) => axis !== "attack" && axis !== across);
  const at = fixedAxes.map((axis) => view.focus.values[view.columns.indexOf(axis)]);
  const on = [across, "attack", ...fixedAxes];
  const shown = (cell) =>
    at.every((value, place) => cell.values[place + 2] === value) &&
    on.every((axis, place) => !own(state.off, axis)?.has(String(cell.values[place])));
  const wanted = (row) => at.every((value, place) => valueOf(row, fixedAxes[place]) === value);
  return cellsOn(on, (found) => (at.length ? found.filter(wanted) : found)).filter(shown);
}

function showAcross(names, across) {
  byId("across").replaceChildren(
    ...names.map((axis) =>
      make(
        "label",
        { "data-line": axisLine(axis) },
        make("input", {
          type: "radio",
          name: "across",
          id: `across-${axis}`,
          checked: axis === across,
          onchange: () => choose({ across: axis }),
        }),
        axisTitle(axis),
      ),
    ),
  );
}

function matrixRow(value, across, attacks, found, shade) {
  const same = found.filter((cell) => cell.values[0] === value);
  const known = same.filter((cell) => cell.accuracy.mean !== null);
  const least = lowest(known.map((cell) => Number(fixed(cell.accuracy.mean, 1))));
  return make(
    "tr",
    {},
    make("th", { scope: "row", class: "name" }, term(titleOf(across)(value), lineOf(across, value))),
    attacks.map((attack) => {
      const cell = same.find((one) => one.values[1] === attack);
      if (!cell) return make("td", {}, make("span", { class: "none" }, "–"));
      const worst =
        known.length > 1 &&
        cell.accuracy.mean !== null &&
        Number(fixed(cell.accuracy.mean, 1)) === least;
      return make(
        "td",
        {
          class: `${shade(cell)}${worst ? " worst" : ""}`,
          ...numberData(cell, "accuracy"),
        },
        runsButton(
          cell.on,
          cell.values,
          worst ? make("span", { class: "sign", "aria-hidden": "true" }, "▼ ") : null,
          number(cell, "accuracy"),
          worst ? make("span", { class: "unseen" }, " worst") : null,
        ),
      );
    }),
  );
}

function showMatrix() {
  const names = acrossAxes();
  const across = names.includes(state.across) ? state.across : names[0];
  const found = across ? matrixCells(across) : [];
  const attacks = ordered(
    "attack",
    found.map((cell) => cell.values[1]),
  );
  byId("matrix-section").hidden = attacks.length < 2;
  if (attacks.length < 2) {
    byId("across").replaceChildren();
    byId("matrix").replaceChildren();
    return;
  }
  showAcross(names, across);
  const means = found.map((cell) => cell.accuracy.mean).filter((value) => value !== null);
  const [low, high] = [lowest(means), highest(means)];
  const shade = ({ accuracy }) =>
    accuracy.mean === null
      ? ""
      : `h${Math.min(SHADES - 1, Math.floor((SHADES * (accuracy.mean - low)) / (high - low || 1)))}`;
  const values = ordered(
    across,
    found.map((cell) => cell.values[0]),
  );
  const table = make(
    "table",
    { class: "matrix" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "col", class: "name" }, axisTitle(across)),
        attacks.map((attack) =>
          make("th", { scope: "col" }, term(title(attack), lineOf("attack", attack))),
        ),
      ),
    ),
    make(
      "tbody",
      {},
      values.map((value) => matrixRow(value, across, attacks, found, shade)),
    ),
  );
  fill("matrix", walkable(table));
  const what = across === "aggregator" ? "rule" : axisTitle(across).toLowerCase();
  const rowsSeen = found.flatMap((cell) => cell.rows);
  byId("matrix-title").textContent = `Which attack breaks which ${what}`;
  byId("matrix-about").textContent =
    `Accuracy in %${view.focus.title ? ` at ${view.focus.title}` : ""}, over ${overWords(rowsSeen, found[0].on)}; orange is low, blue is high. ▼ marks the worst attack of each row. Press a number to see its runs.`;
  byId("matrix-files").replaceChildren(tableButtons("matrix", () => seen(table)));
}
