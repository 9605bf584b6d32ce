// Charts, drawn as SVG in the colours of the page.

// A score with its interval on a line from `least` to `greatest`.
function whisker({ value, low, high }, [least, greatest]) {
  if (value === null || value === undefined) return el("span", null, "–");
  const width = 140;
  const x = (score) => 4 + ((width - 8) * (score - least)) / (greatest - least || 1);
  const words = low === null || low === undefined ? score(value)
    : `${score(value)}, 95 % interval ${score(low)} to ${score(high)}`;
  return svg("svg", { class: "whisker", viewBox: `0 0 ${width} 18`, role: "img", "aria-label": words },
    svg("title", null, words),
    svg("line", { class: "rail", x1: 0, x2: width, y1: 9, y2: 9 }),
    low !== null && low !== undefined &&
      svg("rect", { class: "span", x: x(low), width: Math.max(2, x(high) - x(low)), y: 6, height: 6, rx: 3 }),
    svg("circle", { class: "point", cx: x(value), cy: 9, r: 4 }));
}

// Points with names: {x, y, name, href, isMarked}; marked ones are joined by a line.
function scatter({ points, xLabel, yLabel, writeX, writeY }) {
  const [width, height, left, bottom, top, right] = [760, 400, 58, 46, 18, 24];
  const [x, lowX, highX] = scale(points.map((point) => point.x), left, width - right);
  const [y, lowY, highY] = scale(points.map((point) => point.y), height - bottom, top);
  const ticks = (low, high) => [0, 1, 2, 3, 4].map((part) => low + (part * (high - low)) / 4);
  const front = points.filter((point) => point.isMarked).sort((a, b) => a.x - b.x);
  const labels = spread(points.map((point) => ({ ...point, px: x(point.x), py: y(point.y) })));
  return svg("svg", { class: "scatter", viewBox: `0 0 ${width} ${height}`, role: "group",
    "aria-label": `${yLabel} against ${xLabel}` },
    ticks(lowY, highY).map((tick) => [
      svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "tick end", x: left - 8, y: y(tick) + 4 }, writeY(tick))]),
    ticks(lowX, highX).map((tick) =>
      svg("text", { class: "tick middle", x: x(tick), y: height - bottom + 20 }, writeX(tick))),
    svg("text", { class: "axis middle", x: (left + width) / 2, y: height - 6 }, xLabel),
    svg("text", { class: "axis", x: 4, y: 12 }, yLabel),
    front.length > 1 && svg("polyline", { class: "front",
      points: front.map((point) => `${x(point.x)},${y(point.y)}`).join(" ") }),
    labels.map((point) => svg("a", { href: point.href },
      svg("title", null, `${point.name}: ${writeY(point.y)} at ${writeX(point.x)}`),
      svg("circle", { class: point.isMarked ? "point marked" : "point", cx: point.px, cy: point.py, r: 6 }),
      svg("text", { class: point.px > width - 190 ? "name end" : "name",
        x: point.px + (point.px > width - 190 ? -11 : 11), y: point.labelY + 4 }, cut(point.name, 26)))));
}

function scale(values, from, to) {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  low = low >= 0 ? Math.max(0, low - margin) : low - margin;
  high += margin;
  return [(value) => from + ((to - from) * (value - low)) / (high - low), low, high];
}

// Labels moved apart where they would stand on each other.
function spread(points) {
  const placed = [];
  for (const point of [...points].sort((a, b) => a.py - b.py)) {
    let labelY = point.py;
    for (const other of placed) {
      if (Math.abs(other.px - point.px) < 150 && labelY - other.labelY < 14) labelY = other.labelY + 14;
    }
    placed.push({ ...point, labelY });
  }
  return placed;
}

const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

// A bar of a share, with its figure beside it.
const bar = (share, words, kind = "") => el("span", { class: `bar ${kind}`,
  "--level": Math.max(0, Math.min(1, share ?? 0)).toFixed(3) }, el("span", null, words));

// A line of points over whole numbers: {name, points: [[x, y]]} for each series.
function bars({ caption, items, write }) {
  const most = Math.max(...items.map((item) => Math.abs(item.value ?? 0)), 1e-9);
  return el("table", { class: "bars" }, el("caption", null, caption), el("tbody", null,
    items.map((item) => el("tr", null, el("th", { scope: "row" }, item.name),
      el("td", null, bar(Math.abs(item.value ?? 0) / most, write(item.value), item.kind))))));
}
