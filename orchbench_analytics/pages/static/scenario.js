// A model's scenario: all steps by all runs; its runs; and the steps of a model by what they have.

async function scenarioView([, model, experiment, , language, scenario, ...rest]) {
  const self = { model, experiment };
  const profile = profileHere();
  const shard = await shardOf(here.core, model, experiment);
  const run = rest[0] === "run" ? rest[1] : null;
  const rows = shard?.dialogue(profile, { language, scenario, run }) ?? [];
  if (!rows.length) return missing(`no scenario ${scenario} (${language}) of ${model}`);
  const file = shard.files(profile, language).find((found) => found.scenario === scenario) ?? {};
  const path = scenarioPath(self, language, scenario);
  return [
    trail([["Leaderboard", []], [modelName(self), modelPath(self)],
      ...(run ? [[`${language} ${scenario}`, path]] : [])], run ?? `${language} ${scenario}`),
    el("h1", null, run ? [data(run), " of scenario "] : "Scenario ", data(scenario), " ",
      el("span", { class: "quiet" }, data(language))),
    !run && cards([["Score", "scenario_score"], ["Decisions", "decision_accuracy"],
      ["FC", "file_call_f1"], ["Plan", "plan_similarity"]].map(([words, name]) => [words, figure(score(file[name]))])),
    el("p", null, a(address(["scenario", language, scenario]), "The same scenario by all models")),
    run ? runTable(self, rows) : runMatrix(self, rows),
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

const outcomeLink = (self, row) => {
  const { words, kind } = outcome(row);
  return el("a", { class: `badge ${kind}`, href: address(stepPath(self, row)) }, words);
};

function wantedWords(row) {
  if (row.unit === "plan") return row.label_content === null ? "plan without a label" : `plan of ${many(row.label_workflow_count ?? 0, "workflow")}`;
  const tools = row.label_tools ? JSON.parse(row.label_tools) : [];
  const wanted = tools.length ? tools.map((tool, place) => [place ? ", " : "", data(tool)]) : decisionWord(row.actual);
  return [row.agent_id && el("span", { class: "quiet" }, data(row.agent_id), ": "), wanted];
}

function givenWords(row) {
  if (row.unit === "plan") return row.is_failed ? "no plan" : `plan of ${many(row.answer_workflow_count ?? 0, "workflow")}`;
  const tools = row.answer_tools ? JSON.parse(row.answer_tools) : [];
  return tools.length && row.predicted === "call" ? tools.map((tool, place) => [place ? ", " : "", data(tool)]) : decisionWord(row.predicted);
}

function runTable(self, rows) {
  return dataTable({ caption: "Steps of the run", isCaptionRead: true, rows, columns: [
    { name: "step_id", label: "Step", value: (row) => row.step_id,
      cell: (row) => a(address(stepPath(self, row)), data(row.step_id)) },
    textColumn("unit", "Unit"),
    { name: "wanted", label: "Wanted", value: (row) => row.actual ?? row.unit, cell: wantedWords },
    { name: "given", label: "Given", value: (row) => row.predicted ?? row.read_as, cell: givenWords },
    { name: "outcome", label: "Outcome", value: (row) => outcome(row).value, cell: (row) => outcomeLink(self, row) }] });
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
    filtered(dataTable({ caption: plain(unit), isCaptionRead: true, rows, sort: "outcome", columns: [
      { name: "scenario", label: "Scenario", value: (row) => `${row.language} ${row.scenario}`,
        cell: (row) => a(address(stepPath(self, row)), data(`${row.language} ${row.scenario}`)) },
      textColumn("run", "Run"),
      textColumn("step_id", "Step"),
      { name: "wanted", label: "Wanted", value: (row) => row.actual ?? row.label_workflow_count, cell: wantedWords },
      { name: "given", label: "Given", value: (row) => row.predicted ?? row.answer_workflow_count, cell: givenWords },
      { name: "outcome", label: "Outcome", value: (row) => outcome(row).value, cell: (row) => outcomeLink(self, row) }] })),
  ];
}

const searchAnswers = () => el("label", { class: "choice" }, el("span", null, "Find in answers"),
  el("input", { type: "search", value: here.params.get("text") ?? "", placeholder: "…",
    change: (event) => choose("text")(event.target.value) }));

const isRejection = (decision) => decision !== "call" && decision !== "failed";
const PATTERNS = {
  overaction: (row) => isRejection(row.actual) && row.predicted === "call",
  underaction: (row) => row.actual === "call" && isRejection(row.predicted),
  failed_call: (row) => row.actual === "call" && row.predicted === "failed",
  failed_rejection: (row) => isRejection(row.actual) && row.predicted === "failed",
  type_mismatch: (row) => row.is_type_mismatch === 1,
};

function has(row, wanted, shard, profile) {
  return Object.entries(wanted).every(([name, value]) => {
    if (name === "text") return `${row.answer_content ?? ""}${row.answer_calls ?? ""}`.toLowerCase().includes(value.toLowerCase());
    if (name === "pattern") return row.is_scored && (PATTERNS[value]?.(row) ?? false);
    if (name === "tool") return row.is_scored && (row.label_tools ?? "").includes(JSON.stringify(value));
    if (name === "key") return shard.argumentsOf(row, profile).some((found) => found.argument_key === value
      && (wanted.key_is !== "wrong" || found.false_negative_count > 0));
    if (name === "key_is") return true; // asked together with the key
    if (name === "unstable") return row.is_scored && shard.isUnstable(row, profile);
    if (name === "kind") return (shard.pictureOf(row, profile)?.edits ?? []).some((edit) => edit[EDIT_KIND] === value);
    if (name === "size") return row.is_scored && String(row.label_workflow_count) === value;
    if (["actual", "predicted", "failure_reason", "read_as"].includes(name)) return row.is_scored && row[name] === value;
    return String(row[name]) === value;
  });
}
