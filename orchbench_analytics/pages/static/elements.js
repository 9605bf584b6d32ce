// Elements: every text becomes text nodes, never markup; what cannot be seen is made visible.

const SVG = "http://www.w3.org/2000/svg";
// Control and format characters: they hide, turn or join what stands around them.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]|\u{e0001}|[\u{e0020}-\u{e007f}]/gu;

const codeOf = (character) =>
  `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

// The same for places that hold nothing but text: attributes and drawings.
const visible = (text) => text.replace(UNSEEN, (character) => `⟨${codeOf(character)}⟩`);

function textNodes(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match[0] === "\r" && text[match.index + 1] === "\n") continue;
    if (match.index > end) nodes.push(document.createTextNode(text.slice(end, match.index)));
    const code = codeOf(match[0]);
    const mark = document.createElement("span");
    mark.className = "unseen";
    mark.textContent = code;
    mark.title = `${code}, a character that cannot be seen`;
    nodes.push(mark);
    end = match.index + match[0].length;
  }
  if (end < text.length) nodes.push(document.createTextNode(text.slice(end)));
  return nodes;
}

function fill(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (isAbsent(child) || child === false || child === "") continue;
    if (child instanceof Node) parent.append(child);
    else if (parent instanceof SVGElement) parent.append(visible(String(child)));
    else parent.append(...textNodes(String(child)));
  }
  return parent;
}

function withAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (isAbsent(value) || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (name === "title" || name === "aria-label") element.setAttribute(name, visible(value));
    else element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

const el = (tag, attributes, ...children) =>
  fill(withAttributes(document.createElement(tag), attributes), children);
const svg = (tag, attributes, ...children) =>
  fill(withAttributes(document.createElementNS(SVG, tag), attributes), children);

// A text from the data inside our own: its direction is its own.
const data = (text, attributes) => el("bdi", attributes, text ?? "–");

// A block of text from the data, as it was written.
const block = (text, attributes) =>
  el("pre", { class: "text", dir: "auto", tabindex: 0, role: "group", ...attributes }, text);

// A part that may be wider than the screen, and then scrolls by itself.
const region = (label, ...children) =>
  el("div", { class: "wide", tabindex: 0, role: "group", "aria-label": label }, children);

// Figures side by side: [words, figure, …] of each.
const cards = (items) => el("dl", { class: "cards" }, items.map(([words, ...content]) =>
  el("div", { class: "card" }, el("dt", null, words), el("dd", null, content))));
const figure = (text) => el("span", { class: "figure" }, text);

const note = (...children) => el("p", { class: "note" }, children);
const badge = (kind, ...children) => el("span", { class: `badge ${kind}` }, children);

function select(label, options, chosen, onChange) {
  const list = el(
    "select",
    { change: (event) => onChange(event.target.value) },
    options.map(([value, words]) =>
      el("option", { value, selected: value === chosen }, words ?? value),
    ),
  );
  return el("label", { class: "choice" }, el("span", null, label), list);
}

// A figure with one decimal; four digits when pointed at.
const pointed = (value, show = "points") => el("span", { title: exactly(show, value) }, written(show, value));
const score = (value) => pointed(value);

// A badge coloured by a score from 0 to 1.
const graded = (value, ...children) => el("span", { class: "badge graded", "--level": (value ?? 0).toFixed(3) }, children);
