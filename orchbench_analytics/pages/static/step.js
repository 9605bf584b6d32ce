// A step: label and answer side by side, how the answer was read, what it counted.

async function stepView(path) {
  const [, model, experiment, , language, scenario, , run, , step] = path;
  const self = { model, experiment };
  const profile = profileHere();
  const [shard, labels] = await Promise.all([shardOf(here.core, model, experiment), piece("labels")]);
  const dialogue = shard?.dialogue(profile, { language, scenario, run }) ?? [];
  const rows = dialogue.filter((row) => row.step_id === step);
  if (!rows.length) return missing(`no step ${step} in ${run} of scenario ${scenario} (${language})`);
  const scenarioAddress = scenarioPath(self, language, scenario);
  return [
    trail([["Leaderboard", []], [modelName(self), modelPath(self)], [`${language} ${scenario}`, scenarioAddress],
      [run, [...scenarioAddress, "run", run]]], `step ${step}`),
    el("h1", null, rows[0].unit === "plan" ? "Plan at step " : "Step ", data(step), " ",
      el("span", { class: "quiet" }, data(run))),
    neighbours(self, dialogue, step),
    rows.map((row) => row.unit === "plan" ? planSection(row, shard, labels, profile) : callSection(row, shard, labels, profile)),
    runsBeside(self, shard, rows[0], profile),
  ];
}

function neighbours(self, dialogue, step) {
  const steps = distinct(dialogue, "step_id");
  const place = steps.indexOf(step);
  const to = (other, words, rel) => other === undefined ? null
    : el("a", { rel, href: address(stepPath(self, { ...dialogue[0], step_id: other })) }, words, " ", data(other));
  return el("p", { class: "neighbours" }, to(steps[place - 1], "← step", "prev"), " ", to(steps[place + 1], "→ step", "next"));
}

// The same step in other runs.
function runsBeside(self, shard, row, profile) {
  const others = shard.dialogue(profile, { language: row.language, scenario: row.scenario })
    .filter((other) => other.step_id === row.step_id && other.run !== row.run);
  if (!others.length) return null;
  return [el("h2", null, "The same step in other runs"), el("ul", { class: "inline" }, others.map((other) =>
    el("li", null, data(other.run), " ", outcomeLink(self, other))))];
}

const labelText = (labels, number) => (isAbsent(number) ? null : labels[number]);

function answerBlock(row, name) {
  const [text, length] = [row[name], row[`${name}_length`]];
  if (isAbsent(text)) return null;
  if (here.core.answer_limit === 0) return note("The texts of answers were left out of this report.");
  return [block(text, { "aria-label": "Answer" }), length !== null && note(`Cut after ${count(text.length)} of ${count(length)} characters.`)];
}

function sides(left, right) {
  return el("div", { class: "sides" },
    el("section", { class: "side" }, el("h3", null, "Label"), left),
    el("section", { class: "side" }, el("h3", null, "Answer"), right));
}

function callSection(row, shard, labels, profile) {
  const { words, kind } = outcome(row);
  const calls = labelText(labels, row.label_calls);
  return [
    el("p", { class: "verdict" }, badge(kind, words), " ", row.agent_id && ["agent ", data(row.agent_id)],
      row.answer_number > 1 && ` · answer ${row.answer_number} to this step`),
    sides(
      [calls !== null ? callList(calls) : note("A rejection was due: ", decisionWord(row.actual)),
        calls === null && block(labelText(labels, row.label_content) ?? "")],
      [row.answer_position === null ? note(READ_WORDS.missing) : null,
        row.answer_calls !== null && row.answer_calls !== "[]" && callList(row.answer_calls),
        answerBlock(row, "answer_content"), row.answer_agent_id && row.answer_agent_id !== row.label_agent_id
          && note("Answered by ", data(row.answer_agent_id))]),
    el("h2", null, "How it was read"), readingOf(row),
    row.is_call_scored ? [el("h2", null, "What it counted"), countsTable(row), argumentTable(row, shard, labels, profile)] : null,
    judgeTable(row, shard),
  ];
}

function readingOf(row) {
  const facts = [["Wanted", decisionWord(row.actual)], ["Read as", decisionWord(row.predicted)],
    row.failure_reason && ["Why it failed", READ_WORDS[row.failure_reason] ?? plain(row.failure_reason)],
    row.call_source && ["Call found in", row.call_source === "content" ? "the text of the answer" : "the tool calls"],
    row.is_malformed && ["Defect", "a nameless call, or arguments that are not an object"],
    !row.is_scored && ["Left out", plain(row.left_out_reason)]];
  return factList(facts);
}

const factList = (facts) => el("dl", { class: "facts" }, facts.filter(Boolean).map(([name, value]) =>
  el("div", null, el("dt", null, name), el("dd", null, value))));

// Calls as name and arguments, key by key; whatever is of another shape is shown as it is.
function callList(text) {
  let calls = null;
  try {
    calls = JSON.parse(text);
  } catch {
    return block(text); // cut at the limit
  }
  if (!Array.isArray(calls)) return block(text);
  if (!calls.length) return note("no calls");
  return calls.map((call) => {
    const { name, arguments: given } = call?.flat ?? call ?? {};
    const values = argumentsOf(given);
    return el("div", { class: "call" }, el("p", { class: "call-name" }, data(typeof name === "string" ? name : JSON.stringify(name) ?? "nameless call")),
      values ? el("table", { class: "values" }, el("tbody", null, Object.entries(values).map(([key, value]) => el("tr", null,
        el("th", { scope: "row" }, data(key)), el("td", { dir: "auto" }, typeof value === "string" ? value : JSON.stringify(value))))))
        : block(typeof given === "string" ? given : JSON.stringify(given) ?? "no arguments"));
  });
}

function argumentsOf(given) {
  let value = given;
  if (typeof given === "string") {
    try {
      value = JSON.parse(given);
    } catch {
      return null; // shown as it was written
    }
  }
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
}

function countsTable(row) {
  const parts = [["Names", "name"], ["Keys", "key"], ["Values", "value"]];
  return region("Counts", el("table", { class: "counts" }, el("thead", null, el("tr", null,
    ["", "Matched", "Only in the answer", "Only in the label", "F1"].map((head) => el("th", { scope: "col", class: head ? "number" : "text" }, head || el("span", { class: "visually-hidden" }, "Part"))))),
  el("tbody", null, parts.map(([words, part]) => el("tr", null, el("th", { scope: "row" }, words),
    ["true_positive", "false_positive", "false_negative"].map((kind) => el("td", { class: "number" }, count(row[`${part}_${kind}_count`]))),
    el("td", { class: "number" }, score(row[`${part}_f1`])))))));
}

function argumentTable(row, shard, labels, profile) {
  const rows = shard.argumentsOf(row, profile);
  if (!rows.length) return null;
  const values = (text) => (isAbsent(text) ? "–" : el("span", { dir: "auto" }, listed(text)));
  return dataTable({ caption: "Arguments", isCaptionRead: true, rows, columns: [
    textColumn("argument_key", "Key"),
    { name: "label_values", label: "Label", value: (item) => labelText(labels, item.label_values), cell: (item) => values(labelText(labels, item.label_values)) },
    { name: "answer_values", label: "Answer", value: (item) => item.answer_values,
      cell: (item) => item.is_same ? values(labelText(labels, item.label_values)) : values(item.answer_values) },
    { name: "decided_by", label: "Decided by", value: (item) => item.decided_by, cell: (item) =>
      item.is_pattern_unchecked ? `${item.decided_by}; its pattern took too long to try` : item.decided_by },
    { name: "result", label: "Counts", value: (item) => item.false_positive_count + item.false_negative_count, cell: (item) =>
      badge(item.false_positive_count + item.false_negative_count ? (item.true_positive_count ? "partly" : "bad") : "good",
        `${item.true_positive_count} right, ${item.false_positive_count} wrong, ${item.false_negative_count} missed`) }] });
}

function listed(text) {
  try {
    return JSON.parse(text).join(" · ");
  } catch {
    return text;
  }
}

function judgeTable(row, shard) {
  const rows = shard.judgementsOf(row);
  if (!rows.length) return null;
  return [el("h2", null, "What the judge said"), dataTable({ caption: "Verdicts", isCaptionRead: true, rows, columns: [
    textColumn("argument_key", "Key"),
    { name: "label_values", label: "Label", value: (item) => item.label_values && listed(item.label_values) },
    { name: "answer_values", label: "Answer", value: (item) => item.answer_values && listed(item.answer_values) },
    { name: "verdict", label: "Verdict", value: (item) => item.true_positive_count, cell: (item) => item.is_usable
      ? `${item.true_positive_count ?? 0} right, ${item.false_positive_count ?? 0} wrong, ${item.false_negative_count ?? 0} missed`
      : badge("quiet", `unusable: ${plain(item.unusable_reason)}`) },
    { name: "is_asked", label: "Asked", value: (item) => (item.is_asked ? "yes" : "no") }] })];
}

function planSection(row, shard, labels, profile) {
  const { words, kind } = outcome(row);
  const drawn = shard.pictureOf(row, profile);
  return [
    el("p", { class: "verdict" }, badge(kind, words), row.answer_number > 1 && ` · answer ${row.answer_number} to this step`),
    factList([["Read as", row.is_failed || row.read_as in READ_WORDS ? READ_WORDS[row.read_as] ?? plain(row.read_as) : READ_WAYS[row.read_as] ?? plain(row.read_as)],
      row.is_malformed && ["Defect", "parts of the plan have another shape than a plan's"],
      row.structure_similarity !== null && ["Structure", `${score(row.structure_similarity)} (distance ${short(row.structure_distance, 1)})`],
      row.component_similarity !== null && ["Component", `${score(row.component_similarity)} (distance ${short(row.component_distance, 1)})`],
      !row.is_scored && ["Left out", plain(row.left_out_reason)],
      row.is_scored && !row.is_ged_exact && ["Distance", "bounded, not exact: the plans are too large"]]),
    drawn ? [el("h2", null, "Both plans in one picture"), planPictures(drawn, row.structure_distance, row.component_distance)]
      : row.is_scored && note("There is no picture: ", READ_WORDS[row.read_as] ?? plain(row.read_as), "."),
    el("h2", null, "As they were written"),
    sides(block(labelText(labels, row.label_content) ?? "no label"),
      answerBlock(row, "answer_content") ?? note(READ_WORDS.missing)),
  ];
}
