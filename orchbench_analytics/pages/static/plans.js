// Plans: what is wrong with them, and how that grows with their size.

async function plansView() {
  const { kinds, sizes } = await piece("plans");
  const rows = rowsHere(kinds);
  const words = distinct(rows, "kind").sort();
  const sizeRows = rowsHere(sizes);
  const lengths = distinct(sizeRows, "label_workflow_count").sort((x, y) => x - y);
  return [
    el("h1", null, "Plans: kinds of error, and size"),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter models")),
    el("h2", null, "What is wrong"), note("The cost of edits for each plan that was read. A figure leads to the plans that have such an edit."),
    filtered(heatTable({ caption: "Cost of edits for each plan", corner: "Model", heads: words.map(plain), rows: byModel(rows).map((own) => ({
      head: modelLink(own[0]), cells: words.map((kind) => {
        const found = own.filter((row) => row.kind === kind);
        const plans = sum(oneOfLanguage(own), "read_plan_count");
        const rate = found.length ? divided(sum(found, "edit_cost"), plans) : null;
        return rate === null ? null : { text: short(rate, 3), level: rate / 0.6, kind: "wrong", title: `${count(sum(found, "edit_count"))} edits in ${count(plans)} plans`,
          href: address([...modelPath(own[0]), "plans"], { kind }) };
      }) })) })),
    el("h2", null, "By the size of the label"), note("Mean similarity of plans, failed ones being 0, by the number of workflows the label has."),
    heatTable({ caption: "Plan similarity by workflows", corner: "Model", heads: lengths.map(String), rows: byModel(sizeRows).map((own) => ({
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
