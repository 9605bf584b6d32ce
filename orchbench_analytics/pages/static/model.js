// A model: its scores, its decisions, its tools and plans, and the scenarios behind them.

async function modelView([, model, experiment]) {
  const self = { model, experiment };
  const profile = profileHere();
  const [shard, decisions, tools, plans] = await Promise.all([
    shardOf(here.core, model, experiment), piece("decisions"), piece("tools"), piece("plans")]);
  if (!shard) return missing(`no model ${model} in the experiment ${experiment}`);
  const scores = here.core.model_scores.rows({ profile, ...self });
  const language = languageHere();
  return [
    trail([["Leaderboard", []]], modelName(self)),
    el("h1", null, data(model), " ", el("span", { class: "quiet" }, data(experiment))),
    el("div", { class: "choices" }, languageChoice()),
    headline(self, profile, language),
    el("p", null, hasAnswers() && [a(address([...modelPath(self), "steps"]), "All steps"), " · ",
      a(address([...modelPath(self), "plans"]), "All plans"), " · "],
    a(address(["compare", model, experiment]), "Compare with another model")),
    el("h2", null, "Scores by language"), languageTable(scores),
    !hasAnswers() && note(WITHOUT_ANSWERS),
    hasAnswers() && el("div", { class: "columns" },
      el("section", null, el("h2", null, "Decisions"), confusion(self, rowsHere(decisions.confusion, self))),
      el("section", null, el("h2", null, "How decisions go wrong"), patternBars(self, rowsHere(decisions.patterns, self))),
      el("section", null, el("h2", null, "Plans: what is wrong"), planKinds(self, rowsHere(plans.kinds, self))),
      el("section", null, el("h2", null, "Tools that go wrong most"), worstTools(self, rowsHere(tools.tools, self)))),
    el("h2", { id: "scenarios" }, "Scenarios"),
    el("div", { class: "choices" }, filterBox("Filter scenarios")),
    filtered(scenarioTable(self, shard.files(profile, language))),
  ];
}

const missing = (what) => [el("h1", null, "Nothing here"), note(`There is ${what} in this report. `,
  a(address([]), "To the leaderboard"))];

const trail = (steps, last) => el("nav", { class: "trail", "aria-label": "Breadcrumbs" },
  steps.map(([words, path]) => [a(address(path), data(words)), el("span", { "aria-hidden": true }, " › ")]),
  el("span", { "aria-current": "page" }, data(last)));

function headline(self, profile, language) {
  const scores = language ? here.core.model_scores.rows({ profile, language, ...self }) : here.core.leaderboard.rows({ profile, ...self });
  const board = scores[0] ?? {};
  const spans = here.core.intervals.rows({ profile, language: language ?? "mean", ...self });
  const rank = here.core.ranks.rows({ profile, ...self })[0] ?? {};
  const metrics = HEADLINE.map((name) => {
    const span = spans.find((found) => found.metric === name);
    return [metricWord(name), name === HEADLINE[0] ? figure(score(board[name]))
      : el("a", { class: "figure plain", href: rowsBehind(self, name) }, score(board[name])),
    span && el("span", { class: "quiet" }, `${score(span.low)} – ${score(span.high)}`)];
  });
  const place = ["Rank", figure(board.rank_number ?? "–"), el("span", { class: "quiet" }, rankWords(rank))];
  return cards(language ? metrics : [...metrics, place]);
}

function rankWords(rank) {
  if (rank.unranked_reason) return rank.unranked_reason;
  if (!rank.rank_low) return "";
  const span = rank.rank_low === rank.rank_high ? `of ${count(here.core.models.count)}` : `between ${rank.rank_low} and ${rank.rank_high}`;
  return `${span}, tier ${rank.tier_number}`;
}

function languageTable(scores) {
  const metrics = here.core.metrics.map((metric) => metric.name).filter((name) => scores.some((row) => !isAbsent(row[name])));
  return heatTable({ caption: "Scores by language", isCaptionRead: true, corner: "Language", heads: metrics.map(metricHead),
    rows: scores.map((row) => ({ head: data(row.language), cells: metrics.map((name) => row[name] === null ? null
      : { text: short(row[name], 4), level: row[name], title: metricWord(name), href: rowsBehind(row, name) }) })) });
}

function confusion(self, rows) {
  const actual = distinct(rows, "actual").sort(byDecision);
  const predicted = distinct(rows, "predicted").sort(byDecision);
  const cell = (wanted, given) => {
    const found = rows.filter((row) => row.actual === wanted && row.predicted === given);
    const steps = sum(found, "step_count");
    if (!steps) return null;
    const all = sum(rows.filter((row) => row.actual === wanted), "step_count");
    return { text: count(steps), level: steps / all, kind: isRight(wanted, given) ? "good" : "wrong",
      title: `${percent(steps / all)} of the steps labelled ${plain(wanted)}`,
      href: self.model ? address([...modelPath(self), "steps"], { actual: wanted, predicted: given })
        : address(["decisions"], { actual: wanted, predicted: given }) };
  };
  return heatTable({ caption: "Label (rows) and answer (columns)", corner: "Label", heads: predicted.map(decisionWord),
    rows: actual.map((wanted) => ({ head: decisionWord(wanted), cells: predicted.map((given) => cell(wanted, given)) })) });
}

const DECISIONS = ["call", "AWAITING_USER_INPUT", "TOOL_CONSTRAINT_VIOLATION", "rejection", "failed"];
const byDecision = (x, y) => (DECISIONS.indexOf(x) + 1 || 99) - (DECISIONS.indexOf(y) + 1 || 99) || inOrder(x, y);
const isRight = (wanted, given) => wanted === given || (wanted === "rejection" && !["call", "failed"].includes(given));
const decisionWord = (name) => ({ call: "call", failed: "failed", rejection: "reject (untyped)",
  awaiting_user_input: "awaiting user", tool_constraint_violation: "constraint" })[(name ?? "").toLowerCase()] ?? plain(name);

function patternBars(self, steps) {
  const found = grouped(steps, ["error_pattern"]);
  return bars({ caption: "Of the steps on which it could occur", write: percent, items: found.map((rows) => ({
    name: a(address([...modelPath(self), "steps"], { pattern: rows[0].error_pattern }), plain(rows[0].error_pattern)), kind: "wrong",
    value: divided(sum(rows, "occurrence_count"), sum(rows, "opportunity_count")) })) });
}

function planKinds(self, edits) {
  const found = grouped(edits, ["graph", "kind"])
    .map((rows) => ({ graph: rows[0].graph, kind: rows[0].kind, edit_count: sum(rows, "edit_count"),
      edit_cost: sum(rows, "edit_cost"), edited_plan_count: sum(rows, "edited_plan_count") }));
  if (!found.length) return note("No edits: every plan that was read agrees with its label.");
  return dataTable({ caption: "Edits from answer to label", rows: found, sort: "edit_cost", isFalling: true, columns: [
    { name: "kind", label: "Kind", value: (row) => row.kind,
      cell: (row) => self.model ? a(address([...modelPath(self), "plans"], { kind: row.kind }), plain(row.kind)) : plain(row.kind) },
    numberColumn("edited_plan_count", "Plans", count), numberColumn("edit_count", "Edits", count),
    numberColumn("edit_cost", "Cost", (value) => short(value, 1))] });
}

function worstTools(self, tools) {
  const found = grouped(tools, ["tool"]).map(toolTotals)
    .filter((row) => row.labelled_step_count).sort((x, y) => (x.recall ?? 2) - (y.recall ?? 2)).slice(0, 8);
  return dataTable({ caption: "Lowest recall first", rows: found, columns: [
    { name: "tool", label: "Tool", value: (row) => row.tool,
      cell: (row) => a(address([...modelPath(self), "steps"], { tool: row.tool }), data(row.tool)) },
    numberColumn("labelled_step_count", "Due", count), numberColumn("recall", "Recall", percent),
    numberColumn("value_f1", "Value F1", (value) => short(value, 3))] });
}

function toolTotals(rows) {
  const [due, right] = [sum(rows, "labelled_step_count"), sum(rows, "tool_true_positive_count")];
  const [tp, fp, fn] = ["true_positive", "false_positive", "false_negative"].map((kind) => sum(rows, `value_${kind}_count`));
  return { tool: rows[0].tool, labelled_step_count: due, recall: divided(right, due),
    wrong_call_count: sum(rows, "tool_false_positive_count"), value_f1: divided(2 * tp, 2 * tp + fp + fn) };
}

function scenarioTable(self, files) {
  return dataTable({ caption: "Scenarios", isCaptionRead: true, rows: files, sort: "scenario_score", columns: [
    { name: "scenario", label: "Scenario", value: (row) => row.scenario,
      cell: (row) => a(address(scenarioPath(self, row.language, row.scenario)), data(row.scenario)) },
    textColumn("language", "Language"),
    barColumn("scenario_score", "Score", { title: "Mean of the parts that the scenario has: decisions, calls, plans" }),
    numberColumn("decision_accuracy", "Decisions"), numberColumn("file_call_f1", "FC"),
    numberColumn("plan_similarity", "Plan"),
    numberColumn("failed_generation_count", "Failed steps", count), numberColumn("failed_plan_count", "Failed plans", count),
    numberColumn("run_count", "Runs", count)] });
}
