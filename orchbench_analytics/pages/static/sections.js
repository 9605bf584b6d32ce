// The sections: decisions, tools and arguments, plans, consistency, cost, scenarios.

const heading = (title, filter, ...more) => [el("h1", null, title), el("div", { class: "choices" }, languageChoice(), more, filterBox(filter))];

// A matrix with a row for each model: `kinds` across, each {label, find(own rows), cell(row)}.
const modelMatrix = ({ caption, rows, kinds }) => heatTable({ caption, isFiltered: true, first: modelColumn(), rows: byModel(rows).map((own) => ({ ...own[0], own })),
  heads: kinds.map(({ name, label, title, find, cell }) => ({ name, label, title, cell: (row) => {
    const found = row.own.find(find);
    return found ? cell(found) : null;
  } })) });

async function decisionsView() {
  const { confusion: table, patterns, failures } = await piece("decisions");
  const everyone = { model: ALL, experiment: ALL };
  const rows = rowsHere(patterns);
  return [
    heading("Decisions: call, reject or failed", "Filter models"),
    el("h2", null, "All models together"), confusion(everyone, rowsHere(table, everyone)), decidedBy(table),
    el("h2", null, "How models decide wrongly"),
    note("How often each pattern occurs, of the steps on which it could. A figure leads to the steps behind it."),
    modelMatrix({ caption: "Error patterns by model", rows, kinds: distinct(rows, "error_pattern").map((pattern) => ({ name: pattern, label: wordFor("error_pattern", pattern),
      find: (row) => row.error_pattern === pattern, cell: (row) => isAbsent(row.occurrence_rate) ? null : { text: percent(row.occurrence_rate), value: row.occurrence_rate, level: row.occurrence_rate, kind: "wrong",
        href: address([...modelPath(row), "steps"], { error_pattern: pattern }), title: `${count(row.occurrence_count)} of ${count(row.opportunity_count)}` } })) }),
    el("h2", null, "Why answers failed"), note("Answers that were neither a call nor a rejection, and plans that could not be read. A figure leads to them."),
    failureTable(rowsHere(failures)),
  ];
}

// Who decided so: the models behind a cell of the matrix of all.
function decidedBy(table) {
  const [actual, predicted] = [here.params.get("actual"), here.params.get("predicted")];
  if (!actual || !predicted) return note("A figure leads to the models behind it.");
  const rows = rowsHere(table, { actual, predicted }).filter((row) => row.model !== ALL);
  return dataTable({ caption: `Label ${DECISION_WORDS(actual)}, answer ${DECISION_WORDS(predicted)}`, rows, sort: "step_count", isFalling: true, columns: [
    modelColumn(),
    columnOf(table, "step_count", { cell: (row) => a(address([...modelPath(row), "steps"], { actual, predicted }), count(row.step_count)) }),
    columnOf(table, "actual_share")] });
}

function failureTable(rows) {
  if (!rows.length) return note("No answer failed.");
  const href = (row) => address([...modelPath(row), `${row.unit}s`], row.unit === "plan" ? { read_as: row.failure_reason } : { failure_reason: row.failure_reason });
  const most = Math.max(...rows.map((row) => row.failure_count));
  return modelMatrix({ caption: "Failures", rows, kinds: grouped(rows, ["unit", "failure_reason"]).map(([{ unit, failure_reason: reason }]) => ({ name: `${unit} ${reason}`, label: `${unit}: ${plain(reason)}`, title: wordFor("reading", reason),
    find: (row) => row.unit === unit && row.failure_reason === reason,
    cell: (row) => ({ text: count(row.failure_count), value: row.failure_count, level: row.failure_count / most, kind: "wrong", href: href(row) }) })) });
}

async function toolsView() {
  const [{ tools }, { arguments: keys }] = await Promise.all([piece("tools"), piece("arguments")]);
  const rows = rowsHere(tools);
  const all = rows.filter((row) => row.model === ALL);
  return [
    heading("Tools and arguments: who fails where", "Filter rows"),
    el("h2", null, "Recall by model and tool"),
    note(tools.head("tool_recall").title, " The tools that go wrong most stand first; a figure leads to the steps."),
    modelMatrix({ caption: "Recall by model and tool", rows, kinds: all.map(({ tool }) => ({ name: tool, label: tool, find: (row) => row.tool === tool,
      cell: (row) => ({ text: percent(row.tool_recall), value: row.tool_recall, level: 1 - row.tool_recall, kind: "wrong", title: `${many(row.labelled_step_count, "step")}`,
        href: row.model === ALL ? null : address([...modelPath(row), "steps"], { tool }) }) })) }),
    el("h2", null, "Arguments that go wrong, over all models"),
    argumentTable(keys, rowsHere(keys, { model: ALL }), { name: "argument_key", href: (row) => address(["argument", row.argument_key, ...(row.label_tools ? [row.label_tools] : [])]) }),
  ];
}

const argumentTable = (table, rows, { name, href }) => dataTable({ caption: "Arguments", isCaptionRead: true, isFiltered: true, rows, sort: "value_false_negative_count", isFalling: true, columns: [
  name === "model" ? modelColumn(href) : columnOf(table, name, { cell: (row) => a(href(row), data(row[name])) }),
  name !== "model" && columnOf(table, "label_tools", { value: (row) => listed(row.label_tools) }),
  ...columnsOf(table, ["argument_count", "key_false_negative_count", "key_false_positive_count"]),
  columnOf(table, "value_false_negative_count", name === "model" ? { cell: (row) => a(href(row, { key_is: "wrong" }), count(row.value_false_negative_count)) } : {}),
  ...columnsOf(table, ["value_false_positive_count", "value_recall"])].filter(Boolean) });

// An argument by model.
async function argumentView([, key, tools = null]) {
  const { arguments: table } = await piece("arguments");
  const rows = rowsHere(table, { argument_key: key }).filter((row) => row.label_tools === tools && row.model !== ALL);
  return [
    trail([["Tools", ["tools"]]], key),
    el("h1", null, "Argument ", data(key), tools && el("span", { class: "quiet" }, " of ", data(listed(tools)))),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter models")),
    argumentTable(table, rows, { name: "model", href: (row, extra) => address([...modelPath(row), "steps"], { key, label_tools: tools, ...extra }) }),
  ];
}

async function plansView() {
  const { kinds, sizes } = await piece("plans");
  const rows = rowsHere(kinds);
  const sizeRows = rowsHere(sizes);
  const most = Math.max(...rows.map((row) => row.mean_edit_cost), 1e-9);
  return [
    heading("Plans: kinds of error, and size", "Filter models"),
    el("h2", null, "What is wrong"), note("The cost of edits for each plan that was read. A figure leads to the plans that have such an edit."),
    modelMatrix({ caption: "Cost of edits for each plan", rows, kinds: distinct(rows, "kind").sort().map((kind) => ({ name: kind, label: plain(kind), find: (row) => row.kind === kind,
      cell: (row) => ({ text: fixed(row.mean_edit_cost, 2), value: row.mean_edit_cost, level: row.mean_edit_cost / most, kind: "wrong", title: many(row.edit_count, "edit"), href: address([...modelPath(row), "plans"], { kind }) }) })) }),
    el("h2", null, "By the size of the label"), note("Mean similarity of plans in points, failed ones being 0, by the number of workflows the label has."),
    modelMatrix({ caption: "Plan similarity by workflows", rows: sizeRows, kinds: distinct(sizeRows, "label_workflow_count").sort((x, y) => x - y).map((size) => ({ name: String(size), label: String(size), find: (row) => row.label_workflow_count === size,
      cell: (row) => ({ text: points(row.mean_plan_similarity), value: row.mean_plan_similarity, level: row.mean_plan_similarity, title: many(row.plan_count, "plan"), href: address([...modelPath(row), "plans"], { size }) }) })) }),
  ];
}

// How steady models are from run to run.
async function consistencyView() {
  const { flips, pass_rates: passes, run_noise: noise } = await piece("consistency");
  const here_ = (table) => table.rows({ profile: profileHere(), language: languageHere() });
  const [flipRows, passRows, noiseRows] = [flips, passes, noise].map(here_);
  if (!flipRows.length) return [heading("Consistency over runs", "Filter rows"), note("There must be at least two runs of a step.")];
  return [
    heading("Consistency over runs", "Filter rows"),
    el("h2", null, "Right in one run, and in all of them"), passPlot(passes, passRows),
    el("h2", null, "Decisions that change from run to run"),
    dataTable({ caption: "Flips", isCaptionRead: true, isFiltered: true, rows: flipRows, sort: "flip_rate", isFalling: true, columns: [modelColumn(), columnOf(flips, "language"), columnOf(flips, "step_count"),
      columnOf(flips, "unstable_step_count", { cell: (row) => a(address([...modelPath(row), "steps"], { unstable: "yes", language: row.language }), count(row.unstable_step_count)) }),
      ...columnsOf(flips, ["unstable_step_rate", "flip_rate"])] }),
    el("h2", null, "How much the average moves between runs"),
    dataTable({ caption: "Run noise", isCaptionRead: true, isFiltered: true, rows: noiseRows, sort: "run_standard_deviation", isFalling: true, columns: [modelColumn(),
      ...columnsOf(noise, ["language", "run_count", "mean_value", "run_standard_deviation"])] }),
  ];
}

// One row for each model, language and criterion: the share right in one run (hollow) and in all (full).
function passPlot(table, rows) {
  const most = Math.max(...rows.map((row) => row.k));
  const found = grouped(rows, ["model", "experiment", "language", "criterion"]).map((own) => ({ ...own[0], one: own.find((row) => row.k === 1) ?? {}, all: own.find((row) => row.k === most) ?? {} }));
  const domain = domainOf(found.map((row) => ({ value: row.all.pass_all_rate, low: row.all.pass_all_low, high: row.one.pass_all_rate })), "value");
  const rate = (name, label, of) => columnOf(table, "pass_all_rate", { name, label, value: (row) => row[of].pass_all_rate, cell: (row) => pointed(row[of].pass_all_rate, "percent") });
  return [note("Of the steps, by decision (call or reject) and by the whole answer (its call too). The point is the share right in all runs with its 95 % interval; the ring is one run."),
    dataTable({ caption: "Pass rates", isCaptionRead: true, isFiltered: true, rows: found, sort: "all", isFalling: true, columns: [modelColumn(), columnOf(table, "language"),
      columnOf(table, "criterion", { value: (row) => wordFor("criterion", row.criterion) }), rate("one", "One run", "one"), rate("all", `All of ${most}`, "all"),
      { name: "plot", label: "95 % interval", kind: "rail-cell", head: axis(domain), value: (row) => row.all.pass_all_rate, cell: (row) => {
        const drawn = whisker({ value: row.all.pass_all_rate, low: row.all.pass_all_low, high: row.all.pass_all_high }, domain, percent);
        const one = row.one.pass_all_rate;
        if (drawn instanceof SVGElement && !isAbsent(one) && one >= domain[0]) drawn.append(svg("circle", { class: "ring", cx: railPlace(Math.min(one, domain[1]), domain), cy: 9, r: 3.5 }));
        return drawn;
      } }] })];
}

// Scores against what a run costs, and how that is known.
async function costView() {
  const { costs } = await piece("costs");
  const languages = distinct(costs.rows({ profile: profileHere() }), "language").sort(inOrder);
  const language = languageHere() ?? languages[0];
  const rows = costs.rows({ profile: profileHere(), language });
  const priced = rows.filter((row) => row.mean_run_cost !== null && row.average_score !== null);
  // A sum that is known, or the least that it can be.
  const atLeast = (name, least) => columnOf(costs, name, { cell: (row) => isAbsent(row[name]) && row[least]
    ? `≥ ${written(costs.columns[least].show, row[least])}` : written(costs.columns[name].show, row[name]) });
  return [
    el("h1", null, "Score against cost"),
    el("div", { class: "choices" }, select("Language", languages.map((name) => [name]), language, choose("language"))),
    priced.length ? withSave(region("Score against cost", scatter({ points: priced.map((row) => ({ x: row.mean_run_cost, y: row.average_score, name: modelName(row),
      isMarked: row.is_pareto_optimal === 1, href: address(modelPath(row)) })), xLabel: costs.head("mean_run_cost").label, yLabel: costs.head("average_score").label,
    writeX: (value) => String(+value.toPrecision(3)), writeY: points })), "score-and-cost") : note("What runs of this language cost is unknown."),
    note("The line is the front: no other model scores at least as much for no more. Models whose cost is unknown are not on it; ",
      "“≥” stands before the least that their files show."),
    note("Usage: ", distinct(rows, "usage_basis").sort(inOrder).map((basis) => `${plain(basis)} (${wordFor("usage_basis", basis)})`).join("; "), "."),
    dataTable({ caption: "Cost and tokens", isCaptionRead: true, rows, sort: "average_score", isFalling: true, columns: [modelColumn(),
      ...columnsOf(costs, ["average_score", "mean_run_cost", "mean_run_tokens"]), atLeast("used_cost", "least_cost"), atLeast("used_token_count", "least_token_count"),
      columnOf(costs, "usage_basis", { cell: (row) => [row.usage_basis === "unknown" ? badge("partly", "unknown") : plain(row.usage_basis),
        row.doubtful_usage_file_count > 0 && el("span", { class: "quiet", title: costs.head("doubtful_usage_file_count").title }, ` ${many(row.doubtful_usage_file_count, "doubtful file")}`)] }),
      columnOf(costs, "is_pareto_optimal", { cell: (row) => row.is_pareto_optimal ? badge("good", "yes") : "" })] }),
  ];
}

// Scenarios: hard, dead and suspicious ones; and one scenario by all models.
async function scenariosView() {
  const { difficulties } = await piece("scenarios");
  const all = difficulties.rows({ profile: profileHere(), language: languageHere() });
  const kinds = Object.entries(words.scenario_kind);
  const kind = kinds.some(([name]) => name === here.params.get("kind")) ? here.params.get("kind") : null;
  const flags = (row) => kinds.filter(([name]) => row[name]).map(([name, said]) => el("span", { class: `badge ${name === "is_suspicious" ? "bad" : "partly"}`, title: said }, difficulties.head(name).label));
  return [
    heading("Scenarios: hard, dead, suspicious", "Filter scenarios", select("Kind", [[ALL, `all (${count(all.length)})`], ...kinds.map(([name, said]) =>
      [name, `${said} (${count(all.filter((row) => row[name]).length)})`])], kind ?? ALL, choose("kind"))),
    dataTable({ caption: "Scenarios", isCaptionRead: true, isFiltered: true, rows: kind ? all.filter((row) => row[kind]) : all, sort: "mean_scenario_score", columns: [
      columnOf(difficulties, "scenario", { value: (row) => `${row.language} ${row.scenario}`,
        cell: (row) => a(address(["scenario", row.language, row.scenario]), data(`${row.language} ${row.scenario}`)) }),
      barColumn(difficulties, "mean_scenario_score"), ...columnsOf(difficulties, ["least_score", "greatest_score", "discrimination", "attempt_count"]),
      { name: "flags", label: "Marks", value: (row) => flags(row).length, cell: flags }] }),
  ];
}

async function oneScenarioView([, language, scenario]) {
  const [{ difficulties }, { scores }] = await Promise.all([piece("scenarios"), piece("scenario_scores")]);
  const profile = profileHere();
  const [found] = difficulties.rows({ profile, language, scenario });
  if (!found) return missing(`no scenario ${scenario} (${language})`);
  const rows = scores.rows({ profile, language, scenario });
  return [
    trail([["Scenarios", ["scenarios"]]], `${language} ${scenario}`),
    el("h1", null, "Scenario ", data(scenario), " ", el("span", { class: "quiet" }, data(language))),
    cards(["mean_scenario_score", "least_score", "greatest_score", "discrimination"].map((name) =>
      [difficulties.head(name).label, figure(pointed(found[name], difficulties.columns[name].show))])),
    el("div", { class: "choices" }, filterBox("Filter models")),
    dataTable({ caption: "By model", isCaptionRead: true, isFiltered: true, rows, sort: "scenario_score", isFalling: true, columns: [
      modelColumn((row) => address(scenarioPath(row, language, scenario))), columnOf(scores, "experiment"), barColumn(scores, "scenario_score")] }),
  ];
}
