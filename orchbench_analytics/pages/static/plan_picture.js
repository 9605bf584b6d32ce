// The plan picture: both plans in one drawing, layer by layer, and the edits in words.

const STATES = ["same", "missing", "extra", "changed"];
const STATE_WORDS = ["in both", "missing", "extra", "changed"];
const BOX = { width: 190, height: 46, acrossGap: 56, downGap: 26, margin: 28 };
const BROAD = 720; // a picture wider than this takes the whole row
const [EDIT_GRAPH, EDIT_KIND, EDIT_SUBJECT, EDIT_WANTED, EDIT_GIVEN, EDIT_COST] = [0, 1, 2, 3, 4, 5];

const planPictures = (drawn, structureDistance, componentDistance) => [legend(), el("div", { class: "pictures" },
  planPicture(drawn, "structure", "Workflows and what they wait for", structureDistance),
  planPicture(drawn, "component", "Agents, their status and their order", componentDistance))];

function planPicture(drawn, graph, title, distance) {
  const [nodes, edges, layerSizes, isDrawn] = drawn[graph];
  const edits = drawn.edits.filter((edit) => edit[EDIT_GRAPH] === graph);
  const isBroad = layerSizes.length * (BOX.width + BOX.acrossGap) > BROAD;
  return el("figure", { class: isBroad ? "plan broad" : "plan" },
    el("figcaption", null, el("strong", null, title), " ",
      el("span", { class: "distance" }, `distance ${fixed(distance, 1)}`)),
    isDrawn ? withSave(el("div", { class: "canvas", tabindex: 0, role: "group", "aria-label": title },
      drawing(nodes, edges, layerSizes, title)), `plan-${graph}`)
      : note("This plan is too large to draw; its differences are listed."),
    editList(edits, drawn, distance));
}

const legend = () => el("p", { class: "legend" }, STATES.map((state, place) =>
  el("span", { class: `key ${state}` }, STATE_WORDS[place])));

function editList(edits, { edits: { length }, edit_count: editCount }, distance) {
  if (!edits.length) return note(distance ? "No edits were kept for this distance." : "Nothing to change: both plans agree.");
  const total = edits.reduce((all, edit) => all + edit[EDIT_COST], 0);
  const isCut = editCount > length;
  const isOther = !isCut && Math.abs(total - distance) > 1e-6;
  return [isOther && note("These edits are a true path. The public evaluator's search miscounts loops and prints another distance."),
  el("div", { class: "edit-list", tabindex: 0, role: "group", "aria-label": "Edits" }, el("table", { class: "edits" }, el("thead", { class: "visually-hidden" }, el("tr", null,
      el("th", { scope: "col" }, "Edit"), el("th", { scope: "col" }, "Cost"))),
    el("tbody", null, edits.map(editRow)),
    el("tfoot", null, el("tr", null, el("th", { scope: "row" },
      isCut ? `The first of ${many(editCount, "edit")}` : "Together"),
    el("td", { class: "number" }, fixed(total, 1))))))];
}

// A sentence with names in place of {subject}, {wanted} and {given}.
const sentence = (text, named) => (text ?? "{subject}").split(/\{(\w+)\}/).map((part, place) =>
  place % 2 ? data(named[part] ?? named.subject) : part);

const editWords = (kind, { subject, wanted, given }) =>
  (subject === (given ?? wanted) && words.edit[`${kind}_loop`]) || words.edit[kind];

function editRow(edit) {
  const named = { subject: edit[EDIT_SUBJECT], wanted: edit[EDIT_WANTED], given: edit[EDIT_GIVEN] };
  const state = edit[EDIT_KIND].split("_")[0];
  return el("tr", null, el("td", { class: `edit ${state === "wrong" ? "changed" : state}` }, sentence(editWords(edit[EDIT_KIND], named), named)),
    el("td", { class: "number" }, fixed(edit[EDIT_COST], 1)));
}

function drawing(nodes, edges, layerSizes, title) {
  if (!nodes.length) return note("Neither plan has anything here.");
  const tallest = Math.max(...layerSizes);
  const spot = (layer, place) => ({ x: BOX.margin + layer * (BOX.width + BOX.acrossGap),
    y: BOX.margin + (place + (tallest - layerSizes[layer]) / 2) * (BOX.height + BOX.downGap) });
  const boxes = nodes.map(([name, answerName, state, cost, layer, place]) =>
    ({ name, answerName, state, cost, layer, ...spot(layer, place) }));
  const width = 2 * BOX.margin + layerSizes.length * (BOX.width + BOX.acrossGap) - BOX.acrossGap;
  const height = 2 * BOX.margin + tallest * (BOX.height + BOX.downGap) - BOX.downGap;
  return svg("svg", { class: "picture", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "--natural": `${width}px`, "aria-label": `${title}: ${summary(nodes, edges)}` },
    svg("defs", null, STATES.map(arrowHead)),
    edges.map((edge) => arrow(edge, boxes, spot)), boxes.map(node));
}

function summary(nodes, edges) {
  const said = (items, place, one, more) => STATES.map((state, number) =>
    [items.filter((item) => item[place] === number).length, STATE_WORDS[number]])
    .filter(([found]) => found).map(([found, word]) => `${many(found, one, more)} ${word}`);
  return [...said(nodes, 2, "node"), ...said(edges, 2, "edge")].join(", ");
}

const arrowHead = (state) => svg("marker", { id: `arrow-${state}`, class: `head ${state}`,
  viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" },
  svg("path", { d: "M0 1L9 5L0 9z" }));

function node(box) {
  const [first, second] = linesOf(box);
  const said = [box.name, box.answerName && `in the answer: ${box.answerName}`,
    box.state && `${STATE_WORDS[box.state]}, costs ${fixed(box.cost, 1)}`].filter(Boolean).join("\n");
  const middle = box.x + BOX.width / 2;
  return svg("g", { class: `node ${STATES[box.state]}` }, svg("title", null, said),
    svg("rect", { x: box.x, y: box.y, width: BOX.width, height: BOX.height, rx: 8 }),
    svg("text", { x: middle, y: box.y + (second ? 20 : 28), "text-anchor": "middle" }, first),
    second && svg("text", { class: "second", x: middle, y: box.y + 36, "text-anchor": "middle" }, second));
}

// The two lines of a box: a name, or agent above status; a name of the answer below.
function linesOf(box) {
  if (box.answerName) return [cut(box.name, 22), `≙ ${cut(box.answerName, 23)}`];
  const parts = /^(.*) \(([^()]*)\)$/.exec(box.name);
  return parts ? [cut(parts[1], 21), cut(parts[2], 25)] : [cut(box.name, 21), null];
}

function arrow([source, target, state, , between], boxes, spot) {
  const [from, to] = [boxes[source], boxes[target]];
  const stops = between.map((place, number) => spot(from.layer + 1 + number, place));
  return svg("path", { class: `edge ${STATES[state]}`, d: route(from, to, stops),
    "marker-end": `url(#arrow-${STATES[state]})` },
    svg("title", null, `${from.name} → ${to.name}: ${STATE_WORDS[state]}`));
}

function route(from, to, stops) {
  const [right, middle, end] = [from.x + BOX.width, from.y + BOX.height / 2, to.y + BOX.height / 2];
  if (from === to) { // a loop: an arc above the upper right corner
    return `M${right - 40} ${from.y}C${right - 46} ${from.y - 27} ${right + 12} ${from.y - 27} ${right - 12} ${from.y}`;
  }
  if (to.layer > from.layer) {
    let path = `M${right} ${middle}`;
    let [x, y] = [right, middle];
    const curve = (toX, toY) => {
      path += `C${(x + toX) / 2} ${y} ${(x + toX) / 2} ${toY} ${toX} ${toY}`;
    };
    for (const stop of stops) { // straight through the place that is kept free for it
      const level = stop.y + BOX.height / 2;
      curve(stop.x, level);
      path += `H${stop.x + BOX.width}`;
      [x, y] = [stop.x + BOX.width, level];
    }
    curve(to.x, end);
    return path;
  }
  if (to.layer === from.layer) { // both in a cycle: an arc beside the column
    const bend = right + 34;
    return `M${right} ${middle - 6}C${bend} ${middle} ${bend} ${end} ${right} ${end + 6}`;
  }
  return `M${from.x} ${middle}C${from.x - 40} ${middle - 50} ${to.x + BOX.width + 40} ${end - 50} ${to.x + BOX.width} ${end}`;
}
