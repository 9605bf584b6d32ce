// Tools and arguments: which are called and given wrongly, and by which models.

async function toolsView() {
  const { tools, arguments: keys } = await piece("tools");
  const rows = rowsHere(tools);
  const names = grouped(rows, ["tool"]).map(toolTotals).filter((row) => row.labelled_step_count)
    .sort((x, y) => (x.recall ?? 2) - (y.recall ?? 2));
  const shownModels = byModel(rows).slice(0, MOST_COLUMNS);
  return [
    el("h1", null, "Tools and arguments: who fails where"),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter rows")),
    note("Recall: of the steps that wanted the tool, how many called it. The tools that go wrong most stand first; a figure leads to the steps."),
    filtered(heatTable({ caption: "Recall by tool and model", corner: "Tool", heads: ["all", ...shownModels.map((own) => modelLink(own[0]))],
      rows: names.map((tool) => ({ head: data(tool.tool), cells: [heatShare(tool.recall), ...shownModels.map((own) => {
        const found = own.filter((row) => row.tool === tool.tool);
        const total = found.length ? toolTotals(found) : {};
        return total.labelled_step_count ? heatShare(total.recall, address([...modelPath(own[0]), "steps"], { tool: tool.tool })) : null;
      })] })) })),
    el("h2", null, "Arguments that go wrong, over all models"), argumentBoard(rowsHere(keys)),
  ];
}

const heatShare = (share, href) => (isAbsent(share) ? null
  : { text: percent(share), level: 1 - share, kind: "wrong", href });

function argumentBoard(rows) {
  const found = grouped(rows, ["label_tools", "argument_key"]).map((own) => {
    const wrong = sum(own, "value_false_negative_count");
    const right = sum(own, "value_true_positive_count");
    return { ...own[0], argument_count: sum(own, "argument_count"), wrong, extra: sum(own, "key_false_positive_count"), missed: sum(own, "key_false_negative_count"), rate: divided(right, right + wrong) };
  });
  return dataTable({ caption: "Arguments", isCaptionRead: true, rows: found, sort: "wrong", isFalling: true, columns: [
    { name: "argument_key", label: "Argument", value: (row) => row.argument_key,
      cell: (row) => a(address(["argument", row.argument_key, ...(row.label_tools ? [row.label_tools] : [])]), data(row.argument_key)) },
    { name: "label_tools", label: "Tool", value: (row) => row.label_tools && listed(row.label_tools) },
    numberColumn("argument_count", "Asked", count), numberColumn("missed", "Key missed", count), numberColumn("extra", "Key too many", count),
    numberColumn("wrong", "Values missed", count), numberColumn("rate", "Value recall", percent)] });
}

// An argument by model: counted from the rows themselves, where there are not too many models.
const MOST_COUNTED_MODELS = 40;
async function argumentView([, key, tools = null]) {
  const profile = profileHere();
  const everyone = here.core.models.rows();
  const rows = await Promise.all(everyone.slice(0, MOST_COUNTED_MODELS).map(async (self) => {
    const shard = await shardOf(here.core, self.model, self.experiment);
    return { ...self, ...argumentTotals(shard, profile, key, tools) };
  }));
  const stepsOf = (row, extra) => address([...modelPath(row), "steps"], { key, label_tools: tools, ...extra });
  return [
    trail([["Tools", ["tools"]]], key),
    el("h1", null, "Argument ", data(key), tools && el("span", { class: "quiet" }, " of ", data(listed(tools)))),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter models")),
    everyone.length > MOST_COUNTED_MODELS && note(`The first ${MOST_COUNTED_MODELS} of ${count(everyone.length)} models.`),
    filtered(dataTable({ caption: "By model", isCaptionRead: true, rows: rows.filter((row) => row.step_count), sort: "wrong", isFalling: true, columns: [
      { name: "model", label: "Model", value: (row) => modelName(row), cell: (row) => a(stepsOf(row), data(modelName(row))) },
      numberColumn("step_count", "Steps", count), numberColumn("wrong", "Values missed", count, { cell: (row) => a(stepsOf(row, { key_is: "wrong" }), count(row.wrong)) }),
      numberColumn("extra", "Values too many", count), numberColumn("rate", "Value recall", percent)] })),
  ];
}

function argumentTotals(shard, profile, key, tools) {
  const found = Array.from({ length: shard.steps.count }, (_, number) => shard.step(number, profile))
    .filter((row) => (!languageHere() || row.language === languageHere()) && row.label_tools === tools)
    .flatMap((row) => shard.argumentsOf(row, profile).filter((item) => item.argument_key === key));
  const [right, wrong] = [sum(found, "true_positive_count"), sum(found, "false_negative_count")];
  return { step_count: found.length, wrong, extra: sum(found, "false_positive_count"), rate: divided(right, right + wrong) };
}
