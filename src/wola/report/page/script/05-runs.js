// The runs behind the numbers, and the scenario of each.

function showRuns(found) {
  const sorted = ordered(
    "strategy",
    found.map((row) => row.strategy),
  ).flatMap((name) => found.filter((row) => row.strategy === name));
  const shown = state.all ? sorted : sorted.slice(0, 60);
  const text = (row) =>
    [strategyTitle(row.strategy), title(row.aggregator), title(row.attack)].map((value) =>
      make("td", { class: "name" }, value),
    );
  const body = shown.map((row) =>
    make(
      "tr",
      {},
      text(row),
      make("td", {}, row.seed),
      make("td", {}, row.accuracy === null ? "–" : fixed(row.accuracy, 1)),
      make("td", {}, row.dissimilarity === null ? "–" : short(row.dissimilarity)),
      make("td", { class: "name" }, row.ending),
      make(
        "td",
        {},
        make(
          "button",
          {
            type: "button",
            class: "plain link",
            id: `run-${row.key}`,
            "aria-label": `Scenario of ${strategyTitle(row.strategy)}, ${title(row.aggregator)}, ${title(row.attack)}, seed ${row.seed}`,
            onclick: () => showScenario(row),
          },
          "Scenario",
        ),
      ),
    ),
  );
  const more =
    shown.length < sorted.length
      ? make(
          "button",
          {
            type: "button",
            class: "button",
            id: "all-runs",
            onclick: () => {
              state.all = true;
              render();
            },
          },
          `Show all ${sorted.length}`,
        )
      : null;
  const heads = [
    "Strategy",
    "Aggregator",
    "Attack",
    "Seed",
    "Accuracy",
    "Dissimilarity",
    "Ending",
    "",
  ].map((name, place) =>
    make(
      "th",
      { scope: "col", class: place < 3 || place === 6 ? "name" : "" },
      name || make("span", { class: "unseen" }, "Scenario"),
    ),
  );
  byId("runs").replaceChildren(
    sorted.length
      ? make("table", {}, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, body))
      : make("p", { class: "quiet" }, "Choose strategies in the ranking above."),
    ...(more ? [more] : []),
  );
  byId("runs-about").textContent =
    `${count(sorted.length, "run")} of the strategies chosen above. Each can be done again with the command of its scenario.`;
}

async function showScenario(row) {
  await fetchDetails([row]);
  const found = details.get(row.key) ?? {};
  const dialog = byId("scenario");
  const command = make(
    "code",
    { id: "command" },
    found.command ?? "The command could not be loaded.",
  );
  const copy = make(
    "button",
    { type: "button", class: "button", id: "copy", onclick: () => copyText(command, copy) },
    "Copy",
  );
  const facts = {
    Dataset: partTitle(partOf(row)),
    alpha: row.alpha,
    Workers: `${row.workers}, ${row.f} of them Byzantine`,
    Strategy: strategyTitle(row.strategy),
    Aggregator: title(row.aggregator),
    Attack: title(row.attack),
    Seed: row.seed,
    Accuracy: row.accuracy === null ? "none" : `${fixed(row.accuracy, 2)} %`,
    Ending: row.ending,
    Key: row.key,
  };
  if (found.answered)
    facts.Result = `that of run ${found.answered}, which makes the same computations`;
  dialog.replaceChildren(
    make("h2", { id: "scenario-title" }, "Scenario"),
    make(
      "dl",
      {},
      Object.entries(facts).flatMap(([name, value]) => [
        make("dt", {}, name),
        make("dd", {}, value),
      ]),
    ),
    make("pre", {}, command),
    make(
      "div",
      { class: "row" },
      copy,
      make(
        "button",
        { type: "button", class: "button", id: "close", onclick: () => dialog.close() },
        "Close",
      ),
    ),
  );
  dialog.showModal();
  copy.focus();
}

async function copyText(node, button) {
  try {
    await navigator.clipboard.writeText(node.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(node);
    button.textContent = document.execCommand("copy") ? "Copied" : "Selected: press Ctrl+C";
  }
  announce(button.textContent);
}
