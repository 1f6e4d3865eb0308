// The list of runs behind the numbers: searched, sorted, and saved as a whole.

const PAGE = 60;

// The columns of the list: those on which the runs differ, and what was measured.
function runColumns(found) {
  const isTold = (axis) => !STRATEGY_FIELDS.includes(axis) || placed().includes(axis);
  const varying = unique([...Object.keys(AXES), ...varyingAxes(), "seed"]).filter(
    (axis) =>
      axis === "seed" ||
      (isTold(axis) && differ(found, axis)),
  );
  const texts = varying.length > 1 ? varying : unique(["strategy", "aggregator", "attack", ...varying]);
  const told = (axis) => ({
    name: axis,
    label: axisTitle(axis),
    line: axisLine(axis),
    left: !["alpha", "f", "seed"].includes(axis),
    value: (row) => valueOf(row, axis),
    text: (row) => titleOf(axis)(valueOf(row, axis)),
  });
  const measured = ["accuracy", "final", "dissimilarity", "cosine"].map((name) => ({
    name,
    label: MEASURES[name].title,
    line: wordLine(name),
    left: false,
    value: (row) => row[name],
    text: (row) =>
      row[name] === null ? "–" : fixed(row[name], MEASURES[name].digits).replace("-", "−"),
  }));
  const ending = {
    name: "ending",
    label: "Ending",
    line: wordLine("ending"),
    left: true,
    value: (row) => row.ending,
    text: (row) => row.ending,
  };
  return [...texts.map(told), ...measured, ending];
}

// The runs that pass the filters, or those of one cell of a table.
function listedRuns() {
  const found = passing(ofPart(), unique([...FILTERS, ...placed()]));
  if (state.cell === null) return found;
  const wanted = Object.entries(state.cell);
  return found.filter((row) =>
    wanted.every(([axis, text]) => String(valueOf(row, axis)) === text),
  );
}

function searched(found, columns) {
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return found;
  const texts = columns.filter((column) => column.left || column.name === "seed");
  return found.filter((row) => {
    const text = [row.key, ...texts.map((column) => column.text(row))].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function sorted(found, columns) {
  const [name, direction] = state.sort ?? [];
  const by = columns.find((column) => column.name === name);
  if (!by) return found;
  const order = own(data.orders, name);
  const place = order ? new Map(order.map((value, at) => [value, at])) : null;
  const key = (row) => {
    const value = by.value(row);
    return place ? (place.get(value) ?? order.length) : value;
  };
  const compare = (a, b) => {
    if (a === b) return 0;
    if (a === null || b === null) return a === null ? 1 : -1;
    return (a < b ? -1 : 1) * (direction === "down" ? -1 : 1);
  };
  return found
    .map((row) => [key(row), row])
    .sort((a, b) => compare(a[0], b[0]))
    .map((pair) => pair[1]);
}

function runHead({ name, label, line, left }) {
  const [by, direction] = state.sort ?? [];
  const on = by === name;
  const next = on && direction === "up" ? "down" : "up";
  return make(
    "th",
    {
      scope: "col",
      class: left ? "name" : "",
      "aria-sort": on ? (direction === "down" ? "descending" : "ascending") : null,
    },
    make(
      "button",
      {
        type: "button",
        class: "plain",
        id: `sort-${name}`,
        "data-line": line,
        onclick: () => choose({ sort: [name, next] }),
      },
      label,
      on ? make("span", { class: "sign" }, direction === "down" ? " ↓" : " ↑") : null,
    ),
  );
}

function runRow(row, columns) {
  const name = [strategyTitle(row.strategy), title(row.aggregator), title(row.attack)].join(", ");
  const open = make(
    "button",
    {
      type: "button",
      class: "plain link",
      id: `run-${row.key}`,
      "aria-label": `Open the run of ${name}, seed ${row.seed}`,
      onclick: () => choose({ run: row.key }),
    },
    "Open",
  );
  const ended = (column) => (column.name === "ending" && row.ending !== "finished" ? " early" : "");
  return make(
    "tr",
    {},
    columns.map((column) =>
      make("td", { class: `${column.left ? "name" : ""}${ended(column)}` }, column.text(row)),
    ),
    make("td", { class: "tool" }, open),
  );
}

function runsSeen(found, columns) {
  const numbers = new Set(["accuracy", "final", "dissimilarity", "cosine"]);
  const cell = (column, row) => {
    const value = column.value(row);
    const number = numbers.has(column.name) && value !== null ? value : undefined;
    return { text: column.text(row), span: 1, number };
  };
  const key = { name: "key", label: "Key", value: (row) => row.key, text: (row) => row.key };
  const all = [...columns, key];
  return {
    head: [all.map((column) => ({ text: column.label, span: 1 }))],
    body: found.map((row) => all.map((column) => cell(column, row))),
  };
}

function showRuns() {
  const all = listedRuns();
  const columns = runColumns(all);
  const found = sorted(searched(all, columns), columns);
  const shown = found.slice(0, state.more * PAGE);
  const more =
    shown.length < found.length
      ? [button("more-runs", `Show more of ${count(found.length, "run")}`, () => choose({ more: state.more + 4 }, { replace: true }))]
      : [];
  const body = make(
    "tbody",
    {},
    shown.map((row) => runRow(row, columns)),
  );
  const heads = [
    ...columns.map(runHead),
    make("th", { scope: "col", class: "tool" }, make("span", { class: "unseen" }, "Open")),
  ];
  fill(
    "runs",
    found.length
      ? make("table", {}, make("thead", {}, make("tr", {}, heads)), body)
      : make("p", { class: "quiet" }, "No run has these words."),
    ...more,
  );
  const where = state.cell === null ? "pass the filters" : `are behind ${cellTitle(state.cell)}`;
  const part = found.length === all.length ? "" : `${found.length.toLocaleString("en")} of `;
  byId("runs-about").textContent =
    `${part}${count(all.length, "run")} that ${where}. Each opens with its curves, who was taken for whom, and the command that does it again.`;
  const box = byId("search");
  if (box.value !== state.search && document.activeElement !== box) box.value = state.search;
  byId("all-cells").replaceChildren(
    ...(state.cell === null
      ? []
      : [button("leave-cell", `✕ only ${cellTitle(state.cell)}`, () => choose({ cell: null }))]),
  );
  byId("runs-files").replaceChildren(tableButtons("runs", () => runsSeen(found, columns)));
}

function startSearch() {
  byId("search").addEventListener("input", (event) => {
    Object.assign(state, { search: event.target.value, more: 1 });
    writeLink({ replace: true });
    showRuns();
  });
}
