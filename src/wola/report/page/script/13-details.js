// Curves: where they come from, and means over runs.

const loading = new Map();
const arrived = new Map();
// Files beside the page call this with their content: JSON, compressed, in base64.
window.wolaCurves = (file, content) => arrived.set(file, content);

async function unpacked(content) {
  const bytes = Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

async function loadFile(file) {
  await new Promise((done) => {
    const script = make("script", {
      src: `curves/${String(file).padStart(5, "0")}.js`,
      onload: done,
      onerror: done,
    });
    document.head.append(script);
  });
  if (!arrived.has(file)) return;
  for (const [key, value] of Object.entries(await unpacked(arrived.get(file))))
    details.set(key, value);
  arrived.delete(file);
}

function loadOnce(file) {
  if (!loading.has(file)) loading.set(file, loadFile(file));
  return loading.get(file);
}

async function fetchDetails(wanted) {
  const missing = wanted.filter((row) => !details.has(row.key));
  if (data.place === "beside")
    await Promise.all(unique(missing.map((row) => row.file)).map(loadOnce));
  if (data.place !== "server") return;
  for (let start = 0; start < missing.length; start += 60) {
    const query = missing
      .slice(start, start + 60)
      .map((row) => `run=${row.key}`)
      .join("&");
    try {
      const answer = await fetch(`curves?${query}`);
      for (const [key, value] of Object.entries(await answer.json())) details.set(key, value);
    } catch {
      return;
    }
  }
}

// Mean over the seeds of the means over runs, with the lowest and highest seed; a step counts
// only where all runs have it.
function curve(found, name) {
  const drawn = found.filter((row) => details.get(row.key)?.[name]);
  const seeds = [...groups(drawn, (row) => row.seed).values()].map((same) => {
    const sums = new Map();
    for (const row of same) {
      const [steps, values] = details.get(row.key)[name];
      steps.forEach((step, place) => {
        if (values[place] === null) return;
        const sum = sums.get(step) ?? [0, 0];
        sums.set(step, [sum[0] + values[place], sum[1] + 1]);
      });
    }
    return new Map(
      [...sums]
        .filter(([, sum]) => sum[1] === same.length)
        .map(([step, sum]) => [step, sum[0] / sum[1]]),
    );
  });
  if (!seeds.length) return { points: [], runs: 0 };
  const steps = [...seeds[0].keys()]
    .filter((step) => seeds.every((seed) => seed.has(step)))
    .sort((a, b) => a - b);
  const points = steps.map((x) => {
    const values = seeds.map((seed) => seed.get(x));
    return { x, y: mean(values), low: Math.min(...values), high: Math.max(...values) };
  });
  return { points, runs: drawn.length };
}

function workerWeights(found) {
  const drawn = found
    .map((row) => [row, details.get(row.key)?.weights])
    .filter(([, weights]) => weights);
  if (!drawn.length) return null;
  const [{ workers, f }, { steps }] = drawn[0];
  const sums = Array.from({ length: workers }, () => steps.map(() => [0, 0]));
  for (const [, weights] of drawn) {
    const bytes = Uint8Array.from(atob(weights.bytes), (sign) => sign.charCodeAt(0));
    const unit = (weights.high - weights.low) / 254;
    bytes.forEach((byte, place) => {
      const sum = sums[place % workers]?.[Math.floor(place / workers)];
      if (sum && byte < 255) {
        sum[0] += weights.low + unit * byte;
        sum[1] += 1;
      }
    });
  }
  const lines = sums.map((line) =>
    line
      .map(([sum, number], place) => ({ x: steps[place], y: number ? sum / number : null }))
      .filter((point) => point.y !== null),
  );
  return {
    lines,
    honest: workers - f,
    weighted: drawn.map(([row]) => row),
    rules: unique(drawn.map(([row]) => title(row.aggregator))),
  };
}
