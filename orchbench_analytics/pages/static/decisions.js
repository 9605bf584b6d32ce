// Decisions: what labels ask for, what models did, and why answers failed.

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
    filtered(heatTable({ caption: "Error patterns by model", corner: "Model", heads: kinds.map(plain), rows: byModel(rows).map((own) => ({
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
  const found = byModel(rows).map((own) => ({ ...own[0],
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
    rows: byModel(rows).map((own) => ({ head: modelLink(own[0]), cells: kinds.map((kind) => {
      const found = sum(own.filter((row) => row.unit === kind.unit && row.failure_reason === kind.failure_reason), "failure_count");
      return found ? { text: count(found), level: found / most, kind: "wrong", href: href(own[0], kind) } : null;
    }) })) });
}
