// The charts of the page.

function stepTable(names, valuesAt) {
  return (xs) =>
    make(
      "table",
      {},
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", { scope: "col" }, "Step"),
          names.map((name) => make("th", { scope: "col" }, name)),
        ),
      ),
      make(
        "tbody",
        {},
        xs.map((step) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, short(step)),
            valuesAt(step).map((text) => make("td", {}, text)),
          ),
        ),
      ),
    );
}

const rowTitle = (cell) => placeTitle(view.rows, cell.row);

// A line per row of a column, with the spread of its seeds.
function rowChart({ id, name, caption, about, format, column, width }) {
  const lines = column
    .map((cell) => ({ cell, ...look(cell.row), ...curve(cell.rows, name) }))
    .filter((line) => line.points.length);
  if (!lines.length)
    return make("p", { class: "quiet" }, `${caption}: none of the chosen runs has a curve.`);
  const incomplete = ({ cell, runs }) => runs !== cell.accuracy.expected;
  const value = (line) => {
    const at = new Map(line.points.map((point) => [point.x, point]));
    return (step) => {
      const point = at.get(step);
      if (!point) return "–";
      return point.high > point.low
        ? `${format(point.y)} (${format(point.low)} to ${format(point.high)})`
        : format(point.y);
    };
  };
  const label = (line) =>
    `${rowTitle(line.cell)}${incomplete(line) ? ` (${line.runs} of ${line.cell.accuracy.expected} runs)` : ""}`;
  const legend = lines.map((line) => ({
    name: label(line),
    swatch: swatch(line.cell.row),
    value: value(line),
  }));
  const summary = lines
    .map(
      (line) =>
        `${label(line)} from ${format(line.points[0].y)} to ${format(line.points.at(-1).y)}.`,
    )
    .join(" ");
  const partial = lines.filter((line) => incomplete(line));
  return chart(
    {
      id,
      caption,
      line: wordLine(name),
      about,
      lines,
      legend,
      summary,
      log: name === "dissimilarity",
      table: stepTable(lines.map(label), (step) => legend.map((entry) => entry.value(step))),
      said: partial.length
        ? `Runs are missing for ${listed(partial.map((line) => rowTitle(line.cell)))}: these curves are of the runs that are there and cannot be compared.`
        : null,
    },
    width,
  );
}

// What the weights mean, in words, and why the result may be good all the same.
function listenedWords(byzantine, workers, share, found) {
  const even = byzantine / workers;
  const above = share > even * 1.02 ? "above" : share < even * 0.98 ? "below" : "about";
  const who = count(byzantine, "Byzantine worker");
  const first = `The ${who} got ${fixed(100 * share, 1)} % of all weight, ${above} the ${fixed(100 * even, 1)} % of an equal share`;
  const judged = {
    above: ": the rule listens to them more than to honest workers.",
    about: ": the rule does not tell them from honest workers.",
    below: ": the rule listens to them less than to honest workers.",
  }[above];
  const known = found.map((row) => row.cosine).filter((value) => value !== null);
  if (!known.length) return first + judged;
  const angle = mean(known);
  const points = `the aggregate's cosine to the honest mean is ${fixed(angle, 2).replace("-", "−")}`;
  const end =
    angle >= 0.8
      ? `Still, ${points}: it points where honest workers want to go, since what liars send can lie close to honest updates.`
      : angle >= 0.3
        ? `Of the honest direction a part is left: ${points}.`
        : `Little of the honest direction is left: ${points}.`;
  return `${first}${judged} ${above === "above" || angle < 0.8 ? end : `And ${points}.`}`;
}

function weightsChart(cell, { id, caption, width }) {
  const found = workerWeights(cell.rows);
  if (!found) return null;
  const sides = [
    ["honest", found.lines.slice(0, found.honest), "c5", ""],
    ["Byzantine", found.lines.slice(found.honest), "c4", "dashed"],
  ].filter(([, lines]) => lines.length);
  const lines = sides.flatMap(([, same, colour, dash]) =>
    same.filter((points) => points.length).map((points) => ({ points, colour, dash, thin: true })),
  );
  if (!lines.length) return null;
  const at = (same, step) =>
    same
      .map((points) => points.find((point) => point.x === step)?.y)
      .filter((weight) => weight !== undefined);
  const value = (same) => (step) => {
    const there = at(same, step);
    return there.length ? `${short(lowest(there))} to ${short(highest(there))}` : "–";
  };
  const legend = sides.map(([name, same, colour, dash]) => ({
    name: `${same.length} ${name}`,
    value: value(same),
    swatch: make(
      "svg:svg",
      { class: `swatch ${colour}`, width: 30, height: 12, "aria-hidden": "true" },
      make("svg:path", { class: `line ${dash}`, d: "M1 6H29" }),
    ),
  }));
  const total = (same) =>
    same
      .flatMap((points) => points.map((point) => point.y))
      .reduce((sum, weight) => sum + weight, 0);
  const said =
    sides.length === 2
      ? listenedWords(
          sides[1][1].length,
          found.lines.length,
          total(sides[1][1]) / (total(sides[0][1]) + total(sides[1][1])),
          found.weighted,
        )
      : null;
  const names = found.lines.map((_, worker) =>
    worker < found.honest ? String(worker + 1) : `B${worker + 1 - found.honest}`,
  );
  return chart(
    {
      id,
      caption,
      line: wordLine("weight"),
      about: `${count(found.weighted.length, "run")} with ${listed(found.rules)}`,
      lines,
      legend,
      even: 1 / found.lines.length,
      said,
      summary: said ?? "All workers are honest.",
      table: stepTable(names, (step) =>
        found.lines.map((points) => {
          const point = points.find((one) => one.x === step);
          return point ? short(point.y) : "–";
        }),
      ),
    },
    width,
  );
}

const CURVES = [
  { name: "accuracy", caption: "Accuracy", about: "in % of the test set", format: (v) => fixed(v, 1) },
  { name: "dissimilarity", caption: "Dissimilarity", about: "of honest workers' momenta", format: short },
];
const COSINE = {
  name: "cosine",
  caption: "Cosine",
  about: "of the aggregate and the honest workers' mean",
  format: (value) => fixed(value, 2),
};

let drawing = 0;
async function showCurves(column) {
  const turn = (drawing += 1);
  const wanted = column.filter((cell) => view.picked.has(String(cell.row)));
  const found = wanted.flatMap((cell) => cell.rows);
  byId("weights-title").hidden = byId("weights-about").hidden = !wanted.length;
  if (!wanted.length) {
    byId("curves-about").textContent = "Tick boxes in the ranking above to see curves.";
    byId("charts").replaceChildren();
    byId("weights").replaceChildren();
    return;
  }
  if (found.some((row) => !details.has(row.key))) byId("curves-about").textContent = "Loading …";
  await fetchDetails(found);
  if (turn !== drawing) return;
  const space = byId("charts").clientWidth;
  const width = Math.max(240, space >= 872 ? (space - 32) / 2 : space);
  byId("curves-about").textContent =
    `Mean over ${overWords(found, placed())}; the band reaches from the lowest to the highest seed.`;
  keepFocus(() => {
    const draw = (one) => rowChart({ id: `chart-${one.name}`, ...one, column: wanted, width });
    byId("charts").replaceChildren(...CURVES.map(draw));
    const weighted = wanted
      .map((cell, place) => weightsChart(cell, { id: `weights-${place}`, caption: rowTitle(cell), width }))
      .filter(Boolean);
    const angles = weighted.length && found.some((row) => details.get(row.key)?.cosine);
    byId("weights").replaceChildren(...weighted, ...(angles ? [draw(COSINE)] : []));
    byId("weights-about").textContent = weighted.length
      ? "The weight of each worker's update in the aggregate, a line per worker; the dotted line is an equal share. Weight alone does not decide: the cosine says where the aggregate points. Coordinate-wise rules have no such weights."
      : "None of the chosen runs has weights: coordinate-wise rules have none.";
  });
}
