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

function strategyChart(name, caption, about, format, column, width) {
  const lines = column
    .map((cell) => ({ cell, ...look(cell.strategy), ...curve(cell.rows, name) }))
    .filter((line) => line.points.length);
  if (!lines.length)
    return make("p", { class: "quiet" }, `${caption}: none of the chosen runs has a curve.`);
  const incomplete = ({ cell, runs }) => runs !== cell.accuracy.expected;
  const value = (line) => (step) => {
    const point = line.points.find((one) => one.x === step);
    if (!point) return "–";
    return point.high > point.low
      ? `${format(point.y)} (${format(point.low)} to ${format(point.high)})`
      : format(point.y);
  };
  const label = (line) =>
    `${strategyTitle(line.cell.strategy)}${incomplete(line) ? ` (${line.runs} of ${line.cell.accuracy.expected} runs)` : ""}`;
  const legend = lines.map((line) => ({
    name: label(line),
    swatch: swatch(line.cell.strategy),
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
      id: `chart-${name}`,
      caption,
      about,
      lines,
      legend,
      summary,
      log: name === "dissimilarity",
      table: stepTable(lines.map(label), (step) => lines.map((line) => value(line)(step))),
      said: partial.length
        ? `Runs are missing for ${listed(partial.map((line) => strategyTitle(line.cell.strategy)))}: these curves are of the runs that are there and cannot be compared.`
        : null,
    },
    width,
  );
}

function weightsChart(cell, place, width) {
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
  const share =
    sides.length === 2 ? total(sides[1][1]) / (total(sides[0][1]) + total(sides[1][1])) : 0;
  const said =
    sides.length === 2
      ? `The ${count(sides[1][1].length, "Byzantine worker")} got ${fixed(100 * share, 1)} % of all weight; ${fixed((100 * sides[1][1].length) / found.lines.length, 1)} % would be an equal share.`
      : null;
  const names = found.lines.map((_, worker) =>
    worker < found.honest ? String(worker + 1) : `B${worker + 1 - found.honest}`,
  );
  return chart(
    {
      id: `weights-${place}`,
      caption: strategyTitle(cell.strategy),
      about: `${count(found.runs, "run")} with ${listed(found.rules)}`,
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

let drawing = 0;
async function showCurves(column) {
  const turn = (drawing += 1);
  const wanted = column.filter((cell) => view.picked.has(cell.strategy));
  const found = wanted.flatMap((cell) => cell.rows);
  byId("weights-title").hidden = byId("weights-about").hidden = !wanted.length;
  if (!wanted.length) {
    byId("curves-about").textContent =
      "Choose strategies in the ranking above to see their curves.";
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
    "Mean of the chosen aggregators and attacks; the band reaches from the lowest to the highest seed.";
  keepFocus(() => {
    byId("charts").replaceChildren(
      strategyChart(
        "accuracy",
        "Accuracy",
        "in % of the test set",
        (value) => fixed(value, 1),
        wanted,
        width,
      ),
      strategyChart(
        "dissimilarity",
        "Dissimilarity",
        "of honest workers' momenta",
        short,
        wanted,
        width,
      ),
    );
    const weighted = wanted.map((cell, place) => weightsChart(cell, place, width)).filter(Boolean);
    byId("weights").replaceChildren(...weighted);
    byId("weights-about").textContent = weighted.length
      ? "The weight of each worker's update in the aggregate, a line per worker; the dotted line is an equal share. Coordinate-wise rules have no such weights."
      : "None of the chosen runs has weights: coordinate-wise rules have none.";
  });
}
