// Consistency: how steady models are from run to run.

async function consistencyView() {
  const tables = await piece("consistency");
  const rows = tables.flips ? rowsHere(tables.flips) : [];
  const passes = tables.pass_rates ? rowsHere(tables.pass_rates) : [];
  const noise = tables.run_noise ? rowsHere(tables.run_noise, { metric: "average_score" }) : [];
  return [
    el("h1", null, "Consistency over runs"),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter rows")),
    el("h2", null, "Decisions that change from run to run"),
    filtered(dataTable({ caption: "Flips", isCaptionRead: true, rows, sort: "flip_rate", isFalling: true, columns: [
      MODEL_COLUMN,
      textColumn("language", "Language"), numberColumn("step_count", "Steps", count),
      numberColumn("unstable_step_count", "Unstable", count, { title: "Steps that were decided differently in different runs",
        cell: (row) => a(address([...modelPath(row), "steps"], { unstable: "yes", language: row.language }), count(row.unstable_step_count)) }),
      numberColumn("unstable_step_rate", "Unstable share", percent), numberColumn("flip_rate", "Flip rate", percent, { title: "Pairs of runs that decide differently" })] })),
    el("h2", null, "Right in all of k runs, or in any"), note("Of the steps, by decision (call or reject) and by the whole answer (its call too)."),
    filtered(passTable(passes)),
    noise.length ? [el("h2", null, "How much the average moves between runs"), dataTable({ caption: "Run noise", isCaptionRead: true, rows: noise, sort: "run_standard_deviation", isFalling: true, columns: [
      MODEL_COLUMN, textColumn("language", "Language"),
      numberColumn("run_count", "Runs", count), numberColumn("mean_value", "Mean"), numberColumn("run_standard_deviation", "Standard deviation")] })] : null,
  ];
}

// A row for each model, language and criterion; all runs and any run beside each other for each k.
function passTable(rows) {
  const depths = distinct(rows, "k").sort((x, y) => x - y);
  const found = grouped(rows, ["model", "experiment", "language", "criterion"]).map((own) => Object.assign({ ...own[0] },
    ...own.map((row) => ({ [`all-${row.k}`]: row.pass_all_rate, [`any-${row.k}`]: row.pass_any_rate }))));
  const column = (kind, k) => numberColumn(`${kind}-${k}`, k === 1 ? "One run" : `${kind === "all" ? "All" : "Any"} of ${k}`, percent);
  return dataTable({ caption: "Pass rates", isCaptionRead: true, rows: found, sort: `all-${depths.at(-1)}`, isFalling: true, columns: [
    MODEL_COLUMN, textColumn("language", "Language"),
    { name: "criterion", label: "Criterion", value: (row) => plain(row.criterion) },
    ...depths.map((k) => column("all", k)), ...depths.filter((k) => k > 1).map((k) => column("any", k))] });
}
