// What one sees, in plain words: who wins where, and where not.

function missingWords(missing, all) {
  if (!missing) return "";
  const noun = view.rows === "strategy" ? "strategies" : "rows";
  if (missing === all) return ` None of the ${noun} has all its runs yet.`;
  const verb = missing === 1 ? "lacks runs and is" : "lack runs and are";
  return ` ${missing} of ${all} ${noun} ${verb} not ranked.`;
}

function gainWords(best, known) {
  const aligned = known.find((cell) => cell.gain && cell.gain.mean !== null);
  if (!aligned || !measures().includes("gain")) return "";
  const points = `${fixed(Math.abs(aligned.gain.mean), 1)} points above the best method`;
  if (aligned === best) return `, ${points} without WoLA (${strategyTitle(best.gain.over)})`;
  return `, ${points} with WoLA (${strategyTitle(aligned.row)})`;
}

// One column.
function sentence({ cells: column, title: where }) {
  const known = column
    .filter((cell) => cell.accuracy.mean !== null)
    .sort((a, b) => b.accuracy.mean - a.accuracy.mean);
  const gaps = missingWords(column.length - known.length, column.length);
  const start = `On ${partTitle(thisPart())}${where ? ` at ${where.replace(/(, )?\bf = \d+$/, "")}` : ""}`.replace(/ at $/, "");
  if (!known.length) return `${start}:${gaps}`;
  const [best] = known;
  const counts = unique(best.rows.map((row) => row.f));
  const who =
    counts.length > 1
      ? ""
      : counts[0]
        ? `, with ${counts[0]} of ${workersOf(column)} workers Byzantine`
        : ", with no Byzantine worker";
  const attacks = new Set(best.rows.map((row) => row.attack)).size;
  const worst =
    attacks > 1 && best.worst ? ` Under its worst attacks it keeps ${fixed(best.worst.mean, 1)} %.` : "";
  const over = overWords(best.rows, placed());
  const most = view.rows === "attack" ? "leaves the highest accuracy" : "is most accurate";
  return (
    `${start}${who}, ${rowTitle(best)} ${most}: ${fixed(best.accuracy.mean, 1)} %` +
    `${over ? ` over ${over}` : ""}${gainWords(best, known)}.${worst}${gaps}`
  );
}

// Columns in few words: those of one group together.
function columnWords(columns, all) {
  if (view.columns.length < 2) return `at ${listed(columns.map((column) => column.title))}`;
  const [outer, inner] = view.columns;
  const whole = groups(all, (column) => column.values[0]);
  const words = [...groups(columns, (column) => column.values[0])].map(([value, same]) => {
    const some = same.map((column) => titleOf(inner)(column.values[1]));
    const every = same.length === whole.get(value).length;
    return `${placeTitle(outer, value)} (${every ? `every ${axisTitle(inner)}` : `${axisTitle(inner)} = ${some.join(", ")}`})`;
  });
  return `at ${listed(words)}`;
}

const MOST_NAMED = 6;

// Where a row is not first, and who is, by how much.
function lostWords(lost, row, name, all) {
  if (lost.length > MOST_NAMED) return `; not ${columnWords(lost, all)}`;
  const words = lost.map((column) => {
    const mine = column.cells.find((cell) => cell.row === row)[name];
    const leader = column.cells.find((cell) => cell[name].rank === 1);
    return `${column.title} (${rowTitle(leader)}, ${signed(leader[name].mean - mine.mean, 1)})`;
  });
  return `; not at ${listed(words)}`;
}

// All columns that have no gaps: who is first in the most of them, in mean and in the worst case.
function headline(columns) {
  const whole = columns.filter(
    ({ cells: column }) =>
      column.length > 1 && column.every((cell) => cell.accuracy.mean !== null),
  );
  if (whole.length < 2) return "";
  const names = ["accuracy", ...(measures().includes("worst") ? ["worst"] : [])];
  const firsts = (row, name) =>
    whole.filter((column) =>
      column.cells.some((cell) => cell.row === row && cell[name].rank === 1),
    );
  const candidates = unique(whole.flatMap((column) => column.cells.map((cell) => cell.row)));
  const there = candidates.filter((row) =>
    whole.every((column) => column.cells.some((cell) => cell.row === row)),
  );
  if (there.length < 2) return "";
  const level = (row) =>
    mean(whole.map((column) => column.cells.find((cell) => cell.row === row).accuracy.mean));
  const [best] = [...there].sort(
    (a, b) => firsts(b, "accuracy").length - firsts(a, "accuracy").length || level(b) - level(a),
  );
  const clauses = names.map((name) => {
    const won = firsts(best, name);
    const lost = whole.filter((column) => !won.includes(column));
    const how = name === "accuracy" ? "In mean accuracy" : "In the worst case";
    if (!lost.length) return `${how} it is first in all ${whole.length} columns.`;
    const where = won.length ? `: ${columnWords(won, whole)}` : "";
    return `${how} it is first in ${won.length} of ${whole.length} columns${where}${lostWords(lost, best, name, whole)}.`;
  });
  const everywhere = names.every((name) => firsts(best, name).length === whole.length);
  const gaps = columns.length - whole.length;
  const left = gaps ? ` ${count(gaps, "column")} with missing runs ${gaps === 1 ? "is" : "are"} left out.` : "";
  const who = placeTitle(view.rows, best);
  if (everywhere) {
    const cases = names.length > 1 ? ", in mean accuracy and in the worst case" : "";
    return `${who} is first in all ${whole.length} columns${cases}.${left}`;
  }
  return `${who} is first most often. ${clauses.join(" ")}${left}`;
}
