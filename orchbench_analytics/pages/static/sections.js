// The sections: decisions, tools, plans, cost.

const MOST_COLUMNS = 24; // models beside each other in a matrix
// The rows of each model, the best first.
function models(rows) {
  const board = here.core.leaderboard.index("profile", "model", "experiment");
  const average = ([row]) => here.core.leaderboard.value("average_score", board.get(keyOf(profileHere(), row.model, row.experiment))?.[0]) ?? -1;
  return grouped(rows, ["model", "experiment"]).map((own) => [average(own), own]).sort(([x], [y]) => y - x).map(([, own]) => own);
}

async function decisionsView() {
  const { confusion: table, patterns, failures } = await piece("decisions");
  const rows = rowsHere(patterns);
  const kinds = distinct(rows, "error_pattern");
  return [
    el("h1", null, "Decisions: call, reject or failed"),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter models")),
    el("h2", null, "All models together"), confusion({}, rowsHere(table)), decidedBy(rowsHere(table)),
    el("h2", null, "How models decide wrongly"),
    note("How often each pattern occurs, of the steps on which it could. A figure leads to the steps behind it."),
    filtered(heatTable({ caption: "Error patterns by model", corner: "Model", heads: kinds.map(plain), rows: models(rows).map((own) => ({
      head: modelLink(own[0]),
      cells: kinds.map((kind) => {
        const found = own.filter((row) => row.error_pattern === kind);
        const rate = divided(sum(found, "occurrence_count"), sum(found, "opportunity_count"));
        return rate === null ? null : { text: percent(rate), level: rate, kind: "wrong", href: address([...modelPath(own[0]), "steps"], { pattern: kind }),
          title: `${count(sum(found, "occurrence_count"))} of ${count(sum(found, "opportunity_count"))}` };
      }) })) })),
    el("h2", null, "Why answers failed"), note("Answers that were neither a call nor a rejection, and plans that could not be read. A figure leads to them."),
    failureTable(rowsHere(failures)),
  ];
}

// Who decided so: the models behind a cell of the matrix of all.
function decidedBy(rows) {
  const [actual, predicted] = [here.params.get("actual"), here.params.get("predicted")];
  if (!actual || !predicted) return note("A figure leads to the models behind it.");
  const found = models(rows).map((own) => ({ ...own[0],
    step_count: sum(own.filter((row) => row.actual === actual && row.predicted === predicted), "step_count"),
    labelled_count: sum(own.filter((row) => row.actual === actual), "step_count") })).filter((row) => row.step_count);
  return dataTable({ caption: `Label ${decisionWord(actual)}, answer ${decisionWord(predicted)}`, rows: found, sort: "step_count", isFalling: true, columns: [
    MODEL_COLUMN,
    numberColumn("step_count", "Steps", count, { cell: (row) => a(address([...modelPath(row), "steps"], { actual, predicted }), count(row.step_count)) }),
    { name: "share", label: "Of its steps with this label", kind: "number", value: (row) => row.step_count / row.labelled_count,
      cell: (row) => percent(row.step_count / row.labelled_count) }] });
}

function failureTable(rows) {
  if (!rows.length) return note("No answer failed.");
  const kinds = grouped(rows, ["unit", "failure_reason"]).map(([row]) => row)
    .sort((x, y) => inOrder(y.unit, x.unit) || inOrder(x.failure_reason, y.failure_reason));
  const href = (row, { unit, failure_reason: reason }) => address([...modelPath(row), `${unit}s`], unit === "plan" ? { read_as: reason } : { failure_reason: reason });
  const most = Math.max(...rows.map((row) => row.failure_count));
  return heatTable({ caption: "Failures", isCaptionRead: true, corner: "Model", heads: kinds.map((kind) => `${kind.unit}: ${plain(kind.failure_reason)}`),
    rows: models(rows).map((own) => ({ head: modelLink(own[0]), cells: kinds.map((kind) => {
      const found = sum(own.filter((row) => row.unit === kind.unit && row.failure_reason === kind.failure_reason), "failure_count");
      return found ? { text: count(found), level: found / most, kind: "wrong", href: href(own[0], kind) } : null;
    }) })) });
}

async function toolsView() {
  const { tools, arguments: keys } = await piece("tools");
  const rows = rowsHere(tools);
  const names = grouped(rows, ["tool"]).map(toolTotals).filter((row) => row.labelled_step_count)
    .sort((x, y) => (x.recall ?? 2) - (y.recall ?? 2));
  const shownModels = models(rows).slice(0, MOST_COLUMNS);
  return [
    el("h1", null, "Tools and arguments: who fails where"),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter rows")),
    note("Recall: of the steps that wanted the tool, how many called it. The tools that go wrong most stand first; a figure leads to the steps."),
    filtered(heatTable({ caption: "Recall by tool and model", corner: "Tool", heads: ["all", ...shownModels.map((own) => modelLink(own[0]))],
      rows: names.map((tool) => ({ head: data(tool.tool), cells: [heatShare(tool.recall), ...shownModels.map((own) => {
        const found = own.filter((row) => row.tool === tool.tool);
        const total = found.length ? toolTotals(found) : {};
        return total.labelled_step_count ? heatShare(total.recall, address([...modelPath(own[0]), "steps"], { tool: tool.tool })) : null;
      })] })) })),
    el("h2", null, "Arguments that go wrong, over all models"), argumentBoard(rowsHere(keys)),
  ];
}

const heatShare = (share, href) => (isAbsent(share) ? null
  : { text: percent(share), level: 1 - share, kind: "wrong", href });

function argumentBoard(rows) {
  const found = grouped(rows, ["label_tools", "argument_key"]).map((own) => {
    const wrong = sum(own, "value_false_negative_count");
    const right = sum(own, "value_true_positive_count");
    return { ...own[0], argument_count: sum(own, "argument_count"), wrong, extra: sum(own, "key_false_positive_count"), missed: sum(own, "key_false_negative_count"), rate: divided(right, right + wrong) };
  });
  return dataTable({ caption: "Arguments", isCaptionRead: true, rows: found, sort: "wrong", isFalling: true, columns: [
    { name: "argument_key", label: "Argument", value: (row) => row.argument_key,
      cell: (row) => a(address(["argument", row.argument_key, ...(row.label_tools ? [row.label_tools] : [])]), data(row.argument_key)) },
    { name: "label_tools", label: "Tool", value: (row) => row.label_tools && listed(row.label_tools) },
    numberColumn("argument_count", "Asked", count), numberColumn("missed", "Key missed", count), numberColumn("extra", "Key too many", count),
    numberColumn("wrong", "Values missed", count), numberColumn("rate", "Value recall", percent)] });
}

// An argument by model: counted from the rows themselves, where there are not too many models.
const MOST_COUNTED_MODELS = 40;
async function argumentView([, key, tools = null]) {
  const profile = profileHere();
  const everyone = here.core.models.rows();
  const rows = await Promise.all(everyone.slice(0, MOST_COUNTED_MODELS).map(async (self) => {
    const shard = await shardOf(here.core, self.model, self.experiment);
    return { ...self, ...argumentTotals(shard, profile, key, tools) };
  }));
  const stepsOf = (row, extra) => address([...modelPath(row), "steps"], { key, label_tools: tools, ...extra });
  return [
    trail([["Tools", ["tools"]]], key),
    el("h1", null, "Argument ", data(key), tools && el("span", { class: "quiet" }, " of ", data(listed(tools)))),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter models")),
    everyone.length > MOST_COUNTED_MODELS && note(`The first ${MOST_COUNTED_MODELS} of ${count(everyone.length)} models.`),
    filtered(dataTable({ caption: "By model", isCaptionRead: true, rows: rows.filter((row) => row.step_count), sort: "wrong", isFalling: true, columns: [
      { name: "model", label: "Model", value: (row) => modelName(row), cell: (row) => a(stepsOf(row), data(modelName(row))) },
      numberColumn("step_count", "Steps", count), numberColumn("wrong", "Values missed", count, { cell: (row) => a(stepsOf(row, { key_is: "wrong" }), count(row.wrong)) }),
      numberColumn("extra", "Values too many", count), numberColumn("rate", "Value recall", percent)] })),
  ];
}

function argumentTotals(shard, profile, key, tools) {
  const found = Array.from({ length: shard.steps.count }, (_, number) => shard.step(number, profile))
    .filter((row) => (!languageHere() || row.language === languageHere()) && row.label_tools === tools)
    .flatMap((row) => shard.argumentsOf(row, profile).filter((item) => item.argument_key === key));
  const [right, wrong] = [sum(found, "true_positive_count"), sum(found, "false_negative_count")];
  return { step_count: found.length, wrong, extra: sum(found, "false_positive_count"), rate: divided(right, right + wrong) };
}

async function plansView() {
  const { kinds, sizes } = await piece("plans");
  const rows = rowsHere(kinds);
  const words = distinct(rows, "kind").sort();
  const sizeRows = rowsHere(sizes);
  const lengths = distinct(sizeRows, "label_workflow_count").sort((x, y) => x - y);
  return [
    el("h1", null, "Plans: kinds of error, and size"),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter models")),
    el("h2", null, "What is wrong"), note("The cost of edits for each plan that was read. A figure leads to the plans that have such an edit."),
    filtered(heatTable({ caption: "Cost of edits for each plan", corner: "Model", heads: words.map(plain), rows: models(rows).map((own) => ({
      head: modelLink(own[0]), cells: words.map((kind) => {
        const found = own.filter((row) => row.kind === kind);
        const plans = sum(oneOfLanguage(own), "read_plan_count");
        const rate = found.length ? divided(sum(found, "edit_cost"), plans) : null;
        return rate === null ? null : { text: short(rate, 3), level: rate / 0.6, kind: "wrong", title: `${count(sum(found, "edit_count"))} edits in ${count(plans)} plans`,
          href: address([...modelPath(own[0]), "plans"], { kind }) };
      }) })) })),
    el("h2", null, "By the size of the label"), note("Mean similarity of plans, failed ones being 0, by the number of workflows the label has."),
    heatTable({ caption: "Plan similarity by workflows", corner: "Model", heads: lengths.map(String), rows: models(sizeRows).map((own) => ({
      head: modelLink(own[0]), cells: lengths.map((size) => {
        const found = own.filter((row) => row.label_workflow_count === size);
        const mean = divided(sum(found, "plan_similarity_sum"), sum(found, "plan_count"));
        return mean === null ? null : { text: short(mean, 3), level: mean, title: many(sum(found, "plan_count"), "plan"),
          href: address([...modelPath(own[0]), "plans"], { size }) };
      }) })) }),
  ];
}

// One row of each language: the number of plans read is repeated in every kind.
const oneOfLanguage = (rows) => grouped(rows, ["language"]).map((own) => own[0]);

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
