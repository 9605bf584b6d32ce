// Excerpts: one table, chart or picture of the page, drawn from the data beside it, for notebooks.

const EXCERPTS = {
  table: ({ rows, caption }) => dataTable({ caption, isCaptionRead: true, rows: rows.rows(),
    columns: Object.entries(rows.columns).map(plainColumn) }),
  ranking: ({ rows }) => {
    const found = rows.rows();
    const domain = domainOf(found);
    return dataTable({ caption: "Leaderboard", isCaptionRead: true, rows: found, columns: [
      { name: "rank_number", label: "Rank", kind: "number", value: (row) => row.rank_number, cell: rankCell },
      { name: "name", label: "Model", value: (row) => row.name, cell: (row) => el("span", { class: "model" }, data(row.name)) },
      numberColumn("average_score", "Average"),
      { name: "interval", label: "95 % interval", value: (row) => row.average_score, cell: (row) => whisker(
        { value: row.average_score, low: row.low, high: row.high }, domain) },
      ...HEADLINE.slice(1).map((name) => numberColumn(name, metricWord(name)))] });
  },
  confusion: ({ rows }) => confusion({}, rows.rows()),
  bars: ({ rows, caption, digits }) => bars({ caption, write: (value) => value.toLocaleString("en",
    { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: digits ? "exceptZero" : "auto" }),
    items: rows.rows().map((row) => ({ ...row, kind: row.value < 0 ? "wrong" : "", name: data(row.name) })) }),
  verdicts: ({ rows }) => verdictTable(rows.rows()),
  plan: ({ drawn, structure, component }) => planPictures(drawn, structure, component),
  answers: ({ rows }) => el("div", { class: rows.count > 1 ? "sides" : "" }, rows.rows().map((row) => el("section", { class: "side" },
    el("h3", null, data(row.title)), row.calls && callList(row.calls), row.content && block(row.content),
    !row.calls && !row.content && note("nothing")))),
};

const isCount = (value) => value === null || (Number.isInteger(value) && value !== 1);
const plainColumn = ([name, { values }]) => (values
  ? numberColumn(name, metricWord(name), values.every(isCount) ? count : score) : textColumn(name, plain(name)));

piece("excerpt").then(({ kind, ...given }) => {
  document.getElementById("page").append(fill(el("div", { class: "excerpt" }), [EXCERPTS[kind](given)]));
});
