// A grid that is under way, as the server tells of it: how far it is, what runs now, what failed.

function clock(seconds) {
  const whole = Math.round(seconds);
  if (whole >= 4 * 86400) return `${Math.round(whole / 86400)} days`;
  const two = (value) => String(value).padStart(2, "0");
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}

function gridWords(grid) {
  const parts = [`${grid.done.toLocaleString("en")} of ${count(grid.total, "run")} done`];
  if (grid.failed) parts.push(`${grid.failed} failed`);
  if (grid.done + grid.failed < grid.total)
    parts.push(grid.left === null ? "time left not known yet" : `${clock(grid.left)} left`);
  return parts.join(" · ");
}

function gridBar(grid) {
  return make(
    "div",
    { class: "grid" },
    make("p", {}, make("b", {}, grid.title), " ", make("span", { class: "quiet" }, gridWords(grid))),
    make(
      "progress",
      { max: grid.total, value: grid.done + grid.failed, "aria-label": grid.title },
      gridWords(grid),
    ),
  );
}

function underWay(runs) {
  const lines = runs.map(({ name, step, steps, accuracy }) =>
    make(
      "li",
      {},
      make("span", {}, name),
      make("progress", { max: steps, value: step, "aria-label": name }),
      make(
        "span",
        { class: "quiet" },
        `${step}/${steps}${accuracy === null ? "" : ` · ${fixed(accuracy, 1)} %`}`,
      ),
    ),
  );
  return make("div", {}, make("h3", {}, "Running now"), make("ul", { class: "now" }, lines));
}

function failures(failed) {
  const lines = failed.map(({ name, reason }) =>
    make("li", {}, make("b", {}, name), " ", make("span", {}, reason)),
  );
  return make("div", {}, make("h3", {}, "Failed"), make("ul", { class: "failed" }, lines));
}

function showLive({ grids, under_way: runs, failed }) {
  const node = byId("live");
  node.hidden = !grids.length && !runs.length && !failed.length;
  const text = JSON.stringify([grids, runs, failed]);
  if (node.hidden || node.dataset.shown === text) return;
  node.dataset.shown = text;
  node.replaceChildren(
    make("h2", { id: "live-title" }, "Under way"),
    ...grids.map(gridBar),
    ...(runs.length ? [underWay(runs)] : []),
    ...(failed.length ? [failures(failed)] : []),
  );
}

async function poll() {
  const status = byId("status");
  try {
    const answer = await fetch(`rows?since=${live.stamp}`);
    if (!answer.ok) throw new Error(answer.statusText);
    const news = await answer.json();
    if (news.whole) {
      rows.clear();
      withWola.clear();
    }
    const named = JSON.stringify(news.names);
    const changed =
      news.whole ||
      news.rows.length ||
      news.gone.length ||
      named !== live.names ||
      String(news.notes) !== String(data.notes);
    Object.assign(data, news.names, { notes: news.notes });
    for (const values of news.rows) details.delete(take(values).key);
    for (const key of news.gone) rows.delete(key);
    Object.assign(live, { stamp: news.stamp, names: named });
    status.className = "quiet live";
    status.textContent = `live · ${count(rows.size, "run")}${news.running ? `, ${news.running} under way` : ""}`;
    showLive(news.progress);
    if (changed) {
      computed.clear();
      render();
    }
  } catch {
    status.className = "quiet";
    status.textContent = `the server has ended · ${count(rows.size, "run")}`;
  }
  setTimeout(poll, document.hidden ? 10000 : 2000);
}

const live = { stamp: "", names: "" };
