// Cost: scores against what a run costs, and how that is known.

const BASIS_WORDS = {
  as_given: ["own figures", "every file states what it used"],
  difference: ["differences", "the files count on from one to the next, and each used the difference"],
  process: ["process", "what the whole process used is known, but not the share of each scenario"],
  unknown: ["unknown", "the files state nothing, or sums of a counter that is never reset, so nobody can tell what they used"],
};

function basisCell(row) {
  const [word] = BASIS_WORDS[row.usage_basis];
  const doubtful = row.doubtful_usage_file_count;
  return [row.usage_basis === "unknown" ? badge("partly", word) : word,
    doubtful > 0 && el("span", { class: "quiet", title: "They state more than five calls for each answer" }, ` ${many(doubtful, "doubtful file")}`)];
}

// A sum that is known, or the least that it can be.
const atLeast = (known, least, write) => isAbsent(known) && least ? `≥ ${write(least)}` : write(known);

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
    writeX: (value) => String(+value.toPrecision(3)), writeY: (value) => String(+value.toPrecision(3)) })) : note("What runs of this language cost is unknown."),
    note("The line is the front: no other model scores at least as much for no more. Models whose cost is unknown are not on it; ",
      "“≥” stands before the least that their files show."),
    note("Usage from: ", distinct(rows, "usage_basis").sort(inOrder).map((basis) => BASIS_WORDS[basis].join(" (")).join("); "), ")."),
    dataTable({ caption: "Cost and tokens", isCaptionRead: true, rows, sort: "average_score", isFalling: true, columns: [
      MODEL_COLUMN, numberColumn("average_score", "Average"),
      numberColumn("mean_run_cost", "Cost of a run", (value) => short(value, 5)), numberColumn("mean_run_tokens", "Tokens of a run", (value) => value === null ? "–" : count(Math.round(value))),
      numberColumn("used_cost", "Total cost", (value) => short(value, 3), { cell: (row) => atLeast(row.used_cost, row.least_cost, (value) => short(value, 3)) }),
      numberColumn("used_token_count", "All tokens", count, { cell: (row) => atLeast(row.used_token_count, row.least_token_count, count) }),
      { name: "usage_basis", label: "Usage from", value: (row) => row.usage_basis, cell: basisCell },
      { name: "is_pareto_optimal", label: "On the front", value: (row) => row.is_pareto_optimal, cell: (row) => row.is_pareto_optimal ? badge("good", "yes") : "" }] }),
  ];
}
