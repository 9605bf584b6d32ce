// What needs a server behind the page: queries, search, news of the warehouse, and a report to keep.

// What the server says, with tables; an error has its words.
async function ask(path, options) {
  const answer = await fetch(`../${path}`, options);
  if (!answer.ok) throw new Error(await answer.text());
  return withTables(await answer.json());
}

async function sqlView() {
  const { columns_known: known } = await piece("catalog");
  const { seconds, most_rows: most } = here.core.live;
  const result = el("div", { class: "result", "aria-live": "polite" });
  const input = el("textarea", { id: "query", rows: 6, spellcheck: "false", autocomplete: "off", "aria-label": "Query", "aria-autocomplete": "list",
    "aria-controls": "completions", keydown: (event) => (completion.onKey(event) ? event.preventDefault() : onRun(event)), input: () => completion.offer(),
    blur: () => completion.close() });
  input.value = here.params.get("query") ?? "select *\nfrom main.leaderboard";
  const completion = completions(input, known);
  const stop = el("button", { type: "button", disabled: true }, "Stop");
  const csv = el("a", { class: "button", download: "query.csv", click: () => { csv.href = `../sql.csv?${new URLSearchParams({ query: input.value })}`; }, href: "../sql.csv" }, "CSV of all rows");
  const run = async () => {
    const stopper = new AbortController();
    stop.disabled = false;
    stop.onclick = () => stopper.abort();
    keepInAddress({ query: input.value });
    result.replaceChildren(note("running …"));
    try {
      const { rows, is_cut: isCut } = await ask("sql", { method: "POST", body: input.value, signal: stopper.signal });
      result.replaceChildren();
      fill(result, [queryResult(rows, isCut && most)]);
      addCopies(result);
    } catch (error) {
      result.replaceChildren(stopper.signal.aborted ? note("stopped") : el("pre", { class: "text wrong", role: "alert" }, error.message));
    }
    stop.disabled = true;
  };
  const onRun = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
  };
  if (here.params.get("query")) run();
  return [el("h1", null, "SQL"),
    el("div", { class: "editor" }, input, completion.list),
    el("div", { class: "choices" }, el("button", { type: "button", id: "run", click: run }, "Run"), stop, csv, el("span", { class: "quiet" }, "Ctrl-Enter runs")),
    result,
    note(`A query can only read the warehouse, and is stopped after ${seconds} seconds. It reads what is there now, which may be newer than the page.`),
    el("h2", null, "Tables and views"),
    [...known.index("relation").values()].map((places) => el("details", null,
      el("summary", null, el("code", null, `main.${known.value("relation", places[0])}`), " ", el("span", { class: "quiet" }, known.value("meaning", places[0]))),
      el("dl", { class: "known" }, places.map((place) => [el("dt", null, el("code", null, known.value("column", place))), el("dd", null, known.value("description", place))])))),
  ];
}

// The choices of this view in its address, without another place in the history.
function keepInAddress(choices) {
  history.replaceState(history.state, "", addressWith(choices));
  readAddress(location.hash);
  main.dataset.address = location.hash;
}

const numeric = (rows, name) => rows.columns[name].values !== undefined;

// Six digits of a value, and all of it when it is pointed at.
const roundedCell = (value) => (isAbsent(value) ? "–"
  : Number.isInteger(value) ? String(value) : el("span", { title: String(value) }, String(+value.toPrecision(6))));

function queryResult(rows, most) {
  const names = Object.keys(rows.columns);
  const found = rows.rows();
  if (!found.length) return note("no rows");
  const columns = names.map((name) => ({ name, label: name, value: (row) => row[name],
    ...(numeric(rows, name) ? { kind: "number", cell: (row) => roundedCell(row[name]) } : {}) }));
  return [dataTable({ caption: "Rows of the query", isCaptionRead: true, columns, rows: found }),
    most && note(`These are the first ${count(most)} rows; the CSV file has all.`), chartOf(rows, found, names)];
}

// A figure of each row as a bar, with a name beside it.
function chartOf(rows, found, names) {
  const figures = names.filter((name) => numeric(rows, name));
  if (!figures.length) return null;
  const texts = names.filter((name) => !numeric(rows, name));
  const chosen = { figure: figures.at(-1), name: texts[0] ?? names[0] };
  const place = el("div");
  const draw = () => {
    const shown = found.slice(0, MOST_BARS);
    place.replaceChildren(bars({ caption: found.length > MOST_BARS ? `${chosen.figure}, the first ${MOST_BARS} rows` : chosen.figure, write: (value) => String(value ?? "–"),
      items: shown.map((row) => ({ name: data(String(row[chosen.name] ?? "–")), value: row[chosen.figure], kind: row[chosen.figure] < 0 ? "wrong" : "" })) }));
  };
  const pick = (part) => (value) => {
    chosen[part] = value;
    draw();
  };
  draw();
  return el("details", { class: "chart" }, el("summary", null, "Chart"), el("div", { class: "choices" },
    select("Bars of", figures.map((name) => [name]), chosen.figure, pick("figure")), select("by", names.map((name) => [name]), chosen.name, pick("name"))), place);
}
const MOST_BARS = 60;

// Names of tables, views and columns that begin as the word before the cursor does.
function completions(input, known) {
  const list = el("ul", { class: "found", id: "completions", role: "listbox", "aria-label": "Names", hidden: true });
  const relations = [...new Set(known.rows().map((row) => row.relation))];
  let chosen = 0;
  let offered = [];
  const word = () => input.value.slice(0, input.selectionStart).match(/[\w.]*$/)[0];
  const close = () => {
    list.hidden = true;
    offered = [];
    input.removeAttribute("aria-activedescendant");
  };
  const take = (name) => {
    const end = input.selectionStart;
    input.setRangeText(name, end - word().length, end, "end");
    close();
    input.focus();
  };
  const draw = () => {
    list.replaceChildren(...offered.map((name, place) => el("li", { id: `completion-${place}`, role: "option", "aria-selected": String(place === chosen),
      mousedown: (event) => { event.preventDefault(); take(name); } }, name)));
    list.hidden = !offered.length;
    if (offered.length) input.setAttribute("aria-activedescendant", `completion-${chosen}`);
    else close();
  };
  const offer = () => {
    offered = completed(word(), input.value, relations, known.rows());
    chosen = 0;
    draw();
  };
  const onKey = (event) => {
    if (!offered.length) return false;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      chosen = (chosen + (event.key === "ArrowDown" ? 1 : -1) + offered.length) % offered.length;
      draw();
    } else if (event.key === "Tab" || (event.key === "Enter" && !event.ctrlKey && !event.metaKey)) take(offered[chosen]);
    else return false;
    return true;
  };
  return { list, offer, close, onKey };
}

async function searchView() {
  const wanted = here.params.get("text") ?? "";
  const input = el("input", { type: "search", id: "search", "aria-label": "Search answers", value: wanted, placeholder: "Words of an answer" });
  const search = () => choose("text")(input.value.trim());
  const title = [el("h1", null, "Search answers"), el("div", { class: "choices", role: "search", keydown: (event) => event.key === "Enter" && search() },
    input, el("button", { type: "button", click: search }, "Search"))];
  if (!wanted) return [...title, note("Finds a text in the answers of all models, in any case.")];
  const { rows } = await ask(`search?${new URLSearchParams({ text: wanted })}`);
  const found = rows.rows();
  const total = found[0]?.found_count ?? 0;
  return [...title,
    note(!total ? "No answer has it." : total > found.length ? `${count(total)} answers have it; these are the first ${count(found.length)}.` : `${many(total, "answer has", "answers have")} it.`),
    el("ol", { class: "answers-found" }, found.map((row) => el("li", null,
      a(address(stepPath(row, row)), data(row.model), ` · ${row.experiment} · ${row.language} ${row.scenario} · ${row.run} · ${row.unit} ${row.step_id}`),
      el("p", { class: "snippet", dir: "auto" }, row.before, el("mark", null, row.found), row.after))))];
}

// Whether the warehouse changed since the page was made, asked every few seconds.
const news = el("div", { class: "news", role: "status", hidden: true });

async function lookForNews() {
  if (document.hidden) return;
  let found;
  try {
    found = await ask(`news?${new URLSearchParams({ snapshot: here.core.live.snapshot })}`);
  } catch {
    found = { note: "The explorer has ended; start it again with: orchbench view" };
  }
  if (news.dataset.said === JSON.stringify(found)) return;
  news.dataset.said = JSON.stringify(found);
  news.replaceChildren();
  fill(news, [found.is_changed && [el("span", null, "The warehouse has changed. "), el("button", { type: "button", id: "refresh", click: refresh }, "Show what is new")],
    found.note && el("span", null, found.note)]);
  news.hidden = !news.childNodes.length;
}

// The newest page, at this view.
const refresh = () => location.replace(`../${location.hash}`);

function addLiveTabs() {
  TABS.push(["Ask", [["sql", "SQL", sqlView], ["search", "Search", searchView]]]);
  for (const [name, , view] of TABS.at(-1)[1]) VIEWS.set(name, view);
}

function watchNews() {
  lookForNews();
  setInterval(lookForNews, 4000);
}
const saveLink = () => el("a", { href: "report.html", download: "", id: "save", title: "One file that works offline; it takes a while to make" }, "Save as report");
