// A step: what was asked, where label and answer differ, how the answer was read, what it counted.

async function stepView(path) {
  const [, model, experiment, , language, scenario, , run, , step] = path;
  const self = { model, experiment };
  const profile = profileHere();
  const [shard, labels] = await Promise.all([shardOf(here.core, model, experiment), piece("labels")]);
  const dialogue = shard?.dialogue(profile, { language, scenario, run }) ?? [];
  const rows = dialogue.filter((row) => row.step_id === step);
  if (!rows.length) return missing(`no step ${step} in ${run} of scenario ${scenario} (${language})`);
  const scenarioAddress = scenarioPath(self, language, scenario);
  const section = { plan: planSection, step: callSection };
  return [
    trail([["Leaderboard", []], [modelName(self), modelPath(self)], [`${language} ${scenario}`, scenarioAddress],
      [run, [...scenarioAddress, "run", run]]], `step ${step}`),
    el("h1", null, rows[0].unit === "plan" ? "Plan at step " : "Step ", data(step), " ",
      el("span", { class: "quiet" }, data(run))),
    neighbours(self, dialogue, step),
    question(labels, rows[0]),
    rows.map((row) => section[row.unit](row, shard, labels, profile)),
    runsBeside(self, shard, rows[0], profile),
  ];
}

const question = (labels, row) => [el("h2", null, "Asked"), isAbsent(row.question)
  ? note("Not known: the user said nothing before this step, or the input file is gone or has changed.")
  : block(labels[row.question], { class: "text asked-text", "aria-label": "What the user said" })];

function neighbours(self, dialogue, step) {
  const steps = distinct(dialogue, "step_id");
  const place = steps.indexOf(step);
  const to = (other, said, rel) => other === undefined ? null
    : el("a", { rel, href: address(stepPath(self, { ...dialogue[0], step_id: other })) }, said, " ", data(other));
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
  if (isAbsent(text) || text.trim() === "") return null;
  if (here.core.answer_limit === 0) return note("The texts of answers were left out of this report.");
  return [block(text, { "aria-label": "Answer" }), cutNote(text, length)];
}
const cutNote = (text, length) => !isAbsent(length) && note(`Cut after ${count(text.length)} of ${count(length)} characters.`);

function sides(left, right) {
  return el("div", { class: "sides" },
    el("section", { class: "side" }, el("h3", null, "Label"), left),
    el("section", { class: "side" }, el("h3", null, "Answer"), right));
}

function callSection(row, shard, labels, profile) {
  const label = labelText(labels, row.label_calls);
  const hasCalls = (text) => !isAbsent(text) && text !== "[]";
  const counted = shard.argumentsOf(row, profile);
  const compared = row.call_source === "content" ? writtenDifferences(row, counted, labels)
    : hasCalls(label) || hasCalls(row.answer_calls) ? callDifferences(label, row.answer_calls) : [];
  return [
    el("p", { class: "verdict" }, outcomeBadge(row), " ", row.agent_id && ["agent ", data(row.agent_id)],
      row.answer_number > 1 && ` · answer ${row.answer_number} to this step`),
    el("h2", null, "Label and answer"),
    compared === null ? sides(callList(label), [callList(row.answer_calls), cutNote(row.answer_calls, row.answer_calls_length)])
      : compared.length > 0 && differenceTable(compared, counted),
    (!hasCalls(label) || row.answer_position === null || row.answer_content?.trim() || row.answer_agent_id !== row.label_agent_id) && sides(
      hasCalls(label) ? note("A call is wanted, as above.") : [note("A rejection is wanted: ", DECISION_WORDS(row.actual)), block(labelText(labels, row.label_content) ?? "", { "aria-label": "Label" })],
      [row.answer_position === null ? note(wordFor("reading", "missing")) : null,
        answerBlock(row, "answer_content") ?? (row.answer_position !== null && note(hasCalls(row.answer_calls) ? "No text beside the call." : "No text.")),
        row.answer_agent_id && row.answer_agent_id !== row.label_agent_id && note("Answered by ", data(row.answer_agent_id))]),
    el("h2", null, "How it was read"), readingOf(row),
    row.is_call_scored ? [el("h2", null, "What it counted"), countsTable(row)] : null,
    judgeTable(row, shard),
  ];
}

// A call that was written as text has no document of its own: its tools, and its values as compared.
function writtenDifferences(row, counted, labels) {
  const beside = (key, label, answer) => ({ key, label, answer, isSame: label === answer });
  return [beside(null, row.actual === "call" ? listed(row.label_tools) : null, listed(row.answer_tools)),
    ...counted.map((item) => {
      const label = listed(labelText(labels, item.label_values));
      return beside(item.argument_key, label, item.is_same ? label : listed(item.answer_values));
    })];
}

// Label and answer argument by argument; what differs is marked, and what counted stands beside it.
function differenceTable(rows, counted) {
  const counts = new Map(counted.map((item) => [item.argument_key, item]));
  const side = (text, isSame) => el("td", { class: isSame ? null : isAbsent(text) ? "absent" : "differs", dir: "auto" }, isAbsent(text) ? "–" : el(isSame ? "span" : "mark", null, text));
  const verdict = (row) => {
    const item = row.key === null ? null : counts.get(row.key);
    if (!item) return el("td", null, row.isSame ? badge("good", "same") : badge("bad", row.label === null ? "too many" : row.answer === null ? "missing" : "differs"));
    const wrong = item.false_positive_count + item.false_negative_count;
    return el("td", null, badge(wrong ? (item.true_positive_count ? "partly" : "bad") : "good",
      `${item.true_positive_count} right, ${item.false_positive_count} wrong, ${item.false_negative_count} missed`),
    el("span", { class: "quiet" }, ` ${plain(item.decided_by)}${item.is_pattern_unchecked ? "; its pattern took too long to try" : ""}`));
  };
  return region("Label and answer", el("table", { class: "differences" }, el("thead", null, el("tr", null,
    ["Argument", "Label", "Answer", "Counts"].map((head) => el("th", { scope: "col" }, head)))),
  el("tbody", null, rows.map((row) => el("tr", { class: row.key === null ? "call" : null },
    el("th", { scope: "row" }, row.key === null ? "Tool" : data(row.key)), side(row.label, row.isSame), side(row.answer, row.isSame), verdict(row))))));
}

function readingOf(row) {
  return factList([["Wanted", DECISION_WORDS(row.actual)], ["Read as", DECISION_WORDS(row.predicted)],
    row.failure_reason && ["Why it failed", wordFor("reading", row.failure_reason)],
    row.call_source && ["Call found in", wordFor("call_source", row.call_source)],
    row.is_malformed && ["Defect", "a nameless call, or arguments that are not an object"],
    !row.is_scored && ["Left out", plain(row.left_out_reason)]]);
}

const factList = (facts) => el("dl", { class: "facts" }, facts.filter(Boolean).map(([name, value]) =>
  el("div", null, el("dt", null, name), el("dd", null, value))));

// Calls as name and arguments, key by key; whatever is of another shape is shown as it is.
function callList(text) {
  const calls = callsOf(text);
  if (calls === null) return block(text, { "aria-label": "Calls" });
  if (!calls.length) return note("no calls");
  return calls.map(({ name, values }) => el("div", { class: "call" }, el("p", { class: "call-name" }, data(name)),
    el("table", { class: "values" }, el("tbody", null, Object.entries(values).map(([key, value]) => el("tr", null,
      el("th", { scope: "row" }, data(key)), el("td", { dir: "auto" }, asText(value))))))));
}

function countsTable(row) {
  const parts = [["Names", "name"], ["Keys", "key"], ["Values", "value"]];
  return region("Counts", el("table", { class: "counts" }, el("thead", null, el("tr", null,
    ["", "Matched", "Only in the answer", "Only in the label", "F1"].map((head) => el("th", { scope: "col", class: head ? "number" : "text" }, head || el("span", { class: "visually-hidden" }, "Part"))))),
  el("tbody", null, parts.map(([said, part]) => el("tr", null, el("th", { scope: "row" }, said),
    ["true_positive", "false_positive", "false_negative"].map((kind) => el("td", { class: "number" }, count(row[`${part}_${kind}_count`]))),
    el("td", { class: "number" }, score(row[`${part}_f1`])))))));
}

function listed(text) {
  const found = isAbsent(text) ? undefined : parsed(text);
  return Array.isArray(found) ? found.map(asText).join(" · ") : text;
}

function judgeTable(row, shard) {
  const rows = shard.judgementsOf(row);
  if (!rows.length) return null;
  const table = shard.judgements;
  return [el("h2", null, "What the judge said"), dataTable({ caption: "Verdicts", isCaptionRead: true, rows, columns: [
    columnOf(table, "argument_key"),
    columnOf(table, "label_values", { value: (item) => listed(item.label_values) }),
    columnOf(table, "answer_values", { value: (item) => listed(item.answer_values) }),
    { name: "verdict", label: "Verdict", value: (item) => item.true_positive_count, cell: (item) => item.is_usable
      ? `${item.true_positive_count ?? 0} right, ${item.false_positive_count ?? 0} wrong, ${item.false_negative_count ?? 0} missed`
      : badge("quiet", `unusable: ${plain(item.unusable_reason)}`) },
    columnOf(table, "is_asked")] })];
}

function planSection(row, shard, labels, profile) {
  const drawn = shard.pictureOf(row, profile);
  return [
    el("p", { class: "verdict" }, outcomeBadge(row), row.answer_number > 1 && ` · answer ${row.answer_number} to this step`),
    factList([["Read as", wordFor("reading", row.read_as)],
      row.is_malformed && ["Defect", "parts of the plan have another shape than a plan's"],
      ...["structure", "component"].map((graph) => !isAbsent(row[`${graph}_similarity`]) && [words.metric[`${graph}_similarity`],
        [score(row[`${graph}_similarity`]), ` (distance ${fixed(row[`${graph}_distance`], 1)})`]]),
      !row.is_scored && ["Left out", plain(row.left_out_reason)],
      row.is_scored && !row.is_ged_exact && ["Distance", "bounded, not exact: the plans are too large"]]),
    drawn ? [el("h2", null, "Both plans in one picture"), planPictures(drawn, row.structure_distance, row.component_distance)]
      : row.is_scored && note("There is no picture: ", wordFor("reading", row.read_as), "."),
    el("h2", null, "As they were written"),
    writtenPlans(labelText(labels, row.label_content), row),
  ];
}

// Both texts; lines that the other lacks are marked.
function writtenPlans(label, row) {
  const answer = row.answer_content;
  const compared = isAbsent(label) || isAbsent(answer) || here.core.answer_limit === 0 ? null : lineDifferences(label, answer);
  if (!compared) return sides(block(label ?? "no label", { "aria-label": "Label" }), answerBlock(row, "answer_content") ?? note(wordFor("reading", "missing")));
  const lines = (side, name) => el("pre", { class: "text", dir: "auto", tabindex: 0, role: "group", "aria-label": name },
    side.map(({ text, isSame }, place) => [place ? "\n" : "", isSame ? text : el("mark", null, text || " ")]));
  return sides(lines(compared[0], "Label"), [lines(compared[1], "Answer"), cutNote(answer, row.answer_content_length)]);
}
