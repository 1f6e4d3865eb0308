// The page as a whole: its sentence, what is shown when, colours, and news from the server.

function missingWords(missing, all) {
  if (!missing) return "";
  if (missing === all) return " No strategy has all its runs yet.";
  const verb = missing === 1 ? "lacks runs and is" : "lack runs and are";
  return ` ${missing} of ${all} strategies ${verb} not ranked.`;
}

function gainWords(best, known) {
  const aligned = known.find((cell) => cell.gain.mean !== null);
  if (!aligned) return "";
  const points = `${fixed(Math.abs(aligned.gain.mean), 1)} points above the best method`;
  if (aligned === best) return `, ${points} without WoLA (${strategyTitle(best.gain.over)})`;
  return `, ${points} with WoLA (${strategyTitle(aligned.strategy)})`;
}

function overWords(found) {
  const words = ["aggregator", "attack", "seed"].map((name) => {
    const values = unique(found.map((row) => row[name]));
    return values.length === 1 && name !== "seed" ? title(values[0]) : count(values.length, name);
  });
  return listed(words);
}

// What one sees, in plain words.
function sentence(column) {
  const known = column
    .filter((cell) => cell.accuracy.mean !== null)
    .sort((a, b) => b.accuracy.mean - a.accuracy.mean);
  const { alpha, f } = view.focus;
  const gaps = missingWords(column.length - known.length, column.length);
  const where = `On ${partTitle(state.part)} at alpha = ${alpha}`;
  if (!known.length) return `${where}, f = ${f}:${gaps}`;
  const [best] = known;
  const who = f ? `${f} of ${workersOf(column)} workers Byzantine` : "no Byzantine worker";
  const attacks = new Set(best.rows.map((row) => row.attack)).size;
  const worst =
    attacks > 1 ? ` Under its worst attacks it keeps ${fixed(best.worst.mean, 1)} %.` : "";
  return (
    `${where}, with ${who}, ${strategyTitle(best.strategy)} is most accurate: ` +
    `${fixed(best.accuracy.mean, 1)} % over ${overWords(best.rows)}` +
    `${gainWords(best, known)}.${worst}${gaps}`
  );
}

const announce = (text) => {
  byId("announce").textContent = text;
};

function keepFocus(change) {
  const id = document.activeElement?.id;
  change();
  if (id && document.activeElement?.id !== id) byId(id)?.focus({ preventScroll: true });
}

// The hardest column that is complete, or as complete as any.
function hardest(found) {
  const columns = [...groups(found, columnOf)].map(([name, same]) => {
    const [alpha, f] = JSON.parse(name);
    return {
      alpha,
      f,
      known: same.filter((cell) => cell.accuracy.mean !== null).length,
      runs: same.reduce((sum, cell) => sum + cell.rows.length, 0),
    };
  });
  columns.sort(
    (a, b) =>
      b.known - a.known || (a.known ? 0 : b.runs - a.runs) || a.alpha - b.alpha || b.f - a.f,
  );
  return columns.length ? { alpha: columns[0].alpha, f: columns[0].f } : null;
}

// The best with WoLA and the best without it.
function contenders(column) {
  const best = (wola) =>
    column
      .filter((cell) => usesWola(cell.strategy) === wola && cell.rows.length)
      .sort((a, b) => (b.accuracy.mean ?? -1) - (a.accuracy.mean ?? -1))[0];
  return new Set([best(true), best(false)].filter(Boolean).map((cell) => cell.strategy));
}

function settle(found) {
  view.focus = state.focus;
  if (!found.some(inFocus)) view.focus = hardest(found);
  const column = found.filter(inFocus);
  view.picked = state.picked ?? contenders(column);
  return column;
}

function showEmpty(text, reset) {
  const button = reset
    ? [
        make(
          "button",
          { type: "button", class: "button", onclick: resetFilters },
          "Reset the filters",
        ),
      ]
    : [];
  byId("empty").replaceChildren(make("p", {}, text), ...button);
}

function render() {
  const known = parts();
  if (!known.includes(state.part)) state.part = known[0] ?? null;
  document.title = `${state.part ? partTitle(state.part) : "No runs"} · wola`;
  byId("title").textContent = state.part ? partTitle(state.part) : "";
  keepFocus(() => {
    showFilters();
    const found = state.part ? cells() : [];
    const column = settle(found);
    byId("empty").hidden = column.length > 0;
    byId("results").hidden = !column.length;
    if (!known.length)
      showEmpty(
        data.place === "server"
          ? "There are no runs yet. They appear here as they are done."
          : "There are no runs to show.",
        false,
      );
    else if (!column.length) showEmpty("No run passes these filters.", true);
    byId("sentence").textContent = column.length ? sentence(column) : "";
    if (!column.length) return;
    showMeasures();
    showOverview(found);
    showRanking(column);
    showRuns(column.filter((cell) => view.picked.has(cell.strategy)).flatMap((cell) => cell.rows));
    showCurves(column);
  });
  byId("notes").replaceChildren(...data.notes.map((note) => make("li", {}, note)));
  if (data.place !== "server") byId("status").textContent = count(rows.size, "run");
}

function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const now = () => root.dataset.theme ?? (dark.matches ? "dark" : "light");
  const label = () => {
    byId("theme").textContent = now() === "dark" ? "Light" : "Dark";
    byId("theme").setAttribute(
      "aria-label",
      `Switch to ${now() === "dark" ? "light" : "dark"} colours`,
    );
  };
  try {
    const kept = localStorage.getItem("wola-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch {
    /* Pages from the disk may have no storage. */
  }
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = now() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("wola-theme", root.dataset.theme);
    } catch {
      /* It then lasts as long as the page. */
    }
    label();
  });
  dark.addEventListener("change", label);
  label();
}

async function poll() {
  const status = byId("status");
  try {
    const answer = await fetch(`rows?since=${state.stamp}`);
    if (!answer.ok) throw new Error(answer.statusText);
    const news = await answer.json();
    if (news.whole) {
      rows.clear();
      withWola.clear();
    }
    Object.assign(data, news.names);
    for (const values of news.rows) details.delete(take(values).key);
    for (const key of news.gone) rows.delete(key);
    const changed =
      news.whole ||
      news.rows.length ||
      news.gone.length ||
      String(news.notes) !== String(data.notes);
    state.stamp = news.stamp;
    data.notes = news.notes;
    status.className = "quiet live";
    status.textContent = `live · ${count(rows.size, "run")}${news.running ? `, ${news.running} under way` : ""}`;
    if (changed) render();
  } catch {
    status.className = "quiet";
    status.textContent = `the server has ended · ${count(rows.size, "run")}`;
  }
  setTimeout(poll, document.hidden ? 10000 : 2000);
}

function start() {
  data.rows.forEach((values, place) => {
    take(values).file = data.files?.[place];
  });
  startTheme();
  addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll(".menu[open]"))
      if (!menu.contains(event.target) && event.target.isConnected) menu.open = false;
  });
  addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" ? document.querySelector(".menu[open]") : null;
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  let width = innerWidth,
    timer = 0;
  addEventListener("resize", () => {
    if (innerWidth !== width) {
      width = innerWidth;
      clearTimeout(timer);
      timer = setTimeout(render, 150);
    }
  });
  if (data.place === "server") poll();
  else render();
}

start();
