// Tables that sort by any column, show the first rows at once and the rest on demand.

const FIRST_ROWS = 150;

// A column: {name, label, title, value(row), cell(row), kind: "number" | "text", isRoomy}
// A caption that only repeats the heading is read out and not shown.
function dataTable({ caption, isCaptionRead, columns, rows, sort, isFalling = false }) {
  let sorting = { column: columns.find((column) => column.name === sort), isFalling };
  let isWhole = rows.length <= FIRST_ROWS;
  const body = el("tbody");
  const more = el("button", {
    class: "more",
    type: "button",
    click: () => {
      isWhole = true;
      draw();
    },
  }, `Show all ${count(rows.length)} rows`);
  const heads = columns.map((column) => {
    const button = el("button", { type: "button", title: column.title, click: () => by(column) },
      column.label);
    return el("th", { scope: "col", class: classOf(column) }, button);
  });

  function by(column) {
    const falls = sorting.column === column ? !sorting.isFalling : ["number", "bar"].includes(column.kind);
    sorting = { column, isFalling: falls };
    draw();
  }

  function draw() {
    const sorted = sorting.column ? sortedRows(rows, sorting) : rows;
    const shown = isWhole ? sorted : sorted.slice(0, FIRST_ROWS);
    body.replaceChildren(...shown.map((row) => el("tr", null,
      columns.map((column, place) => cellOf(column, row, place)))));
    columns.forEach((column, place) => {
      const state = sorting.isFalling ? "descending" : "ascending";
      heads[place].setAttribute("aria-sort", sorting.column === column ? state : "none");
    });
    more.hidden = isWhole;
    filterRows(body);
  }

  draw();
  const table = el("table", null, captionOf(caption, isCaptionRead),
    el("thead", null, el("tr", null, heads)), body);
  return region(caption, table, more);
}

// A box that hides the rows of filtered tables that do not contain its words.
function filterBox(label) {
  const input = el("input", { type: "search", placeholder: "…", "aria-label": label, class: "filter",
    input: () => {
      const tables = document.querySelectorAll(".filtered");
      if (input.value.trim()) for (const button of document.querySelectorAll(".filtered .more:not([hidden])")) button.click();
      for (const table of tables) filterRows(table);
    } });
  return el("label", { class: "choice" }, el("span", null, label), input);
}

function filterRows(part) {
  if (!part.closest(".filtered")) return;
  const wanted = document.querySelector(".filter")?.value.trim().toLowerCase() ?? "";
  for (const row of part.querySelectorAll("tbody tr, :scope > tr")) {
    row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
  }
}

const filtered = (table) => {
  table.classList.add("filtered");
  return table;
};

const captionOf = (caption, isRead) =>
  caption && el("caption", null, el("span", { class: isRead ? "visually-hidden" : null }, caption));

function cellOf(column, row, place) {
  const content = column.cell ? column.cell(row) : data(column.value(row));
  return el(place === 0 ? "th" : "td",
    { class: classOf(column), scope: place === 0 ? "row" : null }, content);
}

// Roomy columns are left out on a phone.
const classOf = (column) => `${column.kind ?? "text"}${column.isRoomy ? " roomy" : ""}`;

function sortedRows(rows, { column, isFalling }) {
  const ordered = (first, second) => {
    const [a, b] = [column.value(first), column.value(second)];
    if (isAbsent(a) || isAbsent(b)) return isAbsent(a) - isAbsent(b);
    const order = typeof a === "number" && typeof b === "number" ? a - b : inOrder(`${a}`, `${b}`);
    return isFalling ? -order : order;
  };
  return [...rows].sort(ordered);
}

const numberColumn = (name, label, write = score, extra = {}) => ({
  name, label, kind: "number", value: (row) => row[name], cell: (row) => write(row[name]), ...extra,
});
// A share as a bar with its figure; its heading stands where the bars begin.
const barColumn = (name, label, extra = {}) => numberColumn(name, label, score,
  { kind: "bar", cell: (row) => bar(row[name], score(row[name])), ...extra });
const textColumn = (name, label, extra = {}) => ({ name, label, value: (row) => row[name], ...extra });
const MODEL_COLUMN = { name: "model", label: "Model", value: modelName, cell: modelLink };

// A matrix of figures, coloured by their size: rows × columns of {text, level, href, title}.
function heatTable({ caption, isCaptionRead, corner, heads, rows }) {
  const drawn = (some) => some.map(({ head, cells }) => el("tr", null, el("th", { scope: "row" }, head), cells.map(heatCell)));
  const body = el("tbody", null, drawn(rows.slice(0, FIRST_ROWS)));
  const more = rows.length > FIRST_ROWS && el("button", { class: "more", type: "button", click: () => {
    more.hidden = true;
    body.append(...drawn(rows.slice(FIRST_ROWS)));
  } }, `Show all ${count(rows.length)} rows`);
  return region(caption, el("table", { class: "heat" }, captionOf(caption, isCaptionRead),
      el("thead", null, el("tr", null, el("th", { scope: "col" }, corner),
        heads.map((head) => el("th", { scope: "col", class: "number" }, head)))), body), more);
}

function heatCell(cell) {
  if (!cell) return el("td", { class: "number absent" }, "–");
  const content = cell.href ? el("a", { href: cell.href }, cell.text) : cell.text;
  const level = cell.level ?? 0;
  return el("td", { class: `number ${cell.kind ?? "good"}`, title: cell.title,
    "--level": Math.max(0, Math.min(1, level)).toFixed(3) }, content);
}
