// The first screen and what stands beside it: the leaderboard, all metrics, and the scoring rules.

function languageChoice() {
  const languages = distinct(here.scores.board.rows(), "language").filter((name) => name !== MEAN).sort(inOrder);
  return languages.length > 1 && select("Language", [[ALL, "all"], ...languages.map((name) => [name])], languageHere() ?? ALL, choose("language"));
}

function tagChoices() {
  const names = Object.keys(here.core.tags.columns).filter((name) => !["model", "experiment"].includes(name));
  return names.map((name) => {
    const values = distinct(here.core.tags.rows(), name).filter((value) => value !== null).map(String).sort(inOrder);
    return select(here.core.tags.head(name).label, [[ALL, "all"], ...values.map((value) => [value])],
      here.params.get(`tag-${name}`) ?? ALL, choose(`tag-${name}`));
  });
}

function isTagged(row) {
  const wanted = [...here.params].filter(([name]) => name.startsWith("tag-"));
  if (!wanted.length) return true;
  const tags = here.core.tags.rows({ model: row.model, experiment: row.experiment })[0] ?? {};
  return wanted.every(([name, value]) => String(tags[name.slice(4)]) === value);
}

function leaderboardView() {
  const { core, params } = here;
  const { board, findings } = here.scores;
  const experiments = distinct(core.models.rows(), "experiment").sort(inOrder);
  const experiment = params.get("experiment");
  const rows = rowsHere(board, {}, MEAN).filter((row) => (!experiment || row.experiment === experiment) && isTagged(row));
  const { others, note: uniform } = saidOnce(board, rows, ["coverage", "file_count"]);
  return [
    el("h1", null, "Leaderboard"),
    whatThisIs(),
    el("ul", { class: "findings" }, findings.map(({ text, path, choices }) => el("li", null, a(address(path, choices), text)))),
    el("div", { class: "choices" }, languageChoice(),
      experiments.length > 1 && select("Experiment", [[ALL, "all"], ...experiments.map((name) => [name])], experiment ?? ALL, choose("experiment")),
      tagChoices(), filterBox("Filter models")),
    dataTable({ caption: "Leaderboard", isCaptionRead: true, isFiltered: true, columns: boardColumns(rows, others), rows,
      sort: "rank_number", rowClass: newTier, tableClass: "board" }),
    uniform,
    note("Scores are in points of 100. The line shows the average with its 95 % interval over scenarios; beside a rank stands the interval of the rank. ",
      "A line between rows separates tiers: models of one tier are not told apart by these scenarios. ",
      "A model that lacks scenarios of the sweep, or that answered nothing in a language, has no rank."),
  ];
}

function whatThisIs() {
  const { core } = here;
  const { scenarios, languages, language_names: names, least_runs: least, most_runs: most, latest } = core.size;
  const runs = most === null ? "" : least === most ? ` × ${many(most, "run")}` : ` × ${least} to ${most} runs`;
  return el("p", { class: "lead" }, many(core.models.count, "model"), " on ", `${many(scenarios, "scenario")}${runs}`, " in ", many(languages, "language"), " (", names, ")",
    latest && `, the latest answered ${latest} UTC`, ", from the warehouse ", el("code", null, core.warehouse), ". Scored under ", el("strong", null, profileHere()), ": ",
    wordFor("profile", profileHere()), ".");
}

// A new tier begins here, where rows stand in the order of ranks.
const newTier = (row, before, sort) => (sort === "rank_number" && before && !isAbsent(before.tier_number) && row.tier_number !== before.tier_number ? "new-tier" : "");

function boardColumns(rows, others) {
  const { board } = here.scores;
  const domain = domainOf(rows);
  const [average, ...parts] = words.headline;
  const experiments = distinct(rows, "experiment").length > 1;
  return [
    columnOf(board, "rank_number", { cell: rankCell }),
    { ...modelColumn(), cell: modelCell, text: (row) => `${row.model} ${row.experiment}` },
    experiments && columnOf(board, "experiment", { isRoomy: true }),
    metricColumn(average),
    { name: "interval", label: "95 % interval", title: board.head(average).title, head: axis(domain), value: (row) => row[average], kind: "rail-cell",
      copied: (row) => (isAbsent(row.low) ? "" : `[${points(row.low)}, ${points(row.high)}]`),
      cell: (row) => whisker({ value: row[average], low: row.low, high: row.high }, domain) },
    ...parts.map(metricColumn),
    rows.some((row) => row.rank_status === "no_answers") && columnOf(board, "rank_status", { label: "Answers", cell: (row) => row.rank_status === "no_answers" ? badge("bad", "none: dead endpoint") : "" }),
    others.includes("coverage") && columnOf(board, "coverage", { cell: coverageCell }),
    (others.includes("file_count") || rows.some((row) => row.refused_file_count)) && columnOf(board, "file_count", { isRoomy: true,
      cell: (row) => [count(row.file_count), row.refused_file_count > 0 && badge("bad", ` ${count(row.refused_file_count)} refused`)] }),
  ].filter(Boolean);
}

const coverageCell = (row) => (row.coverage < 1
  ? el("span", { class: "badge partly", title: row.unranked_reason }, percent(row.coverage)) : percent(row.coverage));

// A metric that leads to the steps or plans it is made of.
const metricColumn = (name) => columnOf(here.scores.board, name, { cell: (row) => row[name] === null ? "–"
  : el("a", { class: "plain", href: rowsBehind(row, name), title: exactly("points", row[name]) }, points(row[name])) });

function rowsBehind(row, metric) {
  const rows = words.rows_behind[metric];
  if (!rows) return address(modelPath(row));
  return rows === "calls" ? address([...modelPath(row), "steps"], { actual: "call" }) : address([...modelPath(row), rows]);
}

const modelCell = (row) => el("span", { class: "model" }, a(address(modelPath(row)), data(row.model)),
  el("span", { class: "tight quiet" }, data(row.experiment)));

function rankCell(row) {
  const [low, high] = [row.rank_low, row.rank_high];
  const span = isAbsent(low) || low === high ? null : `${low}–${high}`;
  return [el("span", { class: "rank", title: row.unranked_reason }, row.rank_number ?? "–"),
    span && el("span", { class: "quiet" }, ` ${span}`)];
}

// All metrics of all models. The stronger the colour, the closer to the best of the column.
function metricsView() {
  const table = here.scores.metrics;
  const rows = rowsHere(table, {}, MEAN);
  const names = Object.keys(words.metric).filter((name) => rows.some((row) => !isAbsent(row[name])));
  return [
    el("h1", null, "All metrics of all models"),
    note("Points of 100; over all languages a figure is the mean of the languages. The stronger the colour, the closer to the best. A figure leads to the rows behind it."),
    el("div", { class: "choices" }, languageChoice(), filterBox("Filter models")),
    heatTable({ caption: "Metrics by model", isCaptionRead: true, isFiltered: true, first: modelColumn(), rows, heads: names.map((name) => metricHead(table, name, rows)) }),
  ];
}

function metricHead(table, name, rows) {
  const known = rows.map((row) => row[name]).filter((value) => !isAbsent(value));
  const [least, greatest] = [Math.min(...known), Math.max(...known)];
  return { name, ...table.head(name), cell: (row) => isAbsent(row[name]) ? null : { text: points(row[name]), value: row[name],
    level: (row[name] - least) / (greatest - least || 1), href: rowsBehind(row, name), title: exactly("points", row[name]) } };
}

// What profiles and single scoring rules do to scores.
async function rulesView() {
  const { core } = here;
  const average = words.headline[0];
  const boards = await Promise.all(core.profiles.map(scoresUnder));
  const rows = grouped(boards.flatMap(({ board }) => board.rows({ language: MEAN })), ["model", "experiment"]).map((own) => Object.assign({ ...own[0] },
    ...own.map((row) => ({ [`score-${row.profile}`]: row[average], [`rank-${row.profile}`]: row.rank_number }))));
  return [
    el("h1", null, "What the scoring rules do"),
    factList(core.profiles.map((name) => [name, wordFor("profile", name)])),
    el("h2", null, "Average and rank under each profile"),
    dataTable({ caption: "Profiles", isCaptionRead: true, rows, sort: `rank-${core.profiles[0]}`, columns: [modelColumn(),
      ...core.profiles.flatMap((profile) => [
        columnOf(here.scores.board, average, { name: `score-${profile}`, label: profile, value: (row) => row[`score-${profile}`],
          cell: (row) => el("a", { class: "plain", href: address(modelPath(row), { profile }) }, score(row[`score-${profile}`])) }),
        columnOf(here.scores.board, "rank_number", { name: `rank-${profile}`, value: (row) => row[`rank-${profile}`], cell: (row) => count(row[`rank-${profile}`]) })])] }),
    el("h2", null, "One rule at a time"), core.has_rules ? ruleTable((await piece("rules")).rules)
      : note("It takes a while, so it is left out unless asked for: ", el("code", null, `orchbench ${core.live ? "view DIR" : "report DIR OUT"} --audit`)),
  ];
}

// Models and rules: by how much each rule moves a metric.
function ruleTable(table) {
  const metric = words.headline.find((name) => name === here.params.get("metric")) ?? words.headline[0];
  const change = `${metric}_change`;
  const rows = table.rows().filter((row) => words.headline.some((name) => row[`${name}_change`]));
  if (!rows.length) return note("No rule changes any score here.");
  const most = Math.max(...rows.map((row) => Math.abs(row[change] ?? 0)), 1e-9);
  const rules = grouped(rows, ["rule"]).map(([row]) => row);
  const cell = (own, rule) => {
    const row = own.find((found) => found.rule === rule);
    if (!row?.[change]) return null;
    return { text: signed(row[change]), value: row[change], level: Math.abs(row[change]) / most, kind: row[change] > 0 ? "good" : "wrong", href: address(modelPath(row), { profile: "upstream" }),
      title: row.rank_change ? `rank ${row.rank_change > 0 ? "+" : "−"}${Math.abs(row.rank_change)}` : "the same rank" };
  };
  return [note("From the public evaluator's rules to ours, one at a time: what each does to each model's score."),
    el("div", { class: "choices" }, select("Metric", words.headline.map((name) => [name, words.metric[name]]), metric, choose("metric")), filterBox("Filter models")),
    heatTable({ caption: "Rules", isCaptionRead: true, isFiltered: true, first: modelColumn(), rows: byModel(rows).map((own) => ({ ...own[0], own })),
      heads: rules.map(({ rule, rule_from: from, rule_to: to }) => ({ name: rule, label: plain(rule), title: `${plain(from)} → ${plain(to)}`, cell: (row) => cell(row.own, rule) })) })];
}

// The rows of each model, in the order of the leaderboard.
function byModel(rows) {
  const places = new Map(here.scores.board.rows({ language: MEAN }).map((row, place) => [keyOf(row.model, row.experiment), place]));
  const place = ([row]) => places.get(keyOf(row.model, row.experiment)) ?? Infinity;
  return grouped(rows, ["model", "experiment"]).sort((x, y) => place(x) - place(y));
}
