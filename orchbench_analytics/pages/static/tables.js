// Tables: rows are drawn as they come into sight, sorted by any column, and filtered by words.

const ROWS_AT_ONCE = 100;
const LONG = 25; // a longer table scrolls below its head

// What a view remembers of itself, so that Back finds it as it was: words, tables, scroll.
let memory = { filter: "", tables: [], scroll: 0 };
let tableCount = 0;
let drawAgain = []; // of the tables that the filter concerns

// A column: {name, label, title, value(row), cell(row), kind: "number" | "text" | "bar-cell", head, isRoomy}
// A caption that only repeats the heading is read out and not shown.
function dataTable({ caption, isCaptionRead, columns, rows, sort, isFalling = false, isFiltered = false, rowClass, tableClass }) {
  const kept = (memory.tables[tableCount++] ??= {});
  const named = (name) => columns.find((column) => column.name === name);
  let sorting = { column: named(kept.sort ?? sort), isFalling: kept.isFalling ?? isFalling };
  let found = [];
  let drawn = 0;
  const body = el("tbody");
  const said = el("p", { class: "count", "aria-live": "polite" });
  const heads = columns.map((column) => {
    const button = el("button", { type: "button", title: column.title || null, tabindex: -1, dir: "auto", click: () => by(column) }, breakable(column.label));
    return el("th", { scope: "col", class: classOf(column) }, button, column.head);
  });
  const buttons = heads.map((head) => head.querySelector("button"));
  // One stop for Tab; arrows go from head to head.
  buttons[0].tabIndex = 0;
  const head = el("tr", { keydown: (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const place = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
    buttons.forEach((button, number) => { button.tabIndex = number === place ? 0 : -1; });
    buttons[place].focus();
  } }, heads);

  function by(column) {
    const falls = sorting.column === column ? !sorting.isFalling : column.kind !== undefined && column.kind !== "text";
    sorting = { column, isFalling: falls };
    Object.assign(kept, { sort: column.name, isFalling: falls, drawn: 0 });
    draw();
  }

  function draw() {
    const wanted = isFiltered ? memory.filter.trim().toLowerCase() : "";
    const chosen = wanted ? rows.filter((row) => textOf(columns, row).includes(wanted)) : rows;
    found = sorting.column ? sortedRows(chosen, { value: sorting.column.value, isFalling: sorting.isFalling }) : chosen;
    drawn = 0;
    body.replaceChildren();
    more(Math.max(ROWS_AT_ONCE, kept.drawn ?? 0));
    columns.forEach((column, place) => {
      const state = sorting.isFalling ? "descending" : "ascending";
      heads[place].setAttribute("aria-sort", sorting.column === column ? state : "none");
    });
    fill(said, []).textContent = found.length === rows.length
      ? rows.length > LONG ? many(rows.length, "row") : "" : `${count(found.length)} of ${many(rows.length, "row")}`;
    said.hidden = !said.textContent;
  }

  function more(number) {
    const next = found.slice(drawn, drawn + number);
    body.append(...next.map((row, place) => el("tr",
      { class: rowClass?.(row, found[drawn + place - 1], sorting.column?.name) || null },
      columns.map((column, at) => cellOf(column, row, at)))));
    drawn += next.length;
    kept.drawn = drawn;
  }

  draw();
  if (isFiltered) drawAgain.push(draw);
  const table = el("table", { class: tableClass, "data-copied": true }, captionOf(caption, isCaptionRead), el("thead", null, head), body);
  const copied = (write) => ({ caption: captionText(caption), heads: columns.map(({ label, kind }) => ({ label, isNumber: kind === "number" })),
    rows: found.map((row) => columns.map((column) => write(column, row))) });
  const place = region(caption, table, el("div", { class: "below-table" }, said, copyButtons(copied)));
  if (rows.length > LONG) place.classList.add("long");
  place.addEventListener("scroll", () => {
    Object.assign(kept, { top: place.scrollTop, left: place.scrollLeft });
    if (drawn < found.length && place.scrollTop + place.clientHeight > place.scrollHeight - 600) more(ROWS_AT_ONCE);
  }, { passive: true });
  place.restore = () => place.scrollTo(kept.left ?? 0, kept.top ?? 0);
  place.drawAll = () => more(found.length);
  return place;
}

// A name like searchCatalogue or by_name may go on in a new line where a word in it begins.
const breakable = (text) => text.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=_)/).flatMap((part, place) => (place ? [el("wbr"), part] : [part]));

const captionText = (caption) => `${caption}; profile ${here.core ? profileHere() : ""}; orchbench-analytics ${here.core?.version ?? ""}`;
// What a cell shows, or what it says of a drawing.
const shownText = (column, row) => (column.copied ? column.copied(row) : cellOf(column, row, 1).textContent);
const COPIES = [["CSV", (copied) => csvOf(copied((column, row) => column.value(row)))], ["Markdown", (copied) => markdownOf(copied(shownText))],
  ["LaTeX", (copied) => latexOf(copied(shownText))]];

// A table of the page that has no buttons yet, as it stands.
function addCopies(root) {
  for (const table of root.querySelectorAll("table:not([data-copied])")) {
    if (table.parentElement.closest("table")) continue;
    table.dataset.copied = "";
    const [first, ...rest] = [...table.rows].map((row) => [...row.cells]);
    if (!first) continue;
    const heads = table.tHead ? first : first.map(() => null);
    const rows = table.tHead ? rest : [first, ...rest];
    const isNumber = (place) => rows.length > 0 && rows.every((row) => /^[−+–\d.,\s%]*$/.test(row[place]?.textContent ?? ""));
    table.after(copyButtons(() => ({ caption: captionText(table.caption?.textContent ?? table.closest("[aria-label]")?.getAttribute("aria-label") ?? ""),
      heads: heads.map((cell, place) => ({ label: cell?.textContent ?? "", isNumber: isNumber(place) })), rows: rows.map((row) => row.map((cell) => cell.textContent)) })));
  }
}

// Buttons that copy all rows of a table, in the order in which they stand.
function copyButtons(copied) {
  const done = el("span", { class: "quiet", role: "status" });
  const copy = (make) => () => navigator.clipboard.writeText(make(copied)).then(() => { done.textContent = "copied"; }, () => { done.textContent = "the browser does not allow it"; });
  return el("details", { class: "copies" }, el("summary", null, "Copy"), COPIES.map(([name, make]) =>
    el("button", { type: "button", click: copy(make) }, name)), done);
}

const textOf = (columns, row) => columns.map((column) => column.text?.(row) ?? column.value(row) ?? "").join(" ").toLowerCase();

// A box that leaves the rows that contain its words.
function filterBox(label) {
  const input = el("input", { type: "search", placeholder: "…", "aria-label": label, class: "filter", value: memory.filter,
    input: () => {
      memory.filter = input.value;
      for (const draw of drawAgain) draw();
    } });
  return el("label", { class: "choice" }, el("span", null, label), input);
}

const captionOf = (caption, isRead) =>
  caption && el("caption", null, el("span", { class: isRead ? "visually-hidden" : null }, caption));

function cellOf(column, row, place) {
  const content = column.cell ? column.cell(row) : data(column.value(row));
  return el(place === 0 ? "th" : "td", { class: classOf(column), scope: place === 0 ? "row" : null }, content);
}

// Roomy columns are left out on a phone.
const classOf = (column) => `${column.kind ?? "text"}${column.isRoomy ? " roomy" : ""}`;

// A column of a table, with the label, meaning and way of writing that Python gave it.
function columnOf(table, name, extra = {}) {
  const { show } = table.columns[name] ?? {};
  const { label, title } = table.head(name);
  const plainly = { name, label, title, value: (row) => row[name] };
  return show ? { ...plainly, kind: "number", cell: (row) => pointed(row[name], show), ...extra } : { ...plainly, ...extra };
}
const columnsOf = (table, names) => names.map((name) => columnOf(table, name));
// A share as a bar with its figure; its heading stands where the bars begin.
const barColumn = (table, name, extra = {}) =>
  columnOf(table, name, { kind: "bar-cell", cell: (row) => bar(row[name], score(row[name])), ...extra });
const modelColumn = (href = (row) => address(modelPath(row))) => ({ name: "model", label: words.heads.model?.label ?? "Model",
  value: modelName, cell: (row) => row.model === ALL ? "All models" : a(href(row), data(modelName(row))) });

// Columns that say the same in every row are said once, above the table.
function saidOnce(table, rows, names) {
  const isOne = (name) => rows.length > 1 && rows.every((row) => row[name] === rows[0][name]);
  const uniform = names.filter(isOne).filter((name) => !isAbsent(rows[0][name]));
  return { others: names.filter((name) => !isOne(name)),
    note: uniform.length ? note("The same for all: ", uniform.map((name, place) =>
      [place ? ", " : "", table.head(name).label.toLowerCase(), " ", written(table.columns[name].show, rows[0][name])]), ".") : null };
}

// A matrix of figures, coloured by their size. A row has what `first` shows, and a cell for each
// head: {text, level, kind, href, title}, or nothing.
function heatTable({ caption, isCaptionRead, first, heads, rows, isFiltered }) {
  const columns = heads.map(({ name, label, title, cell }) => ({ name, label, title, kind: "number",
    value: (row) => cell(row)?.value ?? null, text: (row) => cell(row)?.text, cell: (row) => heatCell(cell(row)) }));
  return dataTable({ caption, isCaptionRead, columns: [first, ...columns], rows, isFiltered, tableClass: "heat" });
}

function heatCell(cell) {
  if (!cell) return el("span", { class: "absent" }, "–");
  return el(cell.href ? "a" : "span", { href: cell.href, class: `cell ${cell.kind ?? "good"}`, title: cell.title,
    "--level": Math.max(0, Math.min(1, cell.level ?? 0)).toFixed(3) }, cell.text);
}

addEventListener("beforeprint", () => {
  for (const place of document.querySelectorAll(".wide")) place.drawAll?.();
});
