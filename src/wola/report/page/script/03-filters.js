// The bar of filters.

function menus() {
  const made = [
    { name: "part", label: "Dataset", kind: "radio", values: parts(), shown: partTitle },
  ];
  for (const [name, label] of Object.entries(FILTERS)) {
    const values = ordered(
      name,
      ofPart().map((row) => row[name]),
    );
    made.push({ name, label, kind: "checkbox", values, shown: titleOf(name) });
  }
  return made;
}

const isChosen = (name, value) =>
  name === "part" ? state.part === value : !state.off[name].has(value);

function choose(name, value, wanted) {
  if (name === "part") Object.assign(state, { part: value, focus: null, picked: null });
  else state.off[name][wanted ? "delete" : "add"](value);
  render();
}

function makeMenu({ name, label, kind, values, shown }) {
  const choices = values.map((value, place) =>
    make(
      "label",
      {},
      make("input", {
        type: kind,
        name: `filter-${name}`,
        id: `filter-${name}-${place}`,
        onchange: (event) => choose(name, value, event.target.checked),
      }),
      shown(value),
    ),
  );
  const set = (off) => () => {
    state.off[name] = new Set(off);
    render();
  };
  const ends =
    kind === "radio"
      ? null
      : make(
          "div",
          { class: "ends" },
          make(
            "button",
            { type: "button", class: "button", id: `all-${name}`, onclick: set([]) },
            "All",
          ),
          make(
            "button",
            { type: "button", class: "button", id: `none-${name}`, onclick: set(values) },
            "None",
          ),
        );
  return make(
    "details",
    {
      class: "menu",
      id: `menu-${name}`,
      "data-values": JSON.stringify(values.map((value) => [value, shown(value)])),
      open: byId(`menu-${name}`)?.open,
      ontoggle: closeOthers,
    },
    make("summary", { id: `summary-${name}` }, `${label}: `, make("b")),
    make("div", { class: "sheet", role: "group", "aria-label": label }, choices, ends),
  );
}

// A menu is made anew only for new values, so that whoever is choosing is not disturbed.
function showMenu(menu) {
  const { name, kind, values, shown } = menu;
  let node = byId(`menu-${name}`);
  if (node?.dataset.values !== JSON.stringify(values.map((value) => [value, shown(value)]))) {
    const made = makeMenu(menu);
    if (node) node.replaceWith(made);
    else byId("filters").append(made);
    node = made;
  }
  const on = values.filter((value) => isChosen(name, value));
  node.querySelectorAll("input").forEach((input, place) => {
    input.checked = isChosen(name, values[place]);
  });
  node.classList.toggle("cut", kind !== "radio" && on.length < values.length);
  let text =
    on.length > 2 ? `${on.length} of ${values.length}` : on.map(shown).join(", ") || "none";
  if (on.length === values.length && kind !== "radio") text = `all ${values.length}`;
  node.querySelector("summary b").textContent = text;
}

function closeOthers(event) {
  if (!event.target.open) return;
  for (const menu of document.querySelectorAll(".menu[open]"))
    if (menu !== event.target) menu.open = false;
}

function resetFilters() {
  for (const off of Object.values(state.off)) off.clear();
  render();
}

function showFilters() {
  menus().forEach(showMenu);
  const cut = Object.values(state.off).some((off) => off.size);
  byId("reset")?.remove();
  if (cut)
    byId("filters").append(
      make(
        "button",
        { type: "button", class: "button", id: "reset", onclick: resetFilters },
        "Reset",
      ),
    );
}
