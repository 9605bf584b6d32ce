// Words and figures: what shownModels call things, and how numbers are written.

const METRIC_WORDS = {
  average_score: "Average",
  call_rejection_f1: "Call/Reject",
  function_call_f1: "FC",
  workflow_similarity: "Plan",
  reject_f1: "Reject F1",
  reject_precision: "Reject precision",
  reject_recall: "Reject recall",
  call_f1: "Call F1",
  call_precision: "Call precision",
  call_recall: "Call recall",
  name_f1: "Name F1",
  key_f1: "Key F1",
  value_f1: "Value F1",
  structure_similarity: "Structure",
  component_similarity: "Component",
};
const HEADLINE = ["average_score", "call_rejection_f1", "function_call_f1", "workflow_similarity"];
const PROFILE_WORDS = {
  spec: "the benchmark's document, read so that copying every label scores 1 and silence 0",
  strict: "spec with its two loopholes closed: refusing a call, and failing a rejection, cost",
  upstream: "what the public evaluator prints, to compare with published figures",
};
const READ_WORDS = {
  missing: "there is no answer to this step",
  empty: "the answer is empty",
  too_large: "the answer is too large to be a plan",
  too_deep: "the answer nests too deeply to be a plan",
  no_workflow: "no workflow could be read from the answer",
  bad_value: "a value in the answer cannot be built",
  not_text: "the content of the answer is not a text",
  text: "the answer is prose: neither a call nor a rejection",
  malformed: "the answer looks like a call, and none can be read from it",
};
const READ_WAYS = {
  json_block: "a fenced JSON block",
  flat_object: "a flat JSON object in the text",
  braces: "a JSON object found by its braces",
  json: "the whole text as JSON",
  yaml_block: "a fenced YAML block",
  yaml: "the whole text as YAML",
  reindented: "YAML after its lines were indented anew",
  second_look: "a JSON object found by looking once more",
};

const plain = (name) => (name ?? "").replaceAll("_", " ");
const metricWord = (name) => METRIC_WORDS[name] ?? plain(name);
const score = (value) => (isAbsent(value) ? "–" : value.toFixed(4));
const short = (value, digits = 2) =>
  isAbsent(value) ? "–" : value.toFixed(digits);
const signed = (value) =>
  isAbsent(value) ? "–" : `${value > 0 ? "+" : ""}${value.toFixed(4)}`.replace("-", "−");
const percent = (value) =>
  isAbsent(value) ? "–" : `${(100 * value).toFixed(1)} %`;
const count = (value) => (isAbsent(value) ? "–" : value.toLocaleString("en"));
const divided = (above, below) => (below ? above / below : null);
const many = (number, one, more = `${one}s`) => `${count(number)} ${number === 1 ? one : more}`;
const inOrder = new Intl.Collator("en", { numeric: true }).compare;
const sum = (rows, name) => rows.reduce((total, row) => total + (row[name] ?? 0), 0);

function grouped(rows, keys) {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(...keys.map((name) => row[name]));
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return [...groups.values()];
}
const distinct = (rows, name) => [...new Set(rows.map((row) => row[name]))];
