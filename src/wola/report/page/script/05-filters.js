// The bar of filters, and what stands on the rows and columns.

function menus() {
  const label = placed().includes("dataset") ? "Setting" : "Dataset";
  const made = [{ name: "part", label, values: parts(), shown: partTitle, alone: true }];
  for (const axis of unique([...FILTERS, ...placed()])) {
    const values = valuesHere(axis);
    made.push({ name: axis, label: axisTitle(axis), values, shown: titleOf(axis), alone: false });
  }
  return made;
}

const isChosen = (name, value) =>
  name === "part" ? thisPart() === value : !own(state.off, name)?.has(String(value));

function pick(name, value, wanted) {
  if (name === "part") {
    const part = bases().find((base) => partOf(base) === value);
    choose({ part, focus: null, picked: null, cell: null, more: 1 });
    return;
  }
  const off = new Set(own(state.off, name));
  off[wanted ? "delete" : "add"](String(value));
  choose({ off: { ...state.off, [name]: off }, more: 1 });
}

function makeMenu({ name, label, values, shown, alone }) {
  const choices = values.map((value, place) =>
    make(
      "label",
      { "data-line": alone ? null : lineOf(name, value) },
      make("input", {
        type: alone ? "radio" : "checkbox",
        name: `filter-${name}`,
        id: `filter-${name}-${place}`,
        onchange: (event) => pick(name, value, event.target.checked),
      }),
      make("span", {}, shown(value)),
    ),
  );
  const set = (off) => () =>
    choose({ off: { ...state.off, [name]: new Set(off.map(String)) }, more: 1 });
  const ends = alone
    ? null
    : make(
        "div",
        { class: "ends" },
        button(`all-${name}`, "All", set([])),
        button(`none-${name}`, "None", set(values)),
      );
  return make(
    "details",
    {
      class: "menu",
      id: `menu-${name}`,
      "data-values": label + valuesText(values, shown),
      open: byId(`menu-${name}`)?.open,
      ontoggle: closeOthers,
    },
    make(
      "summary",
      { id: `summary-${name}`, "data-line": axisLine(name === "part" ? "dataset" : name) },
      `${label}: `,
      make("b"),
    ),
    make("div", { class: "sheet", role: "group", "aria-label": label }, choices, ends),
  );
}

const valuesText = (values, shown) =>
  JSON.stringify(values.map((value) => [String(value), shown(value)]));

// A menu is made anew only for new values, so that whoever is choosing is not disturbed.
function showMenu(menu) {
  const { name, label, values, shown, alone } = menu;
  let node = byId(`menu-${name}`);
  if (node?.dataset.values !== label + valuesText(values, shown)) {
    const made = makeMenu(menu);
    if (node) node.replaceWith(made);
    else byId("filters").append(made);
    node = made;
  }
  const on = values.filter((value) => isChosen(name, value));
  node.querySelectorAll("input").forEach((input, place) => {
    input.checked = isChosen(name, values[place]);
  });
  node.classList.toggle("cut", !alone && on.length < values.length);
  let text =
    on.length > 2 ? `${on.length} of ${values.length}` : on.map(shown).join(", ") || "none";
  if (on.length === values.length && !alone && on.length > 1) text = `all ${values.length}`;
  node.querySelector("summary b").textContent = text;
}

function closeOthers(event) {
  if (!event.target.open) return;
  for (const menu of document.querySelectorAll(".menu[open]"))
    if (menu !== event.target) menu.open = false;
}

const resetFilters = () => choose({ off: {} });

function showFilters() {
  const wanted = menus();
  for (const node of document.querySelectorAll(".menu"))
    if (!wanted.some((menu) => node.id === `menu-${menu.name}`)) node.remove();
  wanted.forEach(showMenu);
  byId("reset")?.remove();
  if (Object.values(state.off).some((off) => off.size))
    byId("filters").append(button("reset", "Reset", resetFilters));
}

// A box to choose an axis with.
function axisBox(id, label, chosen, names, set) {
  const options = names.map((name) =>
    make(
      "option",
      { value: name, selected: name === chosen },
      name === "" ? "nothing" : axisTitle(name),
    ),
  );
  const box = make("select", { id, onchange: (event) => set(event.target.value) }, options);
  return make("label", { class: "axis" }, make("span", {}, label), box);
}

function arrange(changes) {
  const chosen = { rows: view.rows, columns: view.columns, ...changes };
  const columns = unique(chosen.columns).filter((axis) => axis && axis !== chosen.rows);
  choose({ ...chosen, columns, focus: null, picked: null, cell: null });
}

function showArrangement() {
  const [first = "", second = ""] = view.columns;
  const known = varyingAxes();
  const free = (name, ...taken) =>
    unique([name, ...known]).filter((axis) => axis && !taken.includes(axis));
  const boxes = [
    axisBox("axis-rows", "Rows", view.rows, free(view.rows), (rows) => arrange({ rows })),
    axisBox("axis-columns", "Columns", first, ["", ...free(first, view.rows)], (name) =>
      arrange({ columns: [name, second] }),
    ),
  ];
  if (first)
    boxes.push(
      axisBox("axis-within", "within each", second, ["", ...free(second, view.rows, first)], (name) =>
        arrange({ columns: [first, name] }),
      ),
    );
  const usual = () => choose({ rows: null, columns: null, focus: null, picked: null, cell: null });
  byId("arrangement").replaceChildren(
    ...boxes,
    ...(view.arranged ? [button("usual-axes", "As usual", usual)] : []),
  );
}
