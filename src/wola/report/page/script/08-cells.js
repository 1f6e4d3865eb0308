// The cells of tables: their numbers, and how one gets from a number to its runs.

function numberText(found, name) {
  if (name === "gain") return signed(found.mean, 1);
  return fixed(found.mean, MEASURES[name].digits).replace("-", "−");
}

// Runs that ended before their last step, and count with the model they ended with.
const endedEarly = (cell) =>
  cell.rows.filter((row) => row.ending !== "finished" && row.ending !== "failed").length;

function number(cell, name, { marks = false } = {}) {
  const found = cell[name];
  if (name === "gain" && found.apart)
    return [make("span", { class: "none", "aria-label": "not applicable" }, "–")];
  if (found.mean === null) {
    const known = found.runs === found.expected;
    const text = known ? "–" : `${found.runs}/${found.expected}`;
    const about = known
      ? "runs of the methods without WoLA are missing"
      : `${found.runs} of ${count(found.expected, "run")}: no number`;
    return [make("span", { class: "none", title: about, "aria-label": about }, text)];
  }
  const sd =
    found.sd === null
      ? null
      : make("span", { class: "sd" }, `(${fixed(found.sd, MEASURES[name].digits)})`);
  const early = endedEarly(cell);
  const star = early
    ? make("sup", { class: "mark", title: `${count(early, "run")} ended early` }, "*")
    : null;
  const mark =
    marks && found.rank <= 3
      ? make("sup", { class: "mark" }, make("span", { class: "unseen" }, "place "), found.rank)
      : null;
  return [numberText(found, name), sd, star, mark];
}

// What a saved table needs to know of a number.
function numberData(cell, name) {
  const found = cell?.[name];
  if (!found || found.mean === null) return {};
  const sd = found.sd === null ? null : found.sd;
  const text = numberText(found, name);
  return {
    "data-mean": found.mean,
    "data-sd": sd,
    "data-rank": found.rank ?? null,
    "data-text": sd === null ? text : `${text} (${fixed(sd, MEASURES[name].digits)})`,
  };
}

const cellOf = (on, values) =>
  Object.fromEntries(on.map((axis, place) => [axis, String(values[place])]));

const cellTitle = (cell) =>
  Object.entries(cell)
    .map(([axis, text]) => {
      const value = valuesOn(axis).find((one) => String(one) === text) ?? text;
      return placeTitle(axis, value);
    })
    .join(", ");

// A button in a cell of a table that leads to the runs behind it.
function runsButton(on, values, ...content) {
  const cell = cellOf(on, values);
  return make(
    "button",
    {
      type: "button",
      class: "plain cell",
      tabindex: -1,
      "aria-description": `runs of ${cellTitle(cell)}`,
      onclick: () => {
        choose({ cell, search: "", more: 1 });
        byId("runs-title").scrollIntoView({ block: "start" });
        byId("runs-title").focus({ preventScroll: true });
      },
    },
    ...content,
  );
}

// One stop of the Tab key for all buttons in the body of a table; the arrow keys move among them.
function walkable(table) {
  const lines = [...table.tBodies[0].rows]
    .map((row) => [...row.querySelectorAll("button.cell")])
    .filter((line) => line.length);
  if (lines.length) lines[0][0].tabIndex = 0;
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  table.addEventListener("keydown", (event) => {
    const step = own(steps, event.key);
    const y = lines.findIndex((line) => line.includes(event.target));
    if (!step || y < 0) return;
    event.preventDefault();
    const x = lines[y].indexOf(event.target);
    const to = lines[y + step[0]]?.[x + step[1]];
    if (!to) return;
    event.target.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
  return table;
}

// The space around a table, which hides nothing.
const EDGE = 8;

// Says at an edge of a box that there is more to see beyond it.
function showEdges(box) {
  const frame = box.parentElement;
  const left = box.scrollLeft > EDGE;
  const right = box.scrollLeft + box.clientWidth < box.scrollWidth - EDGE;
  frame.classList.toggle("more-left", left);
  frame.classList.toggle("more-right", right);
}

function startEdges() {
  for (const box of document.querySelectorAll(".frame > .scroll")) {
    box.addEventListener("scroll", () => showEdges(box), { passive: true });
    new ResizeObserver(() => showEdges(box)).observe(box);
  }
}

function fill(id, ...content) {
  byId(id).replaceChildren(...content);
  // Sizes are asked for when all is in its place: each question in between lays out the page anew.
  requestAnimationFrame(() => showEdges(byId(id)));
}

// What the numbers of a table are means over, in words.
function overWords(found, on) {
  const words = averaged(on).flatMap((axis) => {
    const values = [...valuesAmong(found, axis)];
    if (values.length !== 1) return [axis === "f" ? count(values.length, "f") : count(values.length, axisTitle(axis).toLowerCase())];
    if (axis === "seed") return ["1 seed"];
    return Object.hasOwn(data.orders, axis) && axis !== "strategy" ? [title(values[0])] : [];
  });
  return listed(words).replace(/\b(strateg)ys\b/, "$1ies").replace(/\b(loss)s\b/, "$1es");
}
