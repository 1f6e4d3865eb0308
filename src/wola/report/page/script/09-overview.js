// The overview: a number for every row and column.

function showMeasures() {
  byId("measures").replaceChildren(
    ...measures().map((name) =>
      make(
        "label",
        { "data-line": wordLine(name) },
        make("input", {
          type: "radio",
          name: "measure",
          id: `measure-${name}`,
          checked: measure() === name,
          onchange: () => choose({ measure: name }),
        }),
        MEASURES[name].title,
      ),
    ),
  );
}

const focusOn = (column) => choose({ focus: column.values.map(String), cell: null });

function columnHeads(columns) {
  const last = view.columns.at(-1);
  return columns.map((column, place) =>
    make(
      "th",
      { scope: "col", class: columnClass(columns, place) },
      make(
        "button",
        {
          type: "button",
          class: "plain",
          id: `column-${column.values.join("-")}`,
          "aria-pressed": String(column === view.focus),
          "data-line": lineOf(last, column.values.at(-1)) ?? axisLine(last),
          onclick: () => focusOn(column),
        },
        view.columns.length ? placeTitle(last, column.values.at(-1)) : MEASURES[measure()].title,
      ),
    ),
  );
}

const startsGroup = (columns, place) =>
  view.columns.length > 1 &&
  (place === 0 || columns[place].values[0] !== columns[place - 1].values[0]);

const columnClass = (columns, place) =>
  `${startsGroup(columns, place) ? "group" : ""}${columns[place] === view.focus ? " focus" : ""}`;

function groupHeads(columns) {
  const [axis] = view.columns;
  return [...groups(columns, (column) => column.values[0])].map(([value, same]) =>
    make(
      "th",
      { colspan: same.length, class: "group", scope: "colgroup" },
      make(
        "span",
        { class: "stay" },
        term(placeTitle(axis, value), lineOf(axis, value) ?? axisLine(axis)),
      ),
    ),
  );
}

// A bar beside a number, where one column leaves the room for it.
function bar(cell, name, most) {
  const made = make("i");
  made.style.width = `${(100 * Math.max(0, cell[name].mean ?? 0)) / most}%`;
  return make("span", { class: `beam ${look(cell.row).colour}`, "aria-hidden": "true" }, made);
}

function overviewRow(value, columns, name, most) {
  return make(
    "tr",
    {},
    make(
      "th",
      { scope: "row", class: "name" },
      swatch(value),
      term(titleOf(view.rows)(value), lineOf(view.rows, value)),
    ),
    columns.map((column, place) => {
      const cell = column.cells.find((one) => one.row === value);
      const rank = cell?.[name].rank;
      return make(
        "td",
        {
          class: `${columnClass(columns, place)}${rank <= 3 ? ` r${rank}` : ""}`,
          ...numberData(cell, name),
        },
        cell
          ? runsButton(cell.on, cell.values, number(cell, name, { marks: true }))
          : make("span", { class: "none" }, "–"),
      );
    }),
    columns.length === 1 && most > 0
      ? make(
          "td",
          { class: "tool rest" },
          columns[0].cells.filter((cell) => cell.row === value).map((cell) => bar(cell, name, most)),
        )
      : null,
  );
}

function showOverview(found, columns) {
  const name = measure();
  const values = ordered(
    view.rows,
    found.map((cell) => cell.row),
  ).filter((value) => name !== "gain" || usesWola(value));
  const numbers = found.map((cell) => cell[name].mean ?? 0);
  const percent = !["gain", "dissimilarity", "cosine"].includes(name);
  const most = lowest(numbers) < 0 ? 0 : percent ? 100 : highest(numbers);
  const single = columns.length === 1 && most > 0;
  const heads = make(
    "tr",
    {},
    make("th", { scope: "col", class: "name" }, term(axisTitle(view.rows), axisLine(view.rows))),
    columnHeads(columns),
    single ? make("td", { class: "tool" }) : null,
  );
  const top =
    view.columns.length > 1
      ? [make("tr", {}, make("td"), groupHeads(columns), single ? make("td", { class: "tool" }) : null)]
      : [];
  const table = make(
    "table",
    {},
    make("thead", {}, top, heads),
    make(
      "tbody",
      {},
      values.map((value) => overviewRow(value, columns, name, most)),
    ),
  );
  fill("overview", walkable(table));
  byId("overview").classList.toggle("single", single);
  requestAnimationFrame(() => showFocus(byId("overview")));
  const press = columns.length > 1 ? " Press the head of a column to rank it below, a" : " Press a";
  byId("overview-about").textContent =
    `${MEASURES[name].about} Over ${overWords(passing(kept(placed()), placed()), placed())}. Places 1 to 3 of each column are marked.${press} number to see its runs.`;
  byId("overview-files").replaceChildren(tableButtons(`${name}-overview`, () => seen(table)));
}

// Scrolls a wide table so far that a newly focused column is seen.
function showFocus(box) {
  const head = box.querySelector("thead .focus");
  if (!head || !view.focus || box.dataset.focus === view.focus.name) return;
  box.dataset.focus = view.focus.name;
  const space = box.querySelector("thead .name").offsetWidth;
  const [left, right] = [head.offsetLeft - space, head.offsetLeft + head.offsetWidth];
  if (right > box.scrollLeft + box.clientWidth - 40) box.scrollLeft = right - box.clientWidth + 48;
  else if (left < box.scrollLeft) box.scrollLeft = left;
}
