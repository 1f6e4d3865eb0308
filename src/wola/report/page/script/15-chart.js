// A chart of lines, for the eye, the pointer, the keyboard and the ear.

function axes({ xs, width, marks, x, y }, even) {
  const { height, left, right, bottom } = FRAME;
  const across = (kind, at) =>
    make("svg:line", { class: kind, x1: left, x2: width - right, y1: at, y2: at });
  const text = (at, down, anchor, value) =>
    make("svg:text", { x: at, y: down, "text-anchor": anchor }, value);
  const number = Math.max(3, Math.min(8, width / 80));
  return [
    marks.map((mark) => [across("grid", y(mark)), text(left - 8, y(mark) + 4, "end", short(mark))]),
    even === undefined ? null : across("even", y(even)),
    across("axis", height - bottom),
    ticks(0, xs.at(-1), number).map((mark) => text(x(mark), height - 16, "middle", mark)),
    text(width - right, height - 2, "end", "step"),
  ];
}

function drawn({ points, colour, dash, thin, shape }, { x, y }) {
  const at = (point, value) => `${x(point.x).toFixed(1)} ${y(value).toFixed(1)}`;
  const path = (values) => `M${values.join("L")}`;
  const upper = points.map((point) => at(point, point.high));
  const lower = points.map((point) => at(point, point.low)).reverse();
  const band = points.some((point) => point.high > point.low);
  const every = Math.max(1, Math.round(points.length / 7));
  const marked = shape ? points.filter((_, place) => place % every === Math.floor(every / 2)) : [];
  return make(
    "svg:g",
    { class: colour },
    band ? make("svg:path", { class: "band", d: `${path([...upper, ...lower])}Z` }) : null,
    make("svg:path", {
      class: `line ${dash ?? ""} ${thin ? "thin" : ""}`,
      d: path(points.map((point) => at(point, point.y))),
    }),
    marked.map((point) =>
      make("svg:path", {
        class: "marker",
        d: SHAPES[shape],
        transform: `translate(${at(point, point.y)})`,
      }),
    ),
  );
}

// What reads a chart: a cursor on it, and a legend with the values there. At rest it is at the end.
function reader({ xs, x }, legend) {
  const { height, top, bottom } = FRAME;
  const cursor = make("svg:line", { class: "cursor", y1: top, y2: height - bottom });
  const step = make("span", { class: "at" });
  const outputs = legend.map(() => make("output"));
  const entries = legend.map((entry, place) =>
    make("li", {}, entry.swatch, make("span", { class: "label" }, entry.name), outputs[place]),
  );
  const made = { cursor, at: 0 };
  made.node = make("ul", { class: "legend", "aria-hidden": "true" }, make("li", {}, step), entries);
  made.move = (to, visibility = "visible") => {
    made.at = Math.max(0, Math.min(xs.length - 1, to));
    const here = xs[made.at];
    for (const [name, value] of Object.entries({ x1: x(here), x2: x(here), visibility }))
      cursor.setAttribute(name, value);
    step.textContent = `at step ${short(here)}`;
    legend.forEach((entry, place) => {
      outputs[place].textContent = entry.value(here);
    });
  };
  made.rest = () => made.move(xs.length - 1, "hidden");
  made.speak = () => {
    const here = xs[made.at];
    const words = legend.map((entry) => `${entry.name} ${entry.value(here)}`);
    announce(`step ${short(here)}: ${words.join("; ")}`);
  };
  made.rest();
  return made;
}

function listen(svg, { xs, x, width }, reading) {
  const nearest = (event) => {
    const box = svg.getBoundingClientRect();
    const away = (value) => Math.abs(x(value) - ((event.clientX - box.left) / box.width) * width);
    return xs.reduce((best, value, place) => (away(value) < away(xs[best]) ? place : best), 0);
  };
  const keys = {
    ArrowLeft: () => reading.at - 1,
    ArrowRight: () => reading.at + 1,
    PageUp: () => reading.at - 10,
    PageDown: () => reading.at + 10,
    Home: () => 0,
    End: () => xs.length - 1,
  };
  const point = (event) => reading.move(nearest(event));
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  svg.addEventListener("pointerleave", () => {
    if (document.activeElement !== svg) reading.rest();
  });
  svg.addEventListener("focus", () => reading.move(reading.at));
  svg.addEventListener("blur", reading.rest);
  svg.addEventListener("keydown", (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    reading.move(keys[event.key]());
    reading.speak();
  });
}

// The same in numbers, made when it is opened.
function alternative(id, caption, table) {
  const about = `${caption} as a table`;
  const place = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": about });
  const opened = (event) => {
    if (!event.target.open) return;
    const made = table();
    const name = `${caption} ${id}`.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    place.replaceChildren(tableButtons(name, () => seen(made)), made);
  };
  return make(
    "details",
    { ontoggle: opened },
    make("summary", { id: `${id}-table` }, "Show as a table"),
    place,
  );
}

// A figure of lines. `legend` has an entry per line of the legend, which says its value at a step;
// `summary` says in words what the lines show, `table` gives the numbers of some steps.
function chart({ id, caption, line, about, lines, legend, even, log, summary, table, said }, width) {
  const scale = scales(lines, { even, log, width });
  const reading = reader(scale, legend);
  const { height } = FRAME;
  const words = `${caption}. ${summary} Left and right arrow keys move along the steps.`;
  const svg = make(
    "svg:svg",
    {
      class: "chart",
      id,
      role: "img",
      tabindex: 0,
      "aria-label": words,
      viewBox: `0 0 ${width} ${height}`,
      height,
    },
    axes(scale, even),
    lines.map((line) => drawn(line, scale)),
    reading.cursor,
  );
  listen(svg, scale, reading);
  const note = scale.logarithmic ? `${about}, logarithmic` : about;
  return make(
    "figure",
    {},
    make(
      "figcaption",
      {},
      make("span", { class: "words" }, term(caption, line), make("small", {}, ` ${note}`)),
      chartButtons(id, caption),
    ),
    svg,
    reading.node,
    said ? make("p", { class: "said" }, said) : null,
    alternative(id, caption, () => table(scale.xs)),
  );
}
