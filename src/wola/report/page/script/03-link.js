// The address of what one sees: all choices stand behind the # of the page's own address, so that
// a link shows the same, also from a file.

const joinedBy = (values) => values.map((value) => encodeURIComponent(value)).join(",");
const splitBy = (text) => (text === "" ? [] : text.split(",").map(decodeURIComponent));

function linkOf(chosen) {
  const link = [];
  const say = (name, text) => link.push(`${encodeURIComponent(name)}=${text}`);
  if (chosen.part !== null) say("data", joinedBy(JSON.parse(chosen.part)));
  for (const name of ["rows", "across", "run"])
    if (chosen[name] !== null) say(name, encodeURIComponent(chosen[name]));
  if (chosen.columns !== null) say("columns", joinedBy(chosen.columns));
  if (chosen.focus !== null) say("at", joinedBy(chosen.focus));
  if (chosen.picked !== null) say("curves", joinedBy([...chosen.picked]));
  if (chosen.measure !== "accuracy") say("measure", chosen.measure);
  if (chosen.cell !== null) say("cell", joinedBy(Object.entries(chosen.cell).flat()));
  if (chosen.sort !== null) say("sort", joinedBy(chosen.sort));
  if (chosen.search) say("find", encodeURIComponent(chosen.search));
  if (chosen.more > 1) say("pages", chosen.more);
  for (const [axis, off] of Object.entries(chosen.off))
    if (off.size) say(`no-${axis}`, joinedBy([...off].sort()));
  return link.length ? `#${link.join("&")}` : "";
}

const READERS = {
  data: (text) => ({ part: JSON.stringify(splitBy(text)) }),
  rows: (text) => ({ rows: decodeURIComponent(text) }),
  across: (text) => ({ across: decodeURIComponent(text) }),
  run: (text) => ({ run: decodeURIComponent(text) }),
  columns: (text) => ({ columns: splitBy(text).slice(0, 2) }),
  at: (text) => ({ focus: splitBy(text) }),
  curves: (text) => ({ picked: new Set(splitBy(text)) }),
  measure: (text) => (Object.hasOwn(MEASURES, text) ? { measure: text } : {}),
  cell: (text) => {
    const words = splitBy(text);
    const pairs = words.flatMap((word, place) => (place % 2 ? [] : [[word, words[place + 1]]]));
    return { cell: Object.fromEntries(pairs) };
  },
  sort: (text) => ({ sort: splitBy(text) }),
  find: (text) => ({ search: decodeURIComponent(text) }),
  pages: (text) => ({ more: Math.max(1, Math.min(1000, Number.parseInt(text, 10) || 1)) }),
};

// What an address says; words that mean nothing here are left out.
function chosenIn(link) {
  const chosen = unchosen();
  for (const piece of link.replace(/^#/, "").split("&")) {
    const [name, text = ""] = piece.split("=", 2);
    try {
      if (name.startsWith("no-"))
        chosen.off[decodeURIComponent(name.slice(3))] = new Set(splitBy(text));
      else if (Object.hasOwn(READERS, name)) Object.assign(chosen, READERS[name](text));
    } catch {
      continue;
    }
  }
  return chosen;
}

function writeLink({ replace = false } = {}) {
  const link = linkOf(state);
  if (link === location.hash) return;
  const address = link || location.pathname + location.search;
  history[replace ? "replaceState" : "pushState"](null, "", address);
}

function readLink() {
  Object.assign(state, chosenIn(location.hash));
}

// The address with what the page itself has chosen, so that it stays when there are more runs.
function wholeLink() {
  const picked = view.picked.size || state.picked ? view.picked : null;
  const focus = view.focus === null ? null : view.focus.values.map(String);
  const part = state.part ?? bases()[0] ?? null;
  const pinned = { ...state, part, rows: view.rows, columns: view.columns, focus, picked };
  return location.href.split("#", 1)[0] + linkOf(pinned);
}

function startLinks() {
  readLink();
  addEventListener("popstate", () => {
    readLink();
    render();
  });
  const copy = byId("link");
  copy.addEventListener("click", async () => {
    await copyText(wholeLink(), copy);
    setTimeout(() => {
      copy.textContent = "Copy link";
    }, 2000);
  });
}
