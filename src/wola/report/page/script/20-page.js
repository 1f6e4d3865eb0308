// The page as a whole: what is shown when, and colours.

const announce = (text) => {
  byId("announce").textContent = text;
};

function keepFocus(change) {
  const id = document.activeElement?.id;
  change();
  if (id && document.activeElement?.id !== id) byId(id)?.focus({ preventScroll: true });
}

// The hardest column that is complete, or as complete as any.
function hardest(columns) {
  const known = ({ cells: column }) => column.filter((cell) => cell.accuracy.mean !== null).length;
  const there = ({ cells: column }) => column.reduce((sum, cell) => sum + cell.rows.length, 0);
  const at = ({ values }, axis) => values[view.columns.indexOf(axis)] ?? 0;
  const sorted = [...columns].sort(
    (a, b) =>
      known(b) - known(a) ||
      (known(a) ? 0 : there(b) - there(a)) ||
      at(a, "alpha") - at(b, "alpha") ||
      at(b, "f") - at(a, "f"),
  );
  return sorted[0] ?? null;
}

// The best with WoLA and the best without it, or the best two.
function contenders(column) {
  const best = column
    .filter((cell) => cell.rows.length)
    .sort((a, b) => (b.accuracy.mean ?? -1) - (a.accuracy.mean ?? -1));
  const found = measures().includes("gain")
    ? [true, false].map((wola) => best.find((cell) => usesWola(cell.row) === wola))
    : best.slice(0, 2);
  return new Set(found.filter(Boolean).map((cell) => String(cell.row)));
}

function settle(columns) {
  const wanted = state.focus === null ? null : state.focus.join("\n");
  view.focus =
    columns.find((column) => column.values.map(String).join("\n") === wanted) ?? hardest(columns);
  view.picked = state.picked ?? (view.focus ? contenders(view.focus.cells) : new Set());
}

function showEmpty(text, reset) {
  const pressed = reset ? [button("reset-all", "Reset the filters", resetFilters)] : [];
  byId("empty").replaceChildren(make("p", {}, text), ...pressed);
}

function showTitle() {
  const name = rows.size ? partTitle(thisPart()) : "";
  document.title = `${name || "No runs"} · wola`;
  byId("title").textContent = name;
}

function showResults(found, columns) {
  byId("headline").textContent = headline(columns);
  byId("sentence").textContent = sentence(view.focus);
  showArrangement();
  showMeasures();
  showOverview(found, columns);
  showRanking(view.focus);
  showMatrix();
  showRuns();
  showCurves(view.focus.cells);
  showRun();
}

function render() {
  settleAxes();
  hideTip();
  showTitle();
  keepFocus(() => {
    if (rows.size) showFilters();
    else byId("filters").replaceChildren();
    const found = rows.size ? cells() : [];
    const columns = columnsOf(found);
    settle(columns);
    byId("empty").hidden = columns.length > 0;
    byId("results").hidden = !columns.length;
    if (!rows.size)
      showEmpty(
        data.place === "server"
          ? "There are no runs yet. They appear here as they are done."
          : "There are no runs to show.",
        false,
      );
    else if (!columns.length) showEmpty("No run passes these filters.", true);
    if (columns.length) showResults(found, columns);
    else for (const id of ["headline", "sentence"]) byId(id).textContent = "";
  });
  byId("notes").replaceChildren(...data.notes.map((note) => make("li", {}, note)));
  if (data.place !== "server") byId("status").textContent = count(rows.size, "run");
}

function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const storage = (use) => {
    try {
      return use(localStorage);
    } catch {
      return null; // Pages from the disk may have no storage: a choice then lasts as long as they.
    }
  };
  let chosen = storage((kept) => kept.getItem("wola-theme"));
  const show = () => {
    root.dataset.theme = ["dark", "light"].includes(chosen) ? chosen : dark.matches ? "dark" : "light";
    const other = root.dataset.theme === "dark" ? "Light" : "Dark";
    byId("theme").textContent = other;
    byId("theme").setAttribute("aria-label", `Switch to ${other.toLowerCase()} colours`);
  };
  byId("theme").addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    storage((kept) => kept.setItem("wola-theme", chosen));
    show();
  });
  dark.addEventListener("change", show);
  show();
}

function startMenus() {
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
  // The address is for what is shown, so the way past the bar does not use it.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
}

function start() {
  data.rows.forEach((values, place) => {
    take(values).file = data.files?.[place];
  });
  for (const begin of [startTheme, startTerms, startEdges, startMenus, startSearch, startRun, startLinks])
    begin();
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
