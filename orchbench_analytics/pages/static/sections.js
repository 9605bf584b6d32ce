// The sections: decisions, tools, plans, consistency, cost, rules.

const ofLanguage = (table, extra = {}) =>
  table.rows({ profile: profileHere(), language: languageHere(), ...extra });
const models = (rows) => grouped(rows, ["model", "experiment"]);

async function decisionsView() {
  const { confusion: table, patterns, failures } = await piece("decisions");
  const rows = ofLanguage(patterns);
  const kinds = distinct(rows, "error_pattern");
  return [
    el("h1", null, "Decisions: call, reject or failed"),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter models")),
    el("h2", null, "All models together"), confusion({}, inLanguage(table), profileHere()),
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
    el("h2", null, "Why answers failed"), failureTable(ofLanguage(failures)),
  ];
}

// A table seen through the language that is chosen.
function inLanguage(table) {
  const language = languageHere();
  return { rows: (wanted) => table.rows({ ...wanted, language }) };
}

function failureTable(rows) {
  if (!rows.length) return note("No answer failed.");
  const found = grouped(rows, ["unit", "failure_reason", "model", "experiment"]).map((own) => ({ ...own[0], failure_count: sum(own, "failure_count") }));
  return dataTable({ caption: "Failures", isCaptionRead: true, rows: found, sort: "failure_count", isFalling: true, columns: [
    { name: "model", label: "Model", value: (row) => modelName(row), cell: (row) => a(address([...modelPath(row),
      row.unit === "plan" ? "plans" : "steps"], row.unit === "plan" ? { read_as: row.failure_reason } : { failure_reason: row.failure_reason }), data(modelName(row))) },
    textColumn("unit", "Unit"), { name: "failure_reason", label: "Reason", value: (row) => plain(row.failure_reason) },
    numberColumn("failure_count", "Answers", count)] });
}

async function toolsView() {
  const { tools, arguments: keys } = await piece("tools");
  const rows = ofLanguage(tools);
  const names = grouped(rows, ["tool"]).map(toolTotals).filter((row) => row.labelled_step_count)
    .sort((x, y) => (x.recall ?? 2) - (y.recall ?? 2));
  const people = models(rows).slice(0, 24);
  return [
    el("h1", null, "Tools and arguments: who fails where"),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter rows")),
    note("Recall: of the steps that wanted the tool, how many called it. The tools that go wrong most stand first; a figure leads to the steps."),
    filtered(heatTable({ caption: "Recall by tool and model", corner: "Tool", heads: ["all", ...people.map((own) => modelLink(own[0]))],
      rows: names.map((tool) => ({ head: data(tool.tool), cells: [heatShare(tool.recall), ...people.map((own) => {
        const found = own.filter((row) => row.tool === tool.tool);
        const total = found.length ? toolTotals(found) : {};
        return total.labelled_step_count ? heatShare(total.recall, address([...modelPath(own[0]), "steps"], { tool: tool.tool })) : null;
      })] })) })),
    el("h2", null, "Arguments that go wrong, over all models"), argumentBoard(ofLanguage(keys)),
  ];
}

const heatShare = (share, href) => (share === null || share === undefined ? null
  : { text: percent(share), level: 1 - share, kind: "wrong", href });

function argumentBoard(rows) {
  const found = grouped(rows, ["label_tools", "argument_key"]).map((own) => {
    const wrong = sum(own, "value_false_negative_count");
    const right = sum(own, "value_true_positive_count");
    return { ...own[0], argument_count: sum(own, "argument_count"), wrong, extra: sum(own, "key_false_positive_count"), missed: sum(own, "key_false_negative_count"), rate: divided(right, right + wrong) };
  });
  return dataTable({ caption: "Arguments", isCaptionRead: true, rows: found, sort: "wrong", isFalling: true, columns: [
    { name: "argument_key", label: "Argument", value: (row) => row.argument_key },
    { name: "label_tools", label: "Tool", value: (row) => row.label_tools && listed(row.label_tools) },
    numberColumn("argument_count", "Asked", count), numberColumn("missed", "Key missed", count), numberColumn("extra", "Key too many", count),
    numberColumn("wrong", "Values missed", count), numberColumn("rate", "Value recall", percent)] });
}

async function plansView() {
  const { kinds, sizes } = await piece("plans");
  const rows = ofLanguage(kinds);
  const words = distinct(rows, "kind").sort();
  const sizeRows = ofLanguage(sizes);
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

async function consistencyView() {
  const tables = await piece("consistency");
  const rows = tables.flips ? ofLanguage(tables.flips) : [];
  const passes = tables.pass_rates ? ofLanguage(tables.pass_rates) : [];
  const noise = tables.run_noise ? ofLanguage(tables.run_noise, { metric: "average_score" }) : [];
  return [
    el("h1", null, "Consistency over runs"),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter rows")),
    el("h2", null, "Decisions that change from run to run"),
    filtered(dataTable({ caption: "Flips", isCaptionRead: true, rows, sort: "flip_rate", isFalling: true, columns: [
      { name: "model", label: "Model", value: (row) => modelName(row), cell: (row) => a(address([...modelPath(row), "steps"]), data(modelName(row))) },
      textColumn("language", "Language"), numberColumn("step_count", "Steps", count), numberColumn("unstable_step_count", "Unstable", count),
      numberColumn("unstable_step_rate", "Unstable share", percent), numberColumn("flip_rate", "Flip rate", percent, { title: "Pairs of runs that decide differently" })] })),
    el("h2", null, "Right in all of k runs, or in any"),
    dataTable({ caption: "Pass rates", isCaptionRead: true, rows: passes, sort: "model", columns: [
      { name: "model", label: "Model", value: (row) => modelName(row), cell: (row) => modelLink(row) }, textColumn("language", "Language"),
      { name: "criterion", label: "Criterion", value: (row) => plain(row.criterion) }, numberColumn("k", "k", count),
      numberColumn("pass_all_rate", "All of k", percent), numberColumn("pass_any_rate", "Any of k", percent)] }),
    noise.length ? [el("h2", null, "How much the average moves between runs"), dataTable({ caption: "Run noise", isCaptionRead: true, rows: noise, sort: "run_standard_deviation", isFalling: true, columns: [
      { name: "model", label: "Model", value: (row) => modelName(row), cell: (row) => modelLink(row) }, textColumn("language", "Language"),
      numberColumn("run_count", "Runs", count), numberColumn("mean_value", "Mean"), numberColumn("run_standard_deviation", "Standard deviation")] })] : null,
  ];
}

async function costView() {
  const { costs } = await piece("costs");
  const languages = distinct(costs.rows({ profile: profileHere() }), "language").sort(inOrder);
  const language = languageHere() ?? languages[0];
  const rows = costs.rows({ profile: profileHere(), language });
  const priced = rows.filter((row) => row.mean_run_cost !== null && row.average_score !== null);
  return [
    el("h1", null, "Score against cost"),
    el("div", { class: "choices" }, select("Language", languages.map((name) => [name]), language, choose("language"))),
    priced.length ? el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Score against cost" }, scatter({ points: priced.map((row) => ({ x: row.mean_run_cost, y: row.average_score, name: modelName(row),
      isMarked: row.is_pareto_optimal === 1, href: address(modelPath(row)) })), xLabel: "mean cost of a run", yLabel: "Average",
    writeX: (value) => String(+value.toPrecision(3)), writeY: (value) => String(+value.toPrecision(3)) })) : note("No document of this language says what its runs cost."),
    note("The line is the front: no other model scores at least as much for no more."),
    dataTable({ caption: "Cost and tokens", isCaptionRead: true, rows, sort: "average_score", isFalling: true, columns: [
      { name: "model", label: "Model", value: (row) => modelName(row), cell: (row) => modelLink(row) }, numberColumn("average_score", "Average"),
      numberColumn("mean_run_cost", "Cost of a run", (value) => short(value, 5)), numberColumn("mean_run_tokens", "Tokens of a run", (value) => value === null ? "–" : count(Math.round(value))),
      numberColumn("total_cost", "Total cost", (value) => short(value, 3)),
      { name: "is_pareto_optimal", label: "On the front", value: (row) => row.is_pareto_optimal, cell: (row) => row.is_pareto_optimal ? badge("good", "yes") : "" }] }),
  ];
}

async function rulesView() {
  const { core } = here;
  const [first] = core.profiles;
  const rows = core.leaderboard.rows({ profile: first }).map((row) => ({ ...row,
    ...Object.fromEntries(core.profiles.map((profile) => [`score-${profile}`, core.leaderboard.rows({ profile, model: row.model, experiment: row.experiment })[0]?.average_score ?? null])),
    ...Object.fromEntries(core.profiles.map((profile) => [`rank-${profile}`, core.leaderboard.rows({ profile, model: row.model, experiment: row.experiment })[0]?.rank_number ?? null])) }));
  return [
    el("h1", null, "What the scoring rules do"),
    el("dl", { class: "facts" }, core.profiles.map((name) => el("div", null, el("dt", null, name), el("dd", null, PROFILE_WORDS[name] ?? "rules of your own")))),
    el("h2", null, "Average and rank under each profile"),
    dataTable({ caption: "Profiles", isCaptionRead: true, rows, sort: `rank-${first}`, columns: [
      { name: "model", label: "Model", value: (row) => modelName(row), cell: (row) => modelLink(row) },
      ...core.profiles.flatMap((profile) => [numberColumn(`score-${profile}`, profile), numberColumn(`rank-${profile}`, "rank", (value) => `${value ?? "–"}`)])] }),
    el("h2", null, "One rule at a time"), core.has_rules ? ruleTable((await piece("rules")).rules)
      : note("This report was made without it; make it with: ", el("code", null, "orchbench report DIR OUT --audit")),
  ];
}

function ruleTable(table) {
  const rows = table.rows().filter((row) => HEADLINE.some((name) => row[`${name}_change`]));
  if (!rows.length) return note("No rule changes any score here.");
  return [note("From the public evaluator's rules to ours, one at a time: what each does to each model's scores."),
    dataTable({ caption: "Rules", isCaptionRead: true, rows, columns: [
      { name: "rule", label: "Rule", value: (row) => plain(row.rule) },
      { name: "change", label: "From → to", value: (row) => row.rule_to, cell: (row) => `${plain(row.rule_from)} → ${plain(row.rule_to)}` },
      { name: "model", label: "Model", value: (row) => modelName(row), cell: (row) => modelLink(row) },
      ...HEADLINE.map((name) => numberColumn(`${name}_change`, metricWord(name), signed)),
      numberColumn("rank_change", "Rank", (value) => (value ? `${value > 0 ? "+" : ""}${value}` : "–"))] })];
}
