// Differences: every metric of every model, side by side.

function differencesView() {
  const profile = profileHere();
  const language = languageHere();
  const languages = language ? [language] : [...new Set(here.core.model_scores.columns.language.words)];
  const rows = here.core.model_scores.rows({ profile }).filter((row) => languages.includes(row.language));
  const metrics = here.core.metrics.map((metric) => metric.name)
    .filter((name) => name in here.core.model_scores.columns);
  const models = grouped(rows, ["model", "experiment"]).map((own) => ({ ...own[0],
    ...Object.fromEntries(metrics.map((name) => [name, meanOf(own, name)])) }))
    .sort((x, y) => (y.average_score ?? -1) - (x.average_score ?? -1));
  const known = Object.fromEntries(metrics.map((name) =>
    [name, models.map((row) => row[name]).filter((value) => value !== null)]));
  for (const values of Object.values(known)) values.sort((x, y) => x - y);
  const place = (row, name) => divided(known[name].indexOf(row[name]), known[name].length - 1) ?? 0.5;
  return [
    el("h1", null, "Where models differ"),
    note("Every metric of every model. The stronger the colour, the higher its place in the column; ",
      "over all languages a figure is the mean of the languages. A figure leads to the rows behind it."),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter models")),
    filtered(heatTable({ caption: "Metrics by model", isCaptionRead: true, corner: "Model", heads: metrics.map(metricHead),
      rows: models.map((row) => ({ head: modelLink(row),
        cells: metrics.map((name) => row[name] === null ? null : ({ text: short(row[name], 3),
          level: place(row, name), href: rowsBehind(row, name),
          title: `${modelName(row)}, ${metricWord(name)}: ${score(row[name])}` })) })) })),
  ];
}

function meanOf(rows, name) {
  const values = rows.map((row) => row[name]).filter((value) => !isAbsent(value));
  return values.length ? values.reduce((x, y) => x + y, 0) / values.length : null;
}
