// Cost: scores against what a run costs.

async function costView() {
  const { costs } = await piece("costs");
  const languages = distinct(costs.rows({ profile: profileHere() }), "language").sort(inOrder);
  const language = languageHere() ?? languages[0];
  const rows = costs.rows({ profile: profileHere(), language });
  const priced = rows.filter((row) => row.mean_run_cost !== null && row.average_score !== null);
  return [
    el("h1", null, "Score against cost"),
    el("div", { class: "choices" }, select("Language", languages.map((name) => [name]), language, choose("language"))),
    priced.length ? region("Score against cost", scatter({ points: priced.map((row) => ({ x: row.mean_run_cost, y: row.average_score, name: modelName(row),
      isMarked: row.is_pareto_optimal === 1, href: address(modelPath(row)) })), xLabel: "mean cost of a run", yLabel: "Average",
    writeX: (value) => String(+value.toPrecision(3)), writeY: (value) => String(+value.toPrecision(3)) })) : note("No document of this language says what its runs cost."),
    note("The line is the front: no other model scores at least as much for no more."),
    dataTable({ caption: "Cost and tokens", isCaptionRead: true, rows, sort: "average_score", isFalling: true, columns: [
      MODEL_COLUMN, numberColumn("average_score", "Average"),
      numberColumn("mean_run_cost", "Cost of a run", (value) => short(value, 5)), numberColumn("mean_run_tokens", "Tokens of a run", (value) => value === null ? "–" : count(Math.round(value))),
      numberColumn("total_cost", "Total cost", (value) => short(value, 3)),
      { name: "is_pareto_optimal", label: "On the front", value: (row) => row.is_pareto_optimal, cell: (row) => row.is_pareto_optimal ? badge("good", "yes") : "" }] }),
  ];
}
