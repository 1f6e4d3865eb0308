// One run: its scenario, the command that does it again, its curves, and what its final model gets
// right and wrong.

function facts(row, found) {
  const made = [
    ["dataset", partTitle(row.base)],
    ["alpha", row.alpha],
    ["workers", `${row.workers}, ${row.f} of them Byzantine`],
    ["strategy", strategyTitle(row.strategy), lineOf("strategy", row.strategy)],
    ["aggregator", title(row.aggregator), lineOf("aggregator", row.aggregator)],
    ["attack", title(row.attack), lineOf("attack", row.attack)],
    ["seed", row.seed],
    ["accuracy", row.accuracy === null ? "none" : `${fixed(row.accuracy, 2)} %`],
    ["final", row.final === null ? "none" : `${fixed(row.final, 2)} %`],
    ...classFacts(found),
    ["dissimilarity", row.dissimilarity === null ? "none" : short(row.dissimilarity)],
    ["cosine", row.cosine === null ? "none" : fixed(row.cosine, 3)],
    ["ending", found.reason ? `${row.ending}: ${found.reason}` : row.ending],
    ["key", row.key],
  ];
  if (found.answered)
    made.push(["result", `that of run ${found.answered}, which makes the same computations`]);
  return make(
    "dl",
    {},
    made.flatMap(([name, value, line]) => [
      make("dt", {}, term(factTitle(name), wordLine(name) ?? axisLine(name))),
      make("dd", {}, line ? term(value, line) : String(value)),
    ]),
  );
}

const factTitle = (name) =>
  own(MEASURES, name)?.title ??
  own(AXES, name) ??
  name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");

// Means over classes of what the final model got right.
function classFacts({ classes, confusion }) {
  if (!classes) return [];
  const rates = classes.accuracies.filter((rate) => rate !== null);
  if (!rates.length) return [];
  const worst = classes.names[classes.accuracies.indexOf(lowest(rates))];
  const made = [
    ["balanced", `${fixed(mean(rates), 2)} %`],
    ["worst-class", `${fixed(lowest(rates), 2)} % (${worst})`],
  ];
  if (confusion) made.splice(1, 0, ["macro-f1", `${fixed(100 * macroF1(confusion), 2)} %`]);
  return made;
}

// Mean over the classes of the test set of 2 TP / (2 TP + FP + FN).
function macroF1(confusion) {
  const scores = confusion.flatMap((line, truth) => {
    const there = line.reduce((sum, hits) => sum + hits, 0);
    const guessed = confusion.reduce((sum, other) => sum + other[truth], 0);
    return there ? [(2 * line[truth]) / (there + guessed)] : [];
  });
  return mean(scores);
}

// Who is taken for whom: a row per class of the test set, in percent of that class.
function confusionTable({ names }, confusion) {
  const body = confusion.map((line, truth) => {
    const total = line.reduce((sum, hits) => sum + hits, 0);
    return make(
      "tr",
      {},
      make("th", { scope: "row", class: "name" }, names[truth]),
      line.map((hits, guess) => {
        const share = total ? hits / total : 0;
        const shade = hits ? `${truth === guess ? "g" : "e"}${Math.min(4, Math.floor(share * 5))}` : "";
        const text = total ? `${Math.round(100 * share)}` : "–";
        const about = `${names[truth]} taken for ${names[guess]}: ${hits} of ${total}`;
        return make("td", { class: shade, title: about }, hits || !total ? text : "");
      }),
      make("td", {}, total),
    );
  });
  const table = make(
    "table",
    { class: "confusion" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "col", class: "name" }, "is ↓ taken for →"),
        names.map((name) => make("th", { scope: "col" }, name)),
        make("th", { scope: "col" }, "tests"),
      ),
    ),
    make("tbody", {}, body),
  );
  return section("confusion", "Who is taken for whom", "in % of the class, by the final model", table);
}

function classTable({ names, accuracies }) {
  const body = names.map((name, place) => {
    const rate = accuracies[place];
    const filled = make("i");
    filled.style.width = `${rate ?? 0}%`;
    return make(
      "tr",
      {},
      make("th", { scope: "row", class: "name" }, name),
      make("td", { "data-mean": rate }, rate === null ? "–" : fixed(rate, 1)),
      make("td", { class: "tool rest" }, make("span", { class: "beam c5" }, filled)),
    );
  });
  const heads = make(
    "tr",
    {},
    make("th", { scope: "col", class: "name" }, "Class"),
    make("th", { scope: "col" }, "Accuracy"),
    make("td", { class: "tool" }),
  );
  const table = make("table", {}, make("thead", {}, heads), make("tbody", {}, body));
  return section("classes", "Class by class", "accuracy in % of the final model", table);
}

function section(name, caption, about, table) {
  return make(
    "div",
    { class: "inset" },
    make(
      "div",
      { class: "head" },
      make("h3", {}, caption, make("small", {}, about)),
      tableButtons(name, () => seen(table)),
    ),
    make("div", { class: "frame" }, make("div", { class: "scroll" }, table)),
  );
}

function runCharts(row, found, width) {
  const wanted = [
    ["accuracy", "Accuracy", "in % of the test set", (value) => fixed(value, 1)],
    ["dissimilarity", "Dissimilarity", "of honest workers' momenta", short],
    ["cosine", "Cosine", "of the aggregate and the honest mean", (value) => fixed(value, 2)],
  ].filter(([name]) => found[name]?.[0].length);
  const cell = { row: row[view.rows] ?? valueOf(row, view.rows), rows: [row], accuracy: { expected: 1 } };
  const lines = wanted.map(([name, caption, about, format]) =>
    rowChart({ id: `run-chart-${name}`, name, caption, about, format, column: [cell], width }),
  );
  const weights = weightsChart(cell, { id: "run-weights", caption: "Weights", width });
  return [...lines, ...(weights ? [weights] : [])];
}

async function showRun() {
  const dialog = byId("scenario");
  const row = state.run === null ? undefined : rows.get(state.run);
  if (!row) {
    if (dialog.open) dialog.close();
    return;
  }
  if (dialog.open && dialog.dataset.run === row.key) return;
  await fetchDetails([row]);
  if (state.run !== row.key) return;
  const found = details.get(row.key) ?? {};
  const text = found.command ?? "The command could not be loaded.";
  const command = make("code", { id: "command" }, text);
  const copy = button("copy", "Copy", () => copyText(text, copy));
  const width = Math.max(240, Math.min(820, innerWidth - 24) - 60);
  dialog.dataset.run = row.key;
  dialog.replaceChildren(
    make("h2", { id: "scenario-title" }, "Run"),
    facts(row, found),
    make("pre", {}, command),
    make("div", { class: "row" }, copy, button("close", "Close", () => dialog.close())),
    make("div", { class: "charts", id: "run-charts" }, runCharts(row, found, width)),
    ...(found.confusion ? [confusionTable(found.classes, found.confusion)] : []),
    ...(found.classes ? [classTable(found.classes)] : []),
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  for (const box of dialog.querySelectorAll(".frame > .scroll")) showEdges(box);
  copy.focus({ preventScroll: true });
}

function startRun() {
  byId("scenario").addEventListener("close", () => {
    const { run } = byId("scenario").dataset;
    if (state.run !== null) choose({ run: null });
    byId(`run-${run}`)?.focus({ preventScroll: true });
  });
}

async function copyText(text, pressed) {
  try {
    await navigator.clipboard.writeText(text);
    pressed.textContent = "Copied";
  } catch {
    const place = make("textarea", { class: "unseen", readonly: true }, text);
    pressed.after(place);
    place.select();
    pressed.textContent = document.execCommand("copy") ? "Copied" : "Could not copy";
    place.remove();
    pressed.focus();
  }
  announce(pressed.textContent);
}
