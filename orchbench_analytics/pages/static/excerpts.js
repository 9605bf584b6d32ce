// Excerpts: one table, chart or picture of the page, drawn from the data beside it, for notebooks.

const EXCERPTS = {
  table: ({ rows, caption }) => dataTable({ caption, isCaptionRead: true, rows: rows.rows(), columns: columnsOf(rows, Object.keys(rows.columns)) }),
  ranking: ({ rows }) => {
    const found = rows.rows();
    const domain = domainOf(found);
    const [average, ...parts] = words.headline;
    return dataTable({ caption: "Leaderboard", isCaptionRead: true, rows: found, columns: [
      columnOf(rows, "rank_number", { cell: rankCell }),
      columnOf(rows, "name", { label: "Model", cell: (row) => el("span", { class: "model" }, data(row.name)) }),
      columnOf(rows, average),
      { name: "interval", label: "95 % interval", head: axis(domain), kind: "rail-cell", value: (row) => row[average],
        cell: (row) => whisker({ value: row[average], low: row.low, high: row.high }, domain) },
      ...columnsOf(rows, parts)] });
  },
  confusion: ({ rows }) => confusion({}, rows.rows()),
  bars: ({ rows, caption, digits }) => bars({ caption, write: (value) => value.toLocaleString("en",
    { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: digits ? "exceptZero" : "auto" }),
    items: rows.rows().map((row) => ({ ...row, kind: row.value < 0 ? "wrong" : "", name: data(row.name) })) }),
  verdicts: ({ rows }) => verdictTable(rows, rows.rows()),
  plan: ({ drawn, structure, component }) => planPictures(drawn, structure, component),
  answers: ({ rows }) => el("div", { class: rows.count > 1 ? "sides" : "" }, rows.rows().map((row) => el("section", { class: "side" },
    el("h3", null, data(row.title)), row.calls && callList(row.calls), row.content && block(row.content, { "aria-label": row.title }),
    !row.calls && !row.content && note("nothing")))),
};

piece("excerpt").then(({ kind, heads, words: said, ...given }) => {
  Object.assign(words, said, { heads });
  document.getElementById("page").replaceChildren(fill(el("div", { class: "excerpt" }), [EXCERPTS[kind](given)]));
});
