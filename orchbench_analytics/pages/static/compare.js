// Two models beside each other: difference, interval, verdict, and the scenarios that carry it.

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
  const choices = el("div", { class: "choices" },
    select("Baseline", options, chosen(baseline), (key) => to(named(key) ?? models[0], candidate)),
    select("Candidate", options, chosen(candidate), (key) => to(baseline ?? models[0], named(key))),
    baseline && candidate && el("button", { type: "button", click: () => to(candidate, baseline) }, "Swap"));
  const title = [el("h1", null, "Compare two models"), choices];
  if (!baseline || !candidate) return [...title, note("Choose two models to see how far apart they are, and where.")];
  const profile = profileHere();
  const [comparisons, first, second] = await Promise.all([piece("comparisons"),
    shardOf(core, baseline.model, baseline.experiment), shardOf(core, candidate.model, candidate.experiment)]);
  const shared = sharedScenarios(first, second, profile);
  const pairs = pairRows(comparisons.pairs, profile, baseline, candidate);
  return [...title,
    el("h2", null, "How far apart"), pairs.length ? verdictTable(pairs) : estimateTable(shared, baseline, candidate),
    el("h2", null, "The scenarios that carry it"),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter scenarios")),
    filtered(scenarioPairs(shared, baseline, candidate)),
  ];
}

const pathOf = (row) => (row ? [row.model, row.experiment] : []);
const findModel = (models, model, experiment) =>
  models.find((row) => row.model === model && row.experiment === experiment) ?? null;

// The rows of a pair, turned round where the table has it the other way.
function pairRows(pairs, profile, baseline, candidate) {
  const sought = (first, second) => (pairs ?? EMPTY_TABLE).rows({ profile,
    baseline_model: first.model, baseline_experiment: first.experiment,
    candidate_model: second.model, candidate_experiment: second.experiment });
  const turned = (row) => ({ ...row, baseline_value: row.candidate_value, candidate_value: row.baseline_value,
    difference: negative(row.difference), low: negative(row.high), high: negative(row.low),
    verdict: { better: "worse", worse: "better" }[row.verdict] ?? row.verdict });
  return [...sought(baseline, candidate), ...sought(candidate, baseline).map(turned)];
}
const negative = (value) => (isAbsent(value) ? value : -value);

// Of many models not all pairs are in the report: the mean of the scenarios' differences, with a
// paired t interval, is worked out here.
function estimateTable(rows, baseline, candidate) {
  if (rows.length < 2) return note("They have too few scenarios in common to compare them.");
  const mean = (name) => sum(rows, name) / rows.length;
  const difference = mean("difference");
  const error = Math.sqrt(rows.reduce((total, row) => total + (row.difference - difference) ** 2, 0) / (rows.length - 1) / rows.length);
  const half = studentQuantile(rows.length - 1) * error;
  const [low, high] = [difference - half, difference + half];
  const verdict = low > 0 ? "better" : high < 0 ? "worse" : "no difference shown";
  return [verdictTable([{ metric: "mean scenario score", baseline_value: mean("before"), candidate_value: mean("after"), difference, low, high,
    p_value: null, verdict, scenario_count: rows.length }])[0],
  note("This report has too many models to hold all pairs. The interval is of this pair alone, not corrected for others; the headline metrics come from: ",
    el("code", null, `orchbench compare DIR ${baseline.model}/${baseline.experiment} ${candidate.model}/${candidate.experiment}`))];
}

// The 97.5 % quantile of Student's t, by the first terms of its expansion.
function studentQuantile(degrees) {
  const z = 1.959964;
  return z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2)
    + (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degrees ** 3);
}

function verdictTable(rows) {
  const widest = Math.max(...rows.flatMap((row) => [Math.abs(row.low ?? 0), Math.abs(row.high ?? 0)]), 0.01);
  const kind = (verdict) => ({ better: "good", worse: "bad" })[verdict] ?? "quiet";
  return [dataTable({ caption: "Candidate minus baseline", rows, columns: [
    { name: "metric", label: "Metric", value: (row) => row.metric, cell: (row) => metricWord(row.metric) },
    numberColumn("difference", "Difference", signed),
    { name: "verdict", label: "Verdict", value: (row) => row.verdict, cell: (row) => badge(kind(row.verdict), plain(row.verdict)) },
    { name: "interval", label: "95 % interval", value: (row) => row.difference,
      cell: (row) => [el("span", { class: "quiet" }, `${signed(row.low)} to ${signed(row.high)}`), differenceLine(row, widest)] },
    numberColumn("baseline_value", "Baseline"), numberColumn("candidate_value", "Candidate"),
    rows.some((row) => row.p_value !== null) && numberColumn("p_value", "p", (value) => short(value, 4), { title: "Corrected for the number of pairs" }),
    numberColumn("scenario_count", "Scenarios", count, { isRoomy: true })].filter(Boolean) }),
  note("Paired over the scenarios that both have. A verdict is given where the corrected p allows it.")];
}

function differenceLine({ difference, low, high }, widest) {
  const width = 160;
  const x = (value) => width / 2 + (value / widest) * (width / 2 - 6);
  const words = `${signed(difference)}, 95 % interval ${signed(low)} to ${signed(high)}`;
  return svg("svg", { class: "whisker", viewBox: `0 0 ${width} 18`, role: "img", "aria-label": words }, svg("title", null, words),
    svg("line", { class: "rail", x1: 0, x2: width, y1: 9, y2: 9 }),
    svg("line", { class: "zero", x1: width / 2, x2: width / 2, y1: 1, y2: 17 }),
    svg("rect", { class: "span", x: x(low ?? difference), width: Math.max(2, x(high ?? difference) - x(low ?? difference)), y: 6, height: 6, rx: 3 }),
    svg("circle", { class: "point", cx: x(difference), cy: 9, r: 4 }));
}

// The scenarios that both models have, with what each scores there.
function sharedScenarios(first, second, profile) {
  const language = languageHere();
  const others = new Map(second.files(profile, language).map((row) => [keyOf(row.language, row.scenario), row]));
  return first.files(profile, language).flatMap((row) => {
    const other = others.get(keyOf(row.language, row.scenario));
    if (!other || row.scenario_score === null || other.scenario_score === null) return [];
    const part = (name) => (row[name] === null || other[name] === null ? null : other[name] - row[name]);
    return [{ language: row.language, scenario: row.scenario, before: row.scenario_score, after: other.scenario_score,
      difference: other.scenario_score - row.scenario_score, size: Math.abs(other.scenario_score - row.scenario_score),
      decisions: part("decision_accuracy"), calls: part("file_call_f1"), plans: part("plan_similarity") }];
  });
}

function scenarioPairs(rows, baseline, candidate) {
  const to = (self, row, value) => a(address(scenarioPath(self, row.language, row.scenario)), score(value));
  return dataTable({ caption: "Scenarios by the size of their difference", rows, sort: "size", isFalling: true, columns: [
    { name: "scenario", label: "Scenario", value: (row) => `${row.language} ${row.scenario}`,
      cell: (row) => a(address(["answers", row.language, row.scenario, ...pathOf(baseline), ...pathOf(candidate)]), data(`${row.language} ${row.scenario}`)) },
    numberColumn("before", "Baseline", score, { cell: (row) => to(baseline, row, row.before) }),
    numberColumn("after", "Candidate", score, { cell: (row) => to(candidate, row, row.after) }),
    { name: "size", label: "Difference", kind: "number", value: (row) => row.size, cell: (row) =>
      badge(row.difference > 0 ? "good" : row.difference < 0 ? "bad" : "quiet", signed(row.difference)) },
    numberColumn("decisions", "Decisions", signed), numberColumn("calls", "FC", signed), numberColumn("plans", "Plan", signed)] });
}

// One scenario of two models, step by step: each outcome leads to its answer.
async function answersView([, language, scenario, model, experiment, otherModel, otherExperiment]) {
  const sides = [{ model, experiment }, { model: otherModel, experiment: otherExperiment }];
  const found = await Promise.all(sides.map((self) => shardOf(here.core, self.model, self.experiment)));
  if (found.includes(null)) return missing("no such pair of models");
  const profile = profileHere();
  const rows = found.map((shard) => shard.dialogue(profile, { language, scenario }));
  const runs = distinct(rows.flat(), "run").sort(inOrder);
  return [
    trail([["Leaderboard", []], ["Compare", ["compare", model, experiment, otherModel, otherExperiment]]], `${language} ${scenario}`),
    el("h1", null, "Scenario ", data(scenario), " of two models"),
    runs.map((run) => stepMatrix({ label: run, caption: data(run), heads: sides.map((self) => data(modelName(self))), rows: rows.flat(),
      cells: (step) => sides.map((self, place) => outcomeCell(self, rows[place], step, run)) })),
  ];
}
