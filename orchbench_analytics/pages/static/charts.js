// Charts, drawn as SVG in the colours of the page.

// A score with its interval on a line from `least` to `greatest`; what lies below has an arrow.
function whisker({ value, low, high }, [least, greatest]) {
  if (isAbsent(value)) return el("span", null, "–");
  const width = 190;
  const x = (score) => 6 + ((width - 12) * Math.max(0, score - least)) / (greatest - least || 1);
  const words = isAbsent(low) ? score(value)
    : `${score(value)}, 95 % interval ${score(low)} to ${score(high)}`;
  const isBelow = value < least;
  return svg("svg", { class: "whisker", viewBox: `0 0 ${width} 18`, role: "img", "aria-label": words },
    svg("title", null, words),
    svg("line", { class: "rail", x1: 0, x2: width, y1: 9, y2: 9 }),
    !isBelow && !isAbsent(low) &&
      svg("rect", { class: "span", x: x(low), width: Math.max(2, x(high) - x(low)), y: 5.5, height: 7, rx: 3.5 }),
    isBelow ? svg("path", { class: "point", d: "M0 9L8 4.5V13.5z" }) : svg("circle", { class: "point", cx: x(value), cy: 9, r: 3.5 }));
}

// From where to where a chart of scores goes: without the few that lie far below all others.
function domainOf(rows) {
  const known = rows.filter((row) => !isAbsent(row.average_score))
    .sort((x, y) => y.average_score - x.average_score);
  if (!known.length) return [0, 1];
  const kept = known.slice(0, Math.max(1, Math.ceil(known.length * 0.9)));
  return [Math.min(...kept.map((row) => row.low ?? row.average_score)), Math.max(...known.map((row) => row.high ?? row.average_score))];
}

// Points with names: {x, y, name, href, isMarked}; marked ones are joined by a stair.
function scatter({ points, xLabel, yLabel, writeX, writeY }) {
  const [width, height, left, bottom, top, right] = [860, 430, 58, 48, 26, 24];
  const x = scale(points.map((point) => point.x), left, width - right, { mayBeLog: true });
  const y = scale(points.map((point) => point.y), height - bottom, top, {});
  const front = points.filter((point) => point.isMarked).sort((p, q) => p.x - q.x);
  const stair = front.map((point, place) => `${place ? "H" : "M"}${x.at(point.x)}${place ? "V" : " "}${y.at(point.y)}`).join("");
  const placed = labelled(points.map((point) => ({ ...point, px: x.at(point.x), py: y.at(point.y) })), width);
  return svg("svg", { class: "scatter", viewBox: `0 0 ${width} ${height}`, role: "group",
    "aria-label": `${yLabel} against ${xLabel}` },
    y.ticks.map((tick) => [
      svg("line", { class: "grid", x1: left, x2: width - right, y1: y.at(tick), y2: y.at(tick) }),
      svg("text", { class: "tick end", x: left - 8, y: y.at(tick) + 4 }, writeY(tick))]),
    x.ticks.map((tick) =>
      svg("text", { class: "tick middle", x: x.at(tick), y: height - bottom + 20 }, writeX(tick))),
    svg("text", { class: "axis middle", x: (left + width) / 2, y: height - 6 }, xLabel),
    svg("text", { class: "axis", x: 4, y: 14 }, yLabel),
    front.length > 1 && svg("path", { class: "front", d: stair }),
    placed.reverse().map((point) => svg("a", { href: point.href },
      svg("title", null, `${point.name}: ${writeY(point.y)} at ${writeX(point.x)}`),
      svg("circle", { class: point.isMarked ? "point marked" : "point", cx: point.px, cy: point.py, r: 6 }),
      point.shown && svg("text", { class: `name ${point.anchor}`, x: point.labelX, y: point.labelY + 4 }, point.shown))));
}

// A scale with round ticks; logarithmic where values differ by more than a factor of 20.
function scale(values, from, to, { mayBeLog = false }) {
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  const isLog = mayBeLog && least > 0 && greatest / least > 20;
  const turn = isLog ? Math.log10 : (value) => value;
  const margin = (turn(greatest) - turn(least)) * 0.06 || Math.abs(turn(greatest)) * 0.1 || 1;
  const [low, high] = [turn(least) - margin, turn(greatest) + margin];
  const at = (value) => from + ((to - from) * (turn(value) - low)) / (high - low);
  return { at, ticks: isLog ? logTicks(low, high) : roundTicks(low, high) };
}

function roundTicks(low, high) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((found) => found >= rough);
  const ticks = [];
  for (let tick = Math.ceil(low / step); tick * step <= high; tick++) ticks.push(tick * step);
  return ticks;
}

function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(low); power <= high; power++) {
    for (const part of [1, 3]) ticks.push(part * 10 ** power);
  }
  return ticks.filter((tick) => Math.log10(tick) >= low && Math.log10(tick) <= high);
}

// Names beside their points, those of the front first: the first spot where none stands on another
// name or point. Others that find no spot tell their name when they are pointed at.
function labelled(points, width) {
  const taken = points.map((point) => [point.px - 7, point.py - 7, point.px + 7, point.py + 7]);
  const isFree = (box) => box[0] > 0 && box[2] < width && !taken.some((other) =>
    box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
  return [...points].sort((x, y) => y.isMarked - x.isMarked).map((point) => {
    const shown = cut(point.name, 28);
    const length = shown.length * 6.8;
    const spots = [0, -13, 13, -24, 24, -36, 36].flatMap((shift) => [["start", 11, shift], ["end", -11, shift]]);
    const boxOf = ([anchor, across, shift]) => {
      const start = point.px + across - (anchor === "end" ? length : 0);
      return [start, point.py + shift - 7, start + length, point.py + shift + 7];
    };
    const free = spots.find((found) => isFree(boxOf(found)));
    if (!free && points.length > MOST_NAMED_POINTS && !point.isMarked) return { ...point, shown: "" };
    const spot = free ?? spots[0];
    taken.push(boxOf(spot));
    return { ...point, shown, anchor: spot[0], labelX: point.px + spot[1], labelY: point.py + spot[2] };
  });
}

const MOST_NAMED_POINTS = 30;
const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

// A bar of a share, with its figure beside it.
const bar = (share, words, kind = "") => el("span", { class: `bar ${kind}`,
  "--level": Math.max(0, Math.min(1, share ?? 0)).toFixed(3) }, el("span", null, words));

// Named figures as bars, the greatest filling its row.
function bars({ caption, items, write }) {
  const most = Math.max(...items.map((item) => Math.abs(item.value ?? 0)), 1e-9);
  return el("table", { class: "bars" }, el("caption", null, caption), el("tbody", null,
    items.map((item) => el("tr", null, el("th", { scope: "row" }, item.name),
      el("td", null, bar(Math.abs(item.value ?? 0) / most, write(item.value), item.kind))))));
}
