// Two models beside each other: difference, interval, verdict, and the scenarios behind it.

async function compareView([, model, experiment, otherModel, otherExperiment]) {
  const { core } = here;
  const models = core.models.rows().sort((x, y) => inOrder(x.model, y.model) || inOrder(x.experiment, y.experiment));
  const baseline = findModel(models, model, experiment);
  const candidate = findModel(models, otherModel, otherExperiment);
  const to = (first, second) => {
    location.hash = address(["compare", ...pathOf(first), ...pathOf(second)]);
  };
  const options = [["", "choose …"], ...models.map((row) => [keyOf(row.model, row.experiment), `${row.model} · ${row.experiment}`])];
  const chosen = (row) => (row ? keyOf(row.model, row.experiment) : "");
  const named = (key) => (key ? findModel(models, ...JSON.parse(key)) : null);
  const title = [el("h1", null, "Compare two models"), el("div", { class: "choices" },
    select("Baseline", options, chosen(baseline), (key) => to(named(key) ?? models[0], candidate)),
    select("Candidate", options, chosen(candidate), (key) => to(baseline ?? models[0], named(key))),
    baseline && candidate && el("button", { type: "button", click: () => to(candidate, baseline) }, "Swap"), languageChoice())];
  if (models.length < 2) return [el("h1", null, "Compare two models"), note("There is only one model here.")];
  const { pairs: all, all_pairs: allPairs } = await piece("comparisons");
  if (!baseline || !candidate) return [...title, note("Choose two models to see how far apart they are, and where."), allPairs && pairMatrix(allPairs)];
  const profile = profileHere();
  const pairs = all ?? (core.live && baseline !== candidate ? (await piece(`pair-${baseline.number}-${candidate.number}`)).pairs : null);
  const [first, second] = await Promise.all([baseline, candidate].map((row) => shardOf(core, row.model, row.experiment)));
  return [...title,
    el("h2", null, "How far apart"), pairs ? verdictTable(pairs, pairRows(pairs, profile, baseline, candidate)) : howToCompare(baseline, candidate),
    el("h2", null, "The scenarios behind it"),
    el("div", { class: "choices" }, filterBox("Filter scenarios")),
    scenarioPairs(sharedScenarios(first, second, profile), first.filesTable, baseline, candidate),
  ];
}

// All pairs at once: a figure leads to the pair.
function pairMatrix(pairs) {
  const found = rowsHere(pairs, { metric: words.headline[0] }, MEAN);
  const order = byModel(found.flatMap((row) => [{ model: row.baseline_model, experiment: row.baseline_experiment },
    { model: row.candidate_model, experiment: row.candidate_experiment }])).map(([row]) => row);
  const most = Math.max(...found.map((row) => Math.abs(row.difference ?? 0)), 1e-9);
  const index = new Map(found.flatMap((row) => [row, turned(row)]).map((row) =>
    [keyOf(row.baseline_model, row.baseline_experiment, row.candidate_model, row.candidate_experiment), row]));
  const cell = (self, other) => {
    const row = index.get(keyOf(self.model, self.experiment, other.model, other.experiment));
    if (!row || isAbsent(row.difference)) return null;
    const isShown = ["better", "worse"].includes(row.verdict);
    return { text: signed(row.difference), value: row.difference, level: isShown ? Math.abs(row.difference) / most : 0, kind: row.difference > 0 ? "good" : "wrong",
      title: row.verdict, href: address(["compare", ...pathOf(self), ...pathOf(other)]) };
  };
  return [el("h2", null, "All pairs"), note(`${words.metric[words.headline[0]]} of the column less that of the row, in points; colour stands for a difference that is shown, given all pairs.`),
    heatTable({ caption: "All pairs", isCaptionRead: true, first: modelColumn(), rows: order,
      heads: order.map((other) => ({ name: keyOf(other.model, other.experiment), label: modelName(other), cell: (row) => cell(row, other) })) })];
}

const pathOf = (row) => (row ? [row.model, row.experiment] : []);
const findModel = (models, model, experiment) =>
  models.find((row) => row.model === model && row.experiment === experiment) ?? null;

const howToCompare = (baseline, candidate) => note(`With more than ${here.core.most_paired_models} models a report does not hold all pairs. This compares the two: `,
  el("code", null, ["orchbench compare DIR", ...[baseline, candidate].map((one) => shellWord(pathOf(one).join("/")))].join(" ")));

// The rows of a pair, turned round where the table has it the other way.
function pairRows(pairs, profile, baseline, candidate) {
  const sought = (first, second) => pairs.rows({ profile, language: languageHere() ?? MEAN,
    baseline_model: first.model, baseline_experiment: first.experiment,
    candidate_model: second.model, candidate_experiment: second.experiment });
  return [...sought(baseline, candidate), ...sought(candidate, baseline).map(turned)];
}
const negative = (value) => (isAbsent(value) ? value : -value);
const turned = (row) => ({ ...row, baseline_value: row.candidate_value, candidate_value: row.baseline_value,
  baseline_model: row.candidate_model, baseline_experiment: row.candidate_experiment, candidate_model: row.baseline_model, candidate_experiment: row.baseline_experiment,
  difference: negative(row.difference), low: negative(row.high), high: negative(row.low),
  verdict: { better: "worse", worse: "better" }[row.verdict] ?? row.verdict });

function verdictTable(table, rows) {
  if (!rows.length) return note("They have no scenario in common here.");
  const widest = Math.max(...rows.flatMap((row) => [Math.abs(row.low ?? 0), Math.abs(row.high ?? 0)]), 0.01);
  const kind = (verdict) => ({ better: "good", worse: "bad" })[verdict] ?? "quiet";
  const language = distinct(rows, "language").map((name) => (name === MEAN ? "over all languages" : `in ${name}`)).join(", ");
  return [dataTable({ caption: `Candidate minus baseline ${language}, in points`, rows, columns: [
    columnOf(table, "metric", { cell: (row) => words.metric[row.metric] ?? plain(row.metric) }),
    columnOf(table, "difference"),
    columnOf(table, "verdict", { cell: (row) => badge(kind(row.verdict), plain(row.verdict)) }),
    { name: "interval", label: "95 % interval", title: table.head("low").title, value: (row) => row.difference, kind: "rail-cell", head: axis([-widest, widest]),
      cell: (row) => [el("span", { class: "quiet" }, isAbsent(row.low) ? "–" : `${signed(row.low)} to ${signed(row.high)}`),
        whisker({ value: row.difference, low: row.low, high: row.high }, [-widest, widest], signed)] },
    ...columnsOf(table, ["baseline_value", "candidate_value", "p_value"]),
    columnOf(table, "scenario_count", { isRoomy: true })] }),
  note("Paired over the scenarios that both have; intervals and p are corrected for all metrics and languages of the pair. Better or worse: the interval leaves out 0.")];
}

// The scenarios that both models have, with what each scores there.
function sharedScenarios(first, second, profile) {
  const language = languageHere();
  const others = new Map(second.files(profile, language).map((row) => [keyOf(row.language, row.scenario), row]));
  return first.files(profile, language).flatMap((row) => {
    const other = others.get(keyOf(row.language, row.scenario));
    if (!other || row.scenario_score === null || other.scenario_score === null) return [];
    const part = (name) => (row[name] === null || other[name] === null ? null : other[name] - row[name]);
    return [{ language: row.language, scenario: row.scenario, before: row.scenario_score, after: other.scenario_score, difference: part("scenario_score"),
      decision_accuracy: part("decision_accuracy"), file_call_f1: part("file_call_f1"), plan_similarity: part("plan_similarity") }];
  });
}

function scenarioPairs(rows, table, baseline, candidate) {
  const side = (name, self) => ({ name, label: modelName(self), kind: "number", value: (row) => row[name], cell: (row) => a(address(scenarioPath(self, row.language, row.scenario)), score(row[name])) });
  const part = (name) => columnOf(table, name, { cell: (row) => pointed(row[name], "signed") });
  return dataTable({ caption: "Scenarios by the size of their difference, in points", rows, sort: "difference", isFalling: true, isFiltered: true, columns: [
    columnOf(table, "scenario", { value: (row) => `${row.language} ${row.scenario}`,
      cell: (row) => a(address(["answers", row.language, row.scenario, ...pathOf(baseline), ...pathOf(candidate)]), data(`${row.language} ${row.scenario}`)) }),
    side("before", baseline), side("after", candidate),
    { name: "difference", label: "Difference", kind: "number", value: (row) => Math.abs(row.difference), cell: (row) =>
      badge(row.difference > 0 ? "good" : row.difference < 0 ? "bad" : "quiet", signed(row.difference)) },
    ...["decision_accuracy", "file_call_f1", "plan_similarity"].map(part)] });
}

// One scenario of two models, step by step: each outcome leads to its answer.
async function answersView([, language, scenario, model, experiment, otherModel, otherExperiment]) {
  const pair = [{ model, experiment }, { model: otherModel, experiment: otherExperiment }];
  const found = await Promise.all(pair.map((self) => shardOf(here.core, self.model, self.experiment)));
  if (found.includes(null)) return missing("no such pair of models");
  const profile = profileHere();
  const rows = found.map((shard) => shard.dialogue(profile, { language, scenario }));
  const runs = distinct(rows.flat(), "run").sort(inOrder);
  return [
    trail([["Leaderboard", []], ["Compare", ["compare", model, experiment, otherModel, otherExperiment]]], `${language} ${scenario}`),
    el("h1", null, "Scenario ", data(scenario), " of two models"),
    runs.map((run) => stepMatrix({ label: run, caption: data(run), heads: pair.map((self) => data(modelName(self))), rows: rows.flat(),
      cells: (step) => pair.map((self, place) => outcomeCell(self, rows[place], step, run)) })),
  ];
}
