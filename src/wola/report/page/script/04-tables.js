// The overview and the ranking.

function number(cell, measure, { marks = false } = {}) {
  const found = cell[measure];
  if (measure === "gain" && found.apart)
    return [make("span", { class: "none", "aria-label": "not applicable" }, "–")];
  if (found.mean === null) {
    const known = found.runs === found.expected;
    const text = known ? "–" : `${found.runs}/${found.expected}`;
    const about = known
      ? "runs of the methods without WoLA are missing"
      : `${found.runs} of ${count(found.expected, "run")}: no number`;
    return [make("span", { class: "none", title: about, "aria-label": about }, text)];
  }
  const text =
    measure === "gain" ? signed(found.mean, 1) : fixed(found.mean, MEASURES[measure].digits);
  const sd =
    found.sd === null
      ? null
      : make("span", { class: "sd" }, `(${fixed(found.sd, MEASURES[measure].digits)})`);
  const mark =
    marks && found.rank <= 3
      ? make("sup", { class: "mark" }, make("span", { class: "unseen" }, "place "), found.rank)
      : null;
  return [text, sd, mark];
}

function showMeasures() {
  byId("measures").replaceChildren(
    ...Object.entries(MEASURES).map(([name, { title: label }]) =>
      make(
        "label",
        {},
        make("input", {
          type: "radio",
          name: "measure",
          id: `measure-${name}`,
          checked: state.measure === name,
          onchange: () => {
            state.measure = name;
            render();
          },
        }),
        label,
      ),
    ),
  );
}

function showOverview(found) {
  const measure = state.measure;
  const columns = [...groups(found, columnOf).keys()]
    .map(JSON.parse)
    .sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const strategies = ordered(
    "strategy",
    found.map((cell) => cell.strategy),
  ).filter((name) => measure !== "gain" || usesWola(name));
  const at = new Map(
    found.map((cell) => [JSON.stringify([cell.alpha, cell.f, cell.strategy]), cell]),
  );
  const focused = ([alpha, f]) => inFocus({ alpha, f });
  const starts = (place) => place === 0 || columns[place][0] !== columns[place - 1][0];
  const top = [...groups(columns, (column) => column[0])].map(([alpha, same]) =>
    make(
      "th",
      { colspan: same.length, class: "group", scope: "colgroup" },
      make("span", { class: "stay" }, `alpha = ${alpha}`),
    ),
  );
  const heads = columns.map((column, place) =>
    make(
      "th",
      { scope: "col", class: `${starts(place) ? "group" : ""}${focused(column) ? " focus" : ""}` },
      make(
        "button",
        {
          type: "button",
          class: "plain",
          id: `column-${column.join("-")}`,
          "aria-pressed": String(focused(column)),
          title: "rank these",
          onclick: () => {
            state.focus = { alpha: column[0], f: column[1] };
            render();
          },
        },
        `f = ${column[1]}`,
      ),
    ),
  );
  const body = strategies.map((strategy) =>
    make(
      "tr",
      {},
      make("th", { scope: "row", class: "name" }, swatch(strategy), strategyTitle(strategy)),
      columns.map((column, place) => {
        const cell = at.get(JSON.stringify([...column, strategy]));
        const rank = cell?.[measure].rank;
        return make(
          "td",
          {
            class: `${starts(place) ? "group" : ""}${focused(column) ? " focus" : ""}${rank <= 3 ? ` r${rank}` : ""}`,
          },
          cell ? number(cell, measure, { marks: true }) : "–",
        );
      }),
    ),
  );
  const seeds = new Set(found.flatMap((cell) => cell.rows.map((row) => row.seed))).size;
  byId("overview").replaceChildren(
    make(
      "table",
      {},
      make(
        "thead",
        {},
        make("tr", {}, make("td"), top),
        make("tr", {}, make("th", { scope: "col", class: "name" }, "Strategy"), heads),
      ),
      make("tbody", {}, body),
    ),
  );
  showFocus(byId("overview"));
  byId("overview-about").textContent =
    `${MEASURES[measure].about} ${count(seeds, "seed")}. Places 1 to 3 of each column are marked. Press a column's f to rank it below.`;
}

// Scrolls a wide table so far that a newly focused column is seen.
function showFocus(box) {
  const head = box.querySelector("thead .focus");
  const name = JSON.stringify(view.focus);
  if (!head || box.dataset.focus === name) return;
  box.dataset.focus = name;
  const space = box.querySelector("thead .name").offsetWidth;
  const [left, right] = [head.offsetLeft - space, head.offsetLeft + head.offsetWidth];
  if (right > box.scrollLeft + box.clientWidth) box.scrollLeft = right - box.clientWidth + 8;
  else if (left < box.scrollLeft) box.scrollLeft = left;
}

function showRanking(column) {
  const { alpha, f } = view.focus;
  const measure = state.measure;
  const place = (cell) => cell[measure].rank ?? Infinity;
  const sorted = [...column].sort(
    (a, b) => place(a) - place(b) || (b.accuracy.mean ?? -1) - (a.accuracy.mean ?? -1),
  );
  const top = Math.max(...column.map((cell) => cell.accuracy.mean ?? 0), 1);
  const heads = Object.entries(MEASURES).map(([name, { title: label, lower }]) =>
    make(
      "th",
      { scope: "col", "aria-sort": measure === name ? (lower ? "ascending" : "descending") : null },
      make(
        "button",
        {
          type: "button",
          class: "plain",
          id: `rank-by-${name}`,
          onclick: () => {
            state.measure = name;
            render();
          },
        },
        label,
        measure === name ? (lower ? " ↑" : " ↓") : "",
      ),
    ),
  );
  const body = sorted.map((cell) => {
    const rank = cell[measure].rank;
    const meter = make("i");
    meter.style.width = `${(100 * (cell.accuracy.mean ?? 0)) / top}%`;
    const pick = make("input", {
      type: "checkbox",
      id: `pick-${cell.strategy}`,
      checked: view.picked.has(cell.strategy),
      "aria-label": `Show curves of ${strategyTitle(cell.strategy)}`,
      onchange: (event) => {
        Object.assign(state, view);
        state.picked[event.target.checked ? "add" : "delete"](cell.strategy);
        render();
      },
    });
    return make(
      "tr",
      {},
      make("td", { class: "middle" }, pick),
      make(
        "td",
        { class: "middle" },
        rank
          ? make("span", { class: `place r${rank}` }, rank)
          : make("span", { class: "none" }, "–"),
      ),
      make("th", { scope: "row", class: "name" }, swatch(cell.strategy), strategyTitle(cell.strategy)),
      make(
        "td",
        {},
        number(cell, "accuracy"),
        make("span", { class: `meter ${look(cell.strategy).colour}` }, meter),
      ),
      make("td", {}, number(cell, "worst")),
      make("td", { class: cell.gain.mean > 0 ? "up" : "" }, number(cell, "gain")),
      make("td", {}, number(cell, "dissimilarity")),
      make("td", {}, `${cell.accuracy.runs}/${cell.accuracy.expected}`),
    );
  });
  byId("ranking").replaceChildren(
    make(
      "table",
      {},
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", { scope: "col", class: "middle" }, "Curves"),
          make("th", { scope: "col", class: "middle" }, "Place"),
          make("th", { scope: "col", class: "name" }, "Strategy"),
          heads,
          make("th", { scope: "col" }, "Runs"),
        ),
      ),
      make("tbody", {}, body),
    ),
  );
  byId("ranking-title").textContent = `Ranking at alpha\u00a0=\u00a0${alpha}, f\u00a0=\u00a0${f}`;
  byId("ranking-about").textContent =
    `${f} of ${workersOf(column)} workers are Byzantine. By ${MEASURES[measure].title.toLowerCase()}; equal printed numbers share a place.`;
}

function workersOf(column) {
  return unique(column.flatMap((cell) => cell.rows.map((row) => row.workers))).join(" or ");
}
