// Charts, drawn as SVG in the colours of the page.

// The axis above a column of intervals.
const RAIL = 190;
const railPlace = (value, [least, greatest]) => 8 + ((RAIL - 16) * (value - least)) / (greatest - least || 1);

function axis(domain) {
  const ticks = roundTicks(...domain, 4);
  return svg("svg", { class: "whisker axis", viewBox: `0 0 ${RAIL} 18`, "aria-hidden": "true" }, ticks.map((tick) => [
    svg("line", { class: "rail", x1: railPlace(tick, domain), x2: railPlace(tick, domain), y1: 13, y2: 18 }),
    svg("text", { x: railPlace(tick, domain), y: 11 }, String(+(100 * tick).toFixed(1)))]));
}

// A score with its interval on the axis; what lies below it has an arrow.
function whisker({ value, low, high }, domain, write = points) {
  if (isAbsent(value)) return el("span", null, "–");
  const x = (at) => Math.max(1, Math.min(RAIL - 1, railPlace(at, domain)));
  const said = isAbsent(low) ? write(value) : `${write(value)}, 95 % interval ${write(low)} to ${write(high)}`;
  const isBelow = value < domain[0];
  return svg("svg", { class: "whisker", viewBox: `0 0 ${RAIL} 18`, role: "img", "aria-label": said },
    svg("title", null, said),
    roundTicks(...domain, 4).map((tick) => svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 0, y2: 18 })),
    !isBelow && !isAbsent(low) &&
      svg("rect", { class: "span", x: x(low), width: Math.max(2, x(high) - x(low)), y: 5.5, height: 7, rx: 3.5 }),
    isBelow ? svg("path", { class: "point", d: "M0 9L8 4.5V13.5z" }) : svg("circle", { class: "point", cx: x(value), cy: 9, r: 3.5 }));
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

// A bar of a share, with its figure beside it.
const bar = (share, words, kind = "") => el("span", { class: `share ${kind}`,
  "--level": Math.max(0, Math.min(1, share ?? 0)).toFixed(3) }, el("span", null, words));

// Named figures as bars, the greatest filling its row.
function bars({ caption, items, write }) {
  const most = Math.max(...items.map((item) => Math.abs(item.value ?? 0)), 1e-9);
  return el("table", { class: "bars" }, el("caption", null, caption), el("tbody", null,
    items.map((item) => el("tr", null, el("th", { scope: "row" }, item.name),
      el("td", null, bar(Math.abs(item.value ?? 0) / most, write(item.value), item.kind))))));
}

// A button that saves a picture as it is shown, with its styles inside.
function saveButton(picture, name) {
  const save = () => {
    const copy = picture.cloneNode(true);
    const [shown, copies] = [picture, copy].map((root) => [root, ...root.querySelectorAll("*")]);
    shown.forEach((element, place) => {
      const style = getComputedStyle(element);
      for (const property of STYLES) copies[place].setAttribute(property, style.getPropertyValue(property));
      copies[place].removeAttribute("class");
    });
    const { width, height } = picture.viewBox.baseVal;
    withAttributes(copy, { xmlns: SVG, width, height });
    const link = el("a", { download: `${name}.svg`, href: URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  return el("button", { type: "button", class: "save-picture", click: save }, "SVG");
}
// A picture with its button, if there is a picture.
function withSave(place, name) {
  const picture = place.querySelector("svg");
  return picture ? [place, saveButton(picture, name)] : place;
}
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor", "opacity"];
