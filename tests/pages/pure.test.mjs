// The page's pure functions, without a browser: figures, scales and differences.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const folder = new URL("../../orchbench_analytics/pages/static/", import.meta.url);
const source = ["figures.js", "differences.js", "copies.js"].map((name) => readFileSync(new URL(name, folder), "utf8")).join("\n");
// Some of the escapes that the page is given.
const escapes = { markdown: { _: "\\_", "|": "\\|", "&": "&amp;", "<": "&lt;", ">": "&gt;" },
  latex: { "&": "\\&", _: "\\_", "|": "\\textbar{}", "<": "\\textless{}", ">": "\\textgreater{}", '"': '{"}', "−": "$-$", "–": "--" } };
const words = { escapes, formula_starts: [..."=+-@\t\r"] };
const page = new Function("words", `${source}
return { points, signed, percent, fixed, exactly, written, many, cut, distinct, grouped, sortedRows, domainOf,
  roundTicks, scale, callsOf, callDifferences, lineDifferences, csvOf, markdownOf, latexOf, shellWord, completed };`)(words);

test("scores are points with one decimal, and four digits on hover", () => {
  assert.equal(page.points(0.98463), "98.5");
  assert.equal(page.exactly("points", 0.98463), "0.9846");
  assert.equal(page.exactly("count", 3), null);
  assert.equal(page.signed(-0.0141), "−1.4");
  assert.equal(page.signed(0.0141), "+1.4");
  assert.equal(page.percent(0.5), "50.0 %");
  for (const show of ["points", "signed", "percent", "count", "p", "decimal"]) assert.equal(page.written(show, null), "–");
});

test("counts have their word", () => {
  assert.equal(page.many(1, "row"), "1 row");
  assert.equal(page.many(5593, "row"), "5,593 rows");
});

test("rows sort by number or by name, with what is absent last", () => {
  const rows = [{ x: null }, { x: 10 }, { x: 9 }];
  const by = (isFalling) => page.sortedRows(rows, { value: (row) => row.x, isFalling }).map((row) => row.x);
  assert.deepEqual(by(false), [9, 10, null]);
  assert.deepEqual(by(true), [10, 9, null]);
  const names = [{ x: "run 10" }, { x: "run 9" }];
  assert.deepEqual(page.sortedRows(names, { value: (row) => row.x, isFalling: false }).map((row) => row.x), ["run 9", "run 10"]);
});

test("a silent model does not stretch the axis", () => {
  const rows = [1, 0.98, 0.97, 0.9, 0.82, 0.73, 0].map((average_score) => ({ average_score, low: average_score - 0.02, high: average_score }));
  const [low, high] = page.domainOf(rows);
  assert.ok(low > 0.6 && high === 1);
});

test("a spread of models keeps the whole axis", () => {
  const rows = [0.9, 0.7, 0.5, 0.3, 0.1].map((average_score) => ({ average_score }));
  assert.deepEqual(page.domainOf(rows), [0.1, 0.9]);
  assert.deepEqual(page.domainOf([]), [0, 1]);
});

test("one model, or equal models, have an axis too", () => {
  const [low, high] = page.domainOf([{ average_score: 1 }, { average_score: 1 }]);
  assert.ok(low < high);
  assert.ok(page.roundTicks(low, high).length > 0);
});

test("ticks are round and within the axis", () => {
  assert.deepEqual(page.roundTicks(0.66, 1, 4), [0.7, 0.8, 0.9, 1]);
});

test("calls pair up by name, and arguments by key", () => {
  const label = JSON.stringify([{ name: "find", arguments: { city: "Seoul", days: 2 } }]);
  const answer = JSON.stringify([{ name: "find", arguments: '{"city": "Busan", "more": true}' }]);
  assert.deepEqual(page.callDifferences(label, answer).map(({ key, label: one, answer: other, isSame }) => [key, one, other, isSame]), [
    [null, "find", "find", true],
    ["city", "Seoul", "Busan", false],
    ["days", "2", null, false],
    ["more", null, "true", false],
  ]);
});

test("a missing and a surplus call stand side by side", () => {
  const call = (name) => JSON.stringify([{ name, arguments: {} }]);
  assert.deepEqual(page.callDifferences(call("a"), call("b")).map((row) => [row.label, row.answer]), [["a", "b"]]);
  assert.deepEqual(page.callDifferences(call("a"), null).map((row) => [row.label, row.answer]), [["a", null]]);
});

test("texts of another shape are not compared", () => {
  assert.equal(page.callsOf("{"), null);
  assert.equal(page.callDifferences("[]", '{"name": 1}'), null);
  assert.equal(page.callsOf('[{"name": "a", "arguments": {"__proto__": 1}}, null]').length, 2);
});

test("lines that the other side lacks are marked", () => {
  const [left, right] = page.lineDifferences("a\nb\nc", "a\nx\nc ");
  assert.deepEqual(left.map((line) => line.isSame), [true, false, true]);
  assert.deepEqual(right.map((line) => line.isSame), [true, false, true]);
  assert.equal(page.lineDifferences("\n".repeat(2000), ""), null);
});

test("a table is copied as CSV, Markdown and LaTeX, and no text acts", () => {
  const table = { caption: "A & B", heads: [{ label: "Model", isNumber: false }, { label: "Average", isNumber: true }],
    rows: [["a_b|c", "98.5"], ["=1+1", "−1.4"], ['x "y", <z>', "–"]] };
  assert.equal(page.csvOf({ ...table, rows: [["=1+1", -0.5], ['x "y",', null]] }), `Model,Average\n'=1+1,-0.5\n"x ""y"",",\n`);
  assert.equal(page.markdownOf(table), "A &amp; B\n\n| Model | Average |\n| --- | --: |\n| a\\_b\\|c | 98.5 |\n| =1+1 | −1.4 |\n| x \"y\", &lt;z&gt; | – |\n");
  const latex = page.latexOf(table);
  assert.ok(latex.includes("\\caption{A \\& B}") && latex.includes("\\begin{tabular}{lr}"));
  assert.ok(latex.includes("a\\_b\\textbar{}c & 98.5 \\\\\n=1+1 & $-$1.4 \\\\\nx {\"}y{\"}, \\textless{}z\\textgreater{} & -- \\\\"));
});

test("a model's name is one word of a command", () => {
  assert.equal(page.shellWord("org/model-1.5"), "org/model-1.5");
  assert.equal(page.shellWord("$(x) it's"), `'$(x) it'"'"'s'`);
});

test("a word of a query goes on to names, those of its own tables first", () => {
  const columns = [{ relation: "steps", column: "model" }, { relation: "plans", column: "mode" }];
  assert.deepEqual(page.completed("mod", "select mod from main.plans", ["steps", "plans"], columns), ["mode", "model"]);
  assert.deepEqual(page.completed("main.st", "from main.st", ["steps", "plans"], columns), ["main.steps"]);
  assert.deepEqual(page.completed("m", "m", ["steps"], columns), []);
});
