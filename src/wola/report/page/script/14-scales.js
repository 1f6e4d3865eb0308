// How the rows look, and where values lie on a chart.

function look(value) {
  const order = once(`looks ${view.rows}`, () => [
    ...unique([...(own(data.orders, view.rows) ?? []), ...valuesOn(view.rows)]),
  ]);
  const place = order.indexOf(value);
  const shape = ["circle", "down", "up", "plus", "diamond", "square", "diamond", "cross"][
    place % 8
  ];
  const plain = view.rows === "strategy" && usesWola(value) && place < 8;
  const dash = plain
    ? String(value).includes("dagger")
      ? "dashed"
      : ""
    : place % 2
      ? "dotted"
      : "dashed";
  return { colour: `c${place < 8 ? place : 8 + ((place - 8) % 5)}`, shape, dash };
}

const SHAPES = {
  circle: "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0",
  square: "M-3-3h6v6h-6z",
  up: "M0-4l3.8 6.6h-7.6z",
  down: "M0 4l3.8-6.6h-7.6z",
  diamond: "M0-4.3l4.3 4.3l-4.3 4.3l-4.3-4.3z",
  plus: "M-1.3-4h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7v-2.6h2.7z",
  cross:
    "M-4-2.2l1.8-1.8l2.2 2.2l2.2-2.2l1.8 1.8l-2.2 2.2l2.2 2.2l-1.8 1.8l-2.2-2.2l-2.2 2.2l-1.8-1.8l2.2-2.2z",
};

function swatch(value) {
  const { colour, shape, dash } = look(value);
  return make(
    "svg:svg",
    { class: `swatch ${colour}`, width: 30, height: 12, "aria-hidden": "true" },
    make("svg:path", { class: `line ${dash}`, d: "M1 6H29" }),
    make("svg:path", { class: "marker", d: SHAPES[shape], transform: "translate(15 6)" }),
  );
}

function ticks(low, high, number) {
  const rough = (high - low) / number;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10]
    .map((factor) => factor * power)
    .find((size) => size >= rough * 0.999);
  const made = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + step * 1e-9; place += 1)
    made.push(Number((place * step).toPrecision(12)));
  return made;
}

function powers(low, high) {
  const made = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high * 1.001; power += 1)
    for (const factor of high / low > 300 ? [1] : [1, 3]) {
      const value = Number((factor * 10 ** power).toPrecision(1));
      if (value >= low * 0.999 && value <= high * 1.001) made.push(value);
    }
  return made;
}

const lowest = (values) => values.reduce((least, value) => Math.min(least, value), Infinity);
const highest = (values) => values.reduce((most, value) => Math.max(most, value), -Infinity);

const FRAME = { height: 250, left: 46, right: 12, top: 10, bottom: 34 };

// The range of values to show: from 0 unless that would flatten the lines, logarithmic if wanted
// and if the values differ by more than a factor of 30.
function range(points, { even, log }) {
  const also = even === undefined ? [] : [even];
  const low = lowest([...points.map((point) => point.low ?? point.y), ...also]);
  const high = highest([...points.map((point) => point.high ?? point.y), ...also]);
  if (log && low > 0 && high / low > 30) return { low, high, logarithmic: true };
  const from = low > 0 && low < high * 0.6 ? 0 : low;
  if (from === high) return { low: from - 1, high: high + 1, logarithmic: false };
  return { low: from, high: high + (high - from) * 0.05, logarithmic: false };
}

// The steps `xs`, the marks of the value axis, and functions from values to places.
function scales(lines, { even, log, width }) {
  const { height, left, right, top, bottom } = FRAME;
  const points = lines.flatMap((line) => line.points);
  const xs = unique(points.map((point) => point.x)).sort((a, b) => a - b);
  const { low, high, logarithmic } = range(points, { even, log });
  const place = logarithmic ? Math.log : (value) => value;
  const first = Math.min(xs[0], 0);
  const share = (value) => (place(value) - place(low)) / (place(high) - place(low));
  return {
    xs,
    width,
    logarithmic,
    marks: logarithmic ? powers(low, high) : ticks(low, high, 5),
    x: (value) => left + ((value - first) / (xs.at(-1) - first || 1)) * (width - left - right),
    y: (value) => top + (1 - share(value)) * (height - top - bottom),
  };
}
