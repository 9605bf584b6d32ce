// A model: its scores, decisions, tools and plans; its scenarios; and the rows behind a figure.

async function modelView([, model, experiment]) {
  const self = { model, experiment };
  const profile = profileHere();
  const [shard, decisions, tools, plans] = await Promise.all([
    shardOf(here.core, model, experiment), piece("decisions"), piece("tools"), piece("plans")]);
  if (!shard) return missing(`no model ${model} in the experiment ${experiment}`);
  return [
    trail([["Leaderboard", []]], modelName(self)),
    el("h1", null, data(model), " ", el("span", { class: "quiet" }, data(experiment))),
    el("div", { class: "choices" }, languageChoice()),
    headline(self, profile),
    el("p", null, hasAnswers() && [a(address([...modelPath(self), "steps"]), "All steps"), " · ",
      a(address([...modelPath(self), "plans"]), "All plans")],
    here.core.models.count > 1 && [hasAnswers() && " · ", a(address(["compare", model, experiment]), "Compare with another model")]),
    el("h2", null, "Scores by language"), languageTable(here.scores.metrics.rows({ profile, ...self })),
    !hasAnswers() && note(WITHOUT_ANSWERS),
    hasAnswers() && el("div", { class: "columns" },
      el("section", null, el("h2", null, "Decisions"), confusion(self, rowsHere(decisions.confusion, self))),
      el("section", null, el("h2", null, "How decisions go wrong"), patternBars(self, rowsHere(decisions.patterns, self))),
      el("section", null, el("h2", null, "Plans: what is wrong"), editKinds(self, plans.kinds, rowsHere(plans.kinds, self))),
      el("section", null, el("h2", null, "Tools, the lowest recall first"), ownTools(self, tools.tools, rowsHere(tools.tools, self)))),
    el("h2", { id: "scenarios" }, "Scenarios"),
    el("div", { class: "choices" }, filterBox("Filter scenarios")),
    scenarioTable(self, shard.filesTable, shard.files(profile, languageHere())),
  ];
}

const missing = (what) => [el("h1", null, "Nothing here"), note(`There is ${what} in this report. `,
  a(address([]), "To the leaderboard"))];

const trail = (steps, last) => el("nav", { class: "trail", "aria-label": "Breadcrumbs" },
  steps.map(([said, path]) => [a(address(path), data(said)), el("span", { "aria-hidden": true }, " › ")]),
  el("span", { "aria-current": "page" }, data(last)));

function headline(self, profile) {
  const language = languageHere() ?? MEAN;
  const [board = {}] = here.scores.board.rows({ profile, language, ...self });
  const spans = here.scores.intervals.rows({ profile, language, ...self });
  const metrics = words.headline.map((name, place) => {
    const span = spans.find((found) => found.metric === name);
    const shown = { title: exactly("points", board[name]) };
    return [words.metric[name], place === 0 ? el("span", { class: "figure", ...shown }, points(board[name]))
      : el("a", { class: "figure plain", href: rowsBehind(self, name), ...shown }, points(board[name])),
    span && el("span", { class: "quiet" }, `${points(span.low)} – ${points(span.high)}`)];
  });
  return cards([...metrics, [here.scores.board.head("rank_number").label, figure(board.rank_number ?? "–"), el("span", { class: "quiet" }, rankWords(board))]]);
}

function rankWords(row) {
  if (row.unranked_reason) return row.unranked_reason;
  if (isAbsent(row.rank_number)) return plain(row.rank_status);
  if (isAbsent(row.rank_low)) return `in ${row.language}`;
  const span = row.rank_low === row.rank_high ? `of ${count(here.core.models.count)}` : `between ${row.rank_low} and ${row.rank_high}`;
  return `${span}, tier ${row.tier_number}`;
}

function languageTable(rows) {
  const table = here.scores.metrics;
  const names = Object.keys(words.metric).filter((name) => rows.some((row) => !isAbsent(row[name])));
  return heatTable({ caption: "Scores by language", isCaptionRead: true, rows, first: columnOf(table, "language"),
    heads: names.map((name) => ({ name, ...table.head(name), cell: (row) => isAbsent(row[name]) ? null
      : { text: points(row[name]), value: row[name], level: row[name], title: exactly("points", row[name]), href: rowsBehind(row, name) } })) });
}

const DECISION_WORDS = (name) => words.decision?.[name] ?? plain(name);
function byDecision(x, y) {
  const order = Object.keys(words.decision);
  const place = (name) => order.indexOf(name) + 1 || 99;
  return place(x) - place(y) || inOrder(x, y);
}

function confusion(self, rows) {
  const actual = distinct(rows, "actual").sort(byDecision);
  const predicted = distinct(rows, "predicted").sort(byDecision);
  const cell = (wanted, given) => {
    const found = rows.find((row) => row.actual === wanted && row.predicted === given);
    return found && { text: count(found.step_count), value: found.step_count, level: found.actual_share, kind: found.is_right ? "good" : "wrong",
      title: `${percent(found.actual_share)} of the steps labelled ${DECISION_WORDS(wanted)}`,
      href: self.model === undefined ? null : self.model === ALL ? address(["decisions"], { actual: wanted, predicted: given })
        : address([...modelPath(self), "steps"], { actual: wanted, predicted: given }) };
  };
  return heatTable({ caption: "Label (rows) and answer (columns)", rows: actual.map((wanted) => ({ wanted })),
    first: { name: "wanted", label: "Label", value: (row) => DECISION_WORDS(row.wanted) },
    heads: predicted.map((given) => ({ name: given, label: DECISION_WORDS(given), cell: (row) => cell(row.wanted, given) })) });
}

const patternBars = (self, rows) => bars({ caption: "Of the steps on which it could occur", write: percent, items: rows.map((row) => ({
  name: a(address([...modelPath(self), "steps"], { error_pattern: row.error_pattern }), wordFor("error_pattern", row.error_pattern)), kind: "wrong", value: row.occurrence_rate })) });

function editKinds(self, table, rows) {
  if (!rows.length) return note("No edits: every plan that was read agrees with its label.");
  return dataTable({ caption: "Edits from answer to label", rows, columns: [
    columnOf(table, "kind", { cell: (row) => a(address([...modelPath(self), "plans"], { kind: row.kind }), plain(row.kind)) }),
    ...columnsOf(table, ["edited_plan_count", "edit_count", "edit_cost"])] });
}

const ownTools = (self, table, rows) => dataTable({ caption: "Tools", isCaptionRead: true, rows, columns: [
  columnOf(table, "tool", { cell: (row) => a(address([...modelPath(self), "steps"], { tool: row.tool }), data(row.tool)) }),
  ...columnsOf(table, ["labelled_step_count", "tool_recall", "value_micro_f1"])] });

function scenarioTable(self, table, rows) {
  return dataTable({ caption: "Scenarios", isCaptionRead: true, isFiltered: true, rows, sort: "scenario_score", columns: [
    columnOf(table, "scenario", { cell: (row) => a(address(scenarioPath(self, row.language, row.scenario)), data(row.scenario)) }),
    columnOf(table, "language"), barColumn(table, "scenario_score"),
    ...columnsOf(table, ["decision_accuracy", "file_call_f1", "plan_similarity", "failed_generation_count", "failed_plan_count", "run_count"])] });
}

// A model's scenario: all steps by all runs, or one of its runs.
async function scenarioView([, model, experiment, , language, scenario, ...rest]) {
  const self = { model, experiment };
  const profile = profileHere();
  const shard = await shardOf(here.core, model, experiment);
  const run = rest[0] === "run" ? rest[1] : null;
  const rows = shard?.dialogue(profile, { language, scenario, run }) ?? [];
  if (!rows.length) return missing(`no scenario ${scenario} (${language}) of ${model}`);
  const file = shard.files(profile, language).find((found) => found.scenario === scenario) ?? {};
  const path = scenarioPath(self, language, scenario);
  const parts = ["scenario_score", "decision_accuracy", "file_call_f1", "plan_similarity"];
  return [
    trail([["Leaderboard", []], [modelName(self), modelPath(self)],
      ...(run ? [[`${language} ${scenario}`, path]] : [])], run ?? `${language} ${scenario}`),
    el("h1", null, run ? [data(run), " of scenario "] : "Scenario ", data(scenario), " ",
      el("span", { class: "quiet" }, data(language))),
    !run && cards(parts.map((name) => [shard.filesTable.head(name).label, figure(score(file[name]))])),
    el("p", null, a(address(["scenario", language, scenario]), "The same scenario by all models")),
    run ? stepTable({ self, rows, table: shard.steps, unit: "steps", sort: null, isOfRun: true }) : runMatrix(self, rows),
  ];
}

// Steps down, runs across.
function runMatrix(self, rows) {
  const runs = distinct(rows, "run").sort(inOrder);
  return stepMatrix({ label: "Steps by run", caption: "Steps by run", rows,
    heads: runs.map((run) => a(address([...here.path.slice(0, 6), "run", run]), data(run))),
    cells: (step) => runs.map((run) => outcomeCell(self, rows, step, run)) });
}

// A table with a row for each step: what was wanted, and cells that lead to answers.
const stepMatrix = ({ label, caption, heads, rows, cells }) => region(label, el("table", { class: "matrix" }, el("caption", null, caption),
  el("thead", null, el("tr", null, ["Step", "Wanted", ...heads].map((head) => el("th", { scope: "col" }, head)))),
  el("tbody", null, distinct(rows, "step_id").sort(inOrder).map((step) => el("tr", null, el("th", { scope: "row" }, data(step)),
    el("td", null, wantedWords(rows.find((row) => row.step_id === step))), cells(step))))));

function outcomeCell(self, rows, step, run) {
  const found = rows.filter((row) => row.step_id === step && row.run === run);
  if (!found.length) return el("td", { class: "absent" }, "–");
  return el("td", null, found.map((row) => outcomeLink(self, row)));
}

// How a row went: its score, or words.
function outcomeWords(row) {
  const reason = { failed: row.failure_reason, unread: row.read_as, left_out: row.left_out_reason }[row.outcome];
  if (row.outcome === "scored") return points(row.outcome_score);
  return `${wordFor("outcome", row.outcome ?? "left_out")}${reason ? `: ${plain(reason)}` : ""}`;
}
const outcomeAttributes = (row) => (isAbsent(row.outcome_score) ? { class: "badge quiet" }
  : { class: "badge graded", "--level": (row.outcome === "rejected_with_other_type" ? 0.5 : row.outcome_score).toFixed(3), title: row.outcome === "scored" ? exactly("points", row.outcome_score) : null });
const outcomeLink = (self, row) => el("a", { ...outcomeAttributes(row), href: address(stepPath(self, row)) }, outcomeWords(row));
const outcomeBadge = (row) => el("span", outcomeAttributes(row), outcomeWords(row));

const toolNames = (text) => (text ? JSON.parse(text) : []).map((tool, place) => [place ? ", " : "", data(tool)]);

function wantedWords(row) {
  if (row.unit === "plan") return row.label_content === null ? "plan without a label" : `plan of ${many(row.label_workflow_count ?? 0, "workflow")}`;
  const tools = toolNames(row.label_tools);
  return [row.agent_id && el("span", { class: "quiet" }, data(row.agent_id), ": "), tools.length ? tools : DECISION_WORDS(row.actual)];
}

function givenWords(row) {
  if (row.unit === "plan") return row.is_failed ? "no plan" : `plan of ${many(row.answer_workflow_count ?? 0, "workflow")}`;
  const tools = toolNames(row.answer_tools);
  return tools.length && row.predicted === "call" ? tools : DECISION_WORDS(row.predicted);
}

function stepTable({ self, rows, table, unit, sort, isOfRun = false }) {
  const place = { value: (row) => isOfRun ? row.step_id : `${row.language} ${row.scenario}` };
  return dataTable({ caption: plain(unit), isCaptionRead: true, isFiltered: true, rows, sort, columns: [
    { ...columnOf(table, isOfRun ? "step_id" : "scenario"), ...place, cell: (row) => a(address(stepPath(self, row)), data(place.value(row))) },
    !isOfRun && columnOf(table, "run"), !isOfRun && columnOf(table, "step_id"),
    { name: "wanted", label: "Wanted", value: (row) => row.actual ?? row.label_workflow_count ?? row.unit, cell: wantedWords, text: (row) => `${row.agent_id ?? ""} ${row.label_tools ?? row.actual ?? row.unit}` },
    { name: "given", label: "Given", value: (row) => row.predicted ?? row.answer_workflow_count, cell: givenWords, text: (row) => row.answer_tools ?? row.predicted ?? "" },
    columnOf(table, "outcome", { value: (row) => row.outcome_score, cell: (row) => outcomeLink(self, row), text: outcomeWords })].filter(Boolean) });
}

// The steps or plans of a model that have what the address asks for: the rows behind a figure.
async function rowsView([, model, experiment, unit]) {
  const self = { model, experiment };
  const [profile, language] = [profileHere(), languageHere()];
  const shard = await shardOf(here.core, model, experiment);
  if (!shard) return missing(`no model ${model}`);
  const isPlan = unit === "plans";
  const wanted = Object.fromEntries([...here.params].filter(([name]) => !KEPT.includes(name)));
  const rows = Array.from({ length: shard[unit].count }, (_, number) => (isPlan
    ? { ...shard.plan(number, profile), unit: "plan" } : { ...shard.step(number, profile), unit: "step" }))
    .filter((row) => (!language || row.language === language) && has(row, wanted, shard, profile));
  return [
    trail([["Leaderboard", []], [modelName(self), modelPath(self)]], plain(unit)),
    el("h1", null, isPlan ? "Plans" : "Steps", " of ", data(modelName(self))),
    el("p", { class: "asked" }, Object.entries(wanted).map(([name, value]) =>
      el("a", { class: "badge", href: addressWith({ [name]: null }), title: "Remove" }, `${plain(name)}: `, data(value), " ×"))),
    el("div", { class: "choices" }, languageChoice(), searchAnswers(), filterBox("Filter rows")),
    note(many(rows.length, isPlan ? "plan" : "step")),
    stepTable({ self, rows, table: shard[unit], unit, sort: "outcome" }),
  ];
}

const searchAnswers = () => el("label", { class: "choice" }, el("span", null, "Find in answers"),
  el("input", { type: "search", value: here.params.get("text") ?? "", placeholder: "…",
    change: (event) => choose("text")(event.target.value) }));

function has(row, wanted, shard, profile) {
  return Object.entries(wanted).every(([name, value]) => {
    if (name === "text") return `${row.answer_content ?? ""}${row.answer_calls ?? ""}`.toLowerCase().includes(value.toLowerCase());
    if (name === "tool") return row.is_scored && (row.label_tools ?? "").includes(JSON.stringify(value));
    if (name === "key") return shard.argumentsOf(row, profile).some((found) => found.argument_key === value
      && (wanted.key_is !== "wrong" || found.false_negative_count > 0));
    if (name === "key_is") return true; // asked together with the key
    if (name === "unstable") return row.is_unstable === 1;
    if (name === "kind") return (shard.pictureOf(row, profile)?.edits ?? []).some((edit) => edit[EDIT_KIND] === value);
    if (name === "size") return row.is_scored && String(row.label_workflow_count) === value;
    return (row.is_scored || name === "left_out_reason") && String(row[name]) === value;
  });
}
