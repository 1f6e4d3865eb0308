// What one sees as files: tables as CSV and LaTeX, charts as SVG and PNG.

function save(name, kind, content) {
  const words = [state.run ? "run" : thisPart() && partTitle(thisPart()), name].join(" ");
  const file = words.toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^-|-$/g, "");
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content]));
  make("a", { href: address, download: `${file}.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  announce(`saved ${file}.${kind}`);
}

// A table's cells, row by row, as they are seen: text, how many columns wide, number, place.
function cellsSeen(rowsOfTable) {
  return [...rowsOfTable].map((row) =>
    [...row.children]
      .filter((cell) => !cell.classList.contains("tool"))
      .map((cell) => {
        const copy = cell.cloneNode(true);
        for (const unseen of copy.querySelectorAll("sup, svg, .unseen, .sign")) unseen.remove();
        const text = cell.dataset.text ?? copy.textContent.trim().replace(/\s+/g, " ");
        const { mean: number, sd, rank } = cell.dataset;
        return { text, span: cell.colSpan, number, sd, rank };
      }),
  );
}

function seen(table) {
  return { head: cellsSeen(table.tHead.rows), body: cellsSeen(table.tBodies[0].rows) };
}

const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : String(text));

// A name per column: what stands above it, from the top. Numbers are unrounded, deviations have
// columns of their own.
function asCsv({ head, body }) {
  const spread = head.map((row) => row.flatMap(({ text, span }) => Array(span).fill(text)));
  const names = spread.at(-1).map((_, place) =>
    unique(spread.map((row) => row[place]).filter(Boolean)).join(" "),
  );
  const withSd = names.map((_, place) => body.some((row) => row[place]?.sd !== undefined));
  const line = (values) => values.map(quoted).join(",");
  const heads = names.flatMap((name, place) => (withSd[place] ? [name, `${name} sd`] : [name]));
  const lines = body.map((row) =>
    line(
      row.flatMap(({ text, number, sd }, place) =>
        withSd[place] ? [number ?? text, sd ?? ""] : [number ?? text],
      ),
    ),
  );
  return `${[line(heads), ...lines].join("\r\n")}\r\n`;
}

const SIGNS = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "†": "$\\dagger$",
  "–": "--",
  "−": "$-$",
  "·": "$\\cdot$",
  "\u00a0": "~",
};
const latexText = (text) =>
  text.replace(/[\\~^†–−·\u00a0{}$&#_%]/g, (sign) => SIGNS[sign] ?? `\\${sign}`);

// A tabular for booktabs; the first three places as in the report.
function asLatex({ head, body }) {
  const wrap = { 1: "textbf", 2: "underline", 3: "textit" };
  const cell = ({ text, span, rank }) => {
    const words = latexText(text);
    const marked = own(wrap, rank) ? `\\${wrap[rank]}{${words}}` : words;
    return span > 1 ? `\\multicolumn{${span}}{c}{${marked}}` : marked;
  };
  const line = (row) => `${row.map(cell).join(" & ")} \\\\`;
  const width = head.at(-1).length;
  return [
    "% needs \\usepackage{booktabs}",
    `\\begin{tabular}{l${"r".repeat(width - 1)}}`,
    "\\toprule",
    ...head.map(line),
    "\\midrule",
    ...body.map(line),
    "\\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}

// Buttons that save a table; `read` gives its cells when one is pressed.
function tableButtons(name, read) {
  const kinds = { csv: ["CSV", asCsv], tex: ["LaTeX", asLatex] };
  return make(
    "span",
    { class: "files" },
    Object.entries(kinds).map(([kind, [label, write]]) =>
      button(`${kind}-${name}`, label, () => save(name, kind, write(read())), {
        "aria-label": `Save ${name.replaceAll("-", " ")} as ${label}`,
      }),
    ),
  );
}

const STYLES = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linejoin",
  "opacity",
  "font-size",
  "font-family",
  "font-weight",
];

// A copy of a drawing that looks the same wherever it is.
function styledCopy(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map((node) => [node, ...node.querySelectorAll("*")]);
  from.forEach((node, place) => {
    const style = getComputedStyle(node);
    for (const name of STYLES) to[place].setAttribute(name, style.getPropertyValue(name));
    to[place].removeAttribute("class");
  });
  return copy;
}

// A chart with its caption above and its legend below, as one drawing.
function pictureOf(figure) {
  const svg = figure.querySelector("svg.chart");
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const colour = (name) => getComputedStyle(figure).getPropertyValue(name).trim();
  const text = (words, x, y, weight) =>
    make(
      "svg:text",
      { x, y, fill: colour("--ink"), "font-size": 13, "font-weight": weight, "font-family": "sans-serif" },
      words,
    );
  const entries = [...figure.querySelectorAll(".legend li:has(svg)")];
  const whole = height + 34 + 20 * entries.length + 8;
  const inside = styledCopy(svg);
  for (const cursor of inside.querySelectorAll("[visibility=hidden]")) cursor.remove();
  for (const [name, value] of Object.entries({ x: 0, y: 28, width, height }))
    inside.setAttribute(name, value);
  const legend = entries.map((entry, place) => {
    const sample = styledCopy(entry.querySelector("svg"));
    sample.setAttribute("x", 46);
    sample.setAttribute("y", height + 36 + 20 * place);
    return [sample, text(entry.querySelector(".label").textContent, 84, height + 46 + 20 * place, 400)];
  });
  return make(
    "svg:svg",
    { xmlns: SVG, width, height: whole, viewBox: `0 0 ${width} ${whole}` },
    make("svg:rect", { width, height: whole, fill: colour("--card") }),
    text(figure.querySelector("figcaption .words").textContent, 12, 19, 600),
    inside,
    legend,
  );
}

async function asPng(text, width, height) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = make("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function chartButtons(id, caption) {
  const press = (kind) => async (event) => {
    const picture = pictureOf(event.target.closest("figure"));
    const text = new XMLSerializer().serializeToString(picture);
    const [width, height] = ["width", "height"].map((name) => Number(picture.getAttribute(name)));
    const content = kind === "png" ? await asPng(text, width, height) : text;
    save(`${id} ${caption}`, kind, content);
  };
  return make(
    "span",
    { class: "files" },
    ["svg", "png"].map((kind) =>
      button(`${kind}-${id}`, kind.toUpperCase(), press(kind), {
        "aria-label": `Save ${caption} as ${kind.toUpperCase()}`,
      }),
    ),
  );
}
