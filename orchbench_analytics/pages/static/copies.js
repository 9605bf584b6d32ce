// Tables as texts to copy: CSV with values as they are, Markdown and LaTeX as they are shown. All pure.
// A table is {caption, heads: [{label, isNumber}], rows: [[text]]}.

const quotedCell = (value) => {
  const text = isAbsent(value) ? "" : String(value);
  // A spreadsheet would run a text that begins like a formula.
  const defused = typeof value === "string" && words.formula_starts.includes(text[0]) ? `'${text}` : text;
  return /[",\n\r]/.test(defused) ? `"${defused.replaceAll('"', '""')}"` : defused;
};
const csvOf = ({ heads, rows }) => [heads.map(({ label }) => label), ...rows].map((row) => `${row.map(quotedCell).join(",")}\n`).join("");

// A text as one line in which no letter acts.
const inert = (text, format) => [...text.replace(/\s+/g, " ").trim()].map((letter) => words.escapes[format][letter] ?? letter).join("");
const inMarkdown = (text) => inert(text, "markdown");
const inLatex = (text) => inert(text, "latex");

function markdownOf({ caption, heads, rows }) {
  const lines = [heads.map(({ label }) => inMarkdown(label)), heads.map(({ isNumber }) => (isNumber ? "--:" : "---")), ...rows.map((row) => row.map(inMarkdown))];
  return `${inMarkdown(caption)}\n\n${lines.map((line) => `| ${line.join(" | ")} |\n`).join("")}`;
}

function latexOf({ caption, heads, rows }) {
  const line = (cells) => `${cells.map(inLatex).join(" & ")} \\\\\n`;
  return `% \\usepackage{booktabs}\n\\begin{table}\n\\centering\n\\caption{${inLatex(caption)}}\n\\begin{tabular}{${heads.map(({ isNumber }) => (isNumber ? "r" : "l")).join("")}}\n`
    + `\\toprule\n${line(heads.map(({ label }) => label))}\\midrule\n${rows.map(line).join("")}\\bottomrule\n\\end{tabular}\n\\end{table}\n`;
}

// A word of a command that people copy: a shell must not run what a model's name says.
const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);
