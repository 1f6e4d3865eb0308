// What the words mean: one line about a term, shown where the pointer, the focus or a tap is.

const axisLine = (axis) => own(data.glossary.fields, axis) ?? null;
const wordLine = (word) => own(data.glossary.words, word) ?? null;
const lineOf = (axis, value) => own(own(data.glossary.values, axis), value) ?? null;

// A text that explains itself if there is a line about it.
function term(text, line, properties = {}) {
  if (!line) return make("span", properties, text);
  return make("span", { class: "term", tabindex: 0, "data-line": line, ...properties }, text);
}

// The line that is shown: its node, what it is about, and what has the focus there.
const tip = { node: null, about: null, anchor: null };

function hideTip() {
  if (!tip.anchor) return;
  tip.node.hidden = true;
  tip.anchor.removeAttribute("aria-describedby");
  tip.anchor = null;
}

function showTip(target) {
  const about = target.closest?.("[data-line]");
  if (!about) {
    hideTip();
    return;
  }
  const anchor = about.contains(document.activeElement) ? document.activeElement : about;
  if (anchor === tip.anchor) return;
  hideTip();
  Object.assign(tip, { anchor, about });
  tip.node.textContent = about.dataset.line;
  // A dialog lies above all else, so the line has to be in it.
  (about.closest("dialog") ?? document.body).append(tip.node);
  tip.node.hidden = false;
  anchor.setAttribute("aria-describedby", "tip");
  placeTip();
}

// Beside its term, wherever that has been scrolled to.
function placeTip() {
  if (!tip.anchor) return;
  const [box, size] = [tip.about.getBoundingClientRect(), tip.node.getBoundingClientRect()];
  if (!tip.about.isConnected || box.bottom < 0 || box.top > innerHeight) {
    hideTip();
    return;
  }
  const below = box.bottom + 8 + size.height < innerHeight || box.top < size.height + 8;
  tip.node.style.left = `${Math.max(8, Math.min(box.left, innerWidth - size.width - 8))}px`;
  tip.node.style.top = `${below ? box.bottom + 8 : box.top - size.height - 8}px`;
}

function startTerms() {
  tip.node = byId("tip");
  for (const node of document.querySelectorAll("[data-term]")) {
    node.dataset.line = wordLine(node.dataset.term) ?? axisLine(node.dataset.term) ?? "";
    node.tabIndex = 0;
    node.className = "term";
  }
  for (const event of ["pointerover", "focusin", "click"])
    document.addEventListener(event, ({ target }) => showTip(target));
  document.addEventListener("focusout", hideTip);
  document.addEventListener("pointerleave", hideTip);
  addEventListener("scroll", placeTip, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
  });
}
