// Rules: what profiles and single scoring rules do to scores.

async function rulesView() {
  const { core } = here;
  const [first] = core.profiles;
  const rows = grouped(core.leaderboard.rows(), ["model", "experiment"]).map((own) => Object.assign({ ...own[0] },
    ...own.map((row) => ({ [`score-${row.profile}`]: row.average_score, [`rank-${row.profile}`]: row.rank_number }))));
  return [
    el("h1", null, "What the scoring rules do"),
    el("dl", { class: "facts" }, core.profiles.map((name) => el("div", null, el("dt", null, name), el("dd", null, PROFILE_WORDS[name] ?? "rules of your own")))),
    el("h2", null, "Average and rank under each profile"),
    dataTable({ caption: "Profiles", isCaptionRead: true, rows, sort: `rank-${first}`, columns: [
      MODEL_COLUMN,
      ...core.profiles.flatMap((profile) => [numberColumn(`score-${profile}`, profile, score, { cell: (row) => el("a", { class: "plain", href: address(modelPath(row), { profile }) }, score(row[`score-${profile}`])) }), numberColumn(`rank-${profile}`, "rank", (value) => `${value ?? "–"}`)])] }),
    el("h2", null, "One rule at a time"), core.has_rules ? ruleTable((await piece("rules")).rules)
      : note("This report was made without it; make it with: ", el("code", null, "orchbench report DIR OUT --audit")),
  ];
}

// A matrix of rules and models: by how much each rule moves a metric.
function ruleTable(table) {
  const metric = HEADLINE.find((name) => name === here.params.get("metric")) ?? HEADLINE[0];
  const change = `${metric}_change`;
  const rows = table.rows().filter((row) => HEADLINE.some((name) => row[`${name}_change`]));
  if (!rows.length) return note("No rule changes any score here.");
  const shownModels = byModel(rows).slice(0, MOST_COLUMNS);
  const most = Math.max(...rows.map((row) => Math.abs(row[change] ?? 0)), 1e-9);
  const cell = (rule, own) => {
    const row = own.find((found) => found.rule === rule);
    if (!row?.[change]) return null;
    return { text: signed(row[change]), level: Math.abs(row[change]) / most, kind: row[change] > 0 ? "good" : "wrong",
      href: address(modelPath(row), { profile: "upstream" }),
      title: row.rank_change ? `rank ${row.rank_change > 0 ? "+" : "−"}${Math.abs(row.rank_change)}` : "the same rank" };
  };
  return [note("From the public evaluator's rules to ours, one at a time: what each does to each model's score."),
    el("div", { class: "choices" }, select("Metric", HEADLINE.map((name) => [name, metricWord(name)]), metric, choose("metric"))),
    heatTable({ caption: "Rules", isCaptionRead: true, corner: "Rule", heads: shownModels.map((own) => modelLink(own[0])),
      rows: grouped(rows, ["rule"]).map(([row]) => ({ head: [plain(row.rule), el("span", { class: "change quiet" }, `${plain(row.rule_from)} → ${plain(row.rule_to)}`)],
        cells: shownModels.map((own) => cell(row.rule, own)) })) })];
}
