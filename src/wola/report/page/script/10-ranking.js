// The ranking of one column, by any measure.

function rankingHeads() {
  return measures().map((name) =>
    make(
      "th",
      {
        scope: "col",
        "aria-sort":
          measure() === name ? (MEASURES[name].lower ? "ascending" : "descending") : null,
      },
      make(
        "button",
        {
          type: "button",
          class: "plain",
          id: `rank-by-${name}`,
          "data-line": wordLine(name),
          onclick: () => choose({ measure: name }),
        },
        MEASURES[name].title,
        measure() === name
          ? make("span", { class: "sign" }, MEASURES[name].lower ? " ↑" : " ↓")
          : "",
      ),
    ),
  );
}

function pickBox(cell) {
  return make("input", {
    type: "checkbox",
    id: `pick-${cell.row}`,
    checked: view.picked.has(String(cell.row)),
    "aria-label": `Show curves of ${titleOf(view.rows)(cell.row)}`,
    onchange: (event) => {
      const picked = new Set(view.picked);
      picked[event.target.checked ? "add" : "delete"](String(cell.row));
      choose({ picked, focus: view.focus.values.map(String) });
    },
  });
}

function rankingRow(cell, most) {
  const rank = cell[measure()].rank;
  const meter = make("i");
  meter.style.width = `${(100 * (cell.accuracy.mean ?? 0)) / most}%`;
  const numbers = measures().map((name) =>
    make(
      "td",
      { class: name === "gain" && cell.gain.mean > 0 ? "up" : "", ...numberData(cell, name) },
      number(cell, name),
      name === "accuracy"
        ? make("span", { class: `meter ${look(cell.row).colour}` }, meter)
        : null,
    ),
  );
  return make(
    "tr",
    {},
    make("td", { class: "middle tool" }, pickBox(cell)),
    make(
      "td",
      { class: "middle" },
      rank ? make("span", { class: `place r${rank}` }, rank) : make("span", { class: "none" }, "–"),
    ),
    make(
      "th",
      { scope: "row", class: "name" },
      swatch(cell.row),
      term(titleOf(view.rows)(cell.row), lineOf(view.rows, cell.row)),
    ),
    numbers,
    make("td", {}, `${cell.accuracy.runs}/${cell.accuracy.expected}`),
  );
}

function showRanking({ cells: column, title: where }) {
  const place = (cell) => cell[measure()].rank ?? Infinity;
  const sorted = [...column].sort(
    (a, b) => place(a) - place(b) || (b.accuracy.mean ?? -1) - (a.accuracy.mean ?? -1),
  );
  const most = Math.max(...column.map((cell) => cell.accuracy.mean ?? 0), 1);
  const table = make(
    "table",
    {},
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "col", class: "middle tool" }, "Curves"),
        make("th", { scope: "col", class: "middle" }, "Place"),
        make("th", { scope: "col", class: "name" }, term(axisTitle(view.rows), axisLine(view.rows))),
        rankingHeads(),
        make("th", { scope: "col" }, "Runs"),
      ),
    ),
    make(
      "tbody",
      {},
      sorted.map((cell) => rankingRow(cell, most)),
    ),
  );
  fill("ranking", table);
  byId("ranking-title").textContent = where
    ? `Ranking at ${where.replaceAll(" = ", "\u00a0=\u00a0")}`
    : "Ranking";
  byId("ranking-about").textContent =
    `${byzantineWords(column)}By ${MEASURES[measure()].title.toLowerCase()}; equal printed numbers share a place. Tick a box to see curves.`;
  byId("ranking-files").replaceChildren(tableButtons("ranking", () => seen(table)));
}

// How many workers are Byzantine, if that is the same for all these runs.
function byzantineWords(column) {
  const counts = unique(column.flatMap((cell) => cell.rows.map((row) => row.f)));
  if (counts.length !== 1) return "";
  return `${counts[0]} of ${workersOf(column)} workers ${counts[0] === 1 ? "is" : "are"} Byzantine. `;
}

function workersOf(column) {
  return unique(column.flatMap((cell) => cell.rows.map((row) => row.workers))).join(" or ");
}
