// The leaderboard, and what other views share with it: languages, metrics, the order of models.

const ALL = "";

function languageChoice() {
  const languages = [...new Set(here.core.model_scores.columns.language.words)].sort(inOrder);
  return select("Language", [[ALL, "all"], ...languages.map((name) => [name])], languageHere() ?? ALL,
    choose("language"));
}

// A row for each model: scores over all languages, or in one.
function boardRows(profile, language) {
  const { core } = here;
  const scores = language ? core.model_scores.rows({ profile, language }) : core.leaderboard.rows({ profile });
  const ranks = core.ranks.index("profile", "model", "experiment");
  const spans = new Map(core.intervals.rows({ profile, metric: "average_score", language: language || "mean" })
    .map((span) => [keyOf(span.model, span.experiment), span]));
  const found = scores.map((row) => {
    const place = ranks.get(keyOf(profile, row.model, row.experiment))?.[0];
    const rank = place === undefined || language ? {} : core.ranks.row(place);
    const span = spans.get(keyOf(row.model, row.experiment)) ?? {};
    return { ...rank, ...row, low: rank.low ?? span.low, high: rank.high ?? span.high };
  });
  if (language) rankRows(found);
  return found;
}

// Ranks in one language, of the models that lack none of its scenarios and gave an answer at all; those over all are the view's.
function rankRows(rows) {
  const most = Math.max(...rows.map((row) => row.file_count ?? 0));
  const isRanked = (row) => row.average_score !== null && row.file_count === most && row.is_unanswered !== 1;
  const ordered = rows.filter(isRanked);
  for (const row of rows) {
    row.rank_number = isRanked(row) ? 1 + ordered.filter((other) => other.average_score > row.average_score).length : null;
  }
}

function tagChoices() {
  const names = Object.keys(here.core.tags.columns).filter((name) => !["model", "experiment"].includes(name));
  return names.map((name) => {
    const values = distinct(here.core.tags.rows(), name).filter((value) => value !== null).map(String).sort(inOrder);
    return select(plain(name), [[ALL, "all"], ...values.map((value) => [value])],
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
  const [profile, language] = [profileHere(), languageHere()];
  const experiments = distinct(core.models.rows(), "experiment").sort(inOrder);
  const experiment = params.get("experiment");
  const everyone = boardRows(profile, language);
  const rows = everyone.filter((row) => (!experiment || row.experiment === experiment) && isTagged(row));
  const sorted = [...rows].sort((x, y) => (y.average_score ?? -1) - (x.average_score ?? -1));
  return [
    el("h1", null, "Leaderboard"),
    el("p", { class: "lead" }, many(core.models.count, "model"), ", scored under ",
      el("strong", null, profile), PROFILE_WORDS[profile] ? `: ${PROFILE_WORDS[profile]}.` : "."),
    el("div", { class: "choices" }, languageChoice(),
      experiments.length > 1 && select("Experiment", [[ALL, "all"], ...experiments.map((name) => [name])],
        experiment ?? ALL, choose("experiment")),
      tagChoices(), filterBox("Filter models")),
    filtered(dataTable({ caption: "Leaderboard", isCaptionRead: true, columns: boardColumns(sorted, language), rows: sorted,
      sort: "rank_number", isFalling: false })),
    note("The line shows the average with its 95 % interval over scenarios; beside a rank stands the interval of the rank. ",
      "Models of one tier are not told apart by these scenarios. A model that lacks scenarios of the sweep, or that answered nothing in a language, has no rank."),
  ];
}

function boardColumns(rows, language) {
  const domain = domainOf(rows);
  const has = (name) => rows.some((row) => !isAbsent(row[name]));
  return [
    { name: "rank_number", label: "Rank", kind: "number", value: (row) => row.rank_number, cell: rankCell },
    { name: "model", label: "Model", value: (row) => row.model, cell: modelCell },
    { name: "experiment", label: "Experiment", isRoomy: true, value: (row) => row.experiment },
    !language && has("tier_number") && numberColumn("tier_number", "Tier", (value) => `${value ?? "–"}`,
      { title: "Models of one tier are not told apart by these scenarios" }),
    metricColumn("average_score"),
    { name: "interval", label: "95 % interval", value: (row) => row.average_score,
      cell: (row) => whisker({ value: row.average_score, low: row.low, high: row.high }, domain) },
    ...HEADLINE.slice(1).map(metricColumn),
    rows.some(isDead) && { name: "rank_status", label: "Answers", value: (row) => isDead(row), cell: (row) => isDead(row) ? badge("bad", "none: dead endpoint") : "" },
    !language && numberColumn("coverage", "Coverage", percent, { cell: coverageCell,
      title: "The share of the sweep's scenarios that the model has" }),
    numberColumn("file_count", "Files", count, { isRoomy: !language,
      cell: (row) => [count(row.file_count), row.refused_file_count > 0 && badge("bad", ` ${count(row.refused_file_count)} refused`)],
      title: "Scenario files that were read" }),
  ].filter(Boolean);
}

// A model that answered nothing: over all languages in one of them, else in the one shown.
const isDead = (row) => row.rank_status === "no_answers" || row.is_unanswered === 1;

const coverageCell = (row) => (row.coverage < 1
  ? el("span", { class: "badge partly", title: row.unranked_reason }, percent(row.coverage)) : percent(row.coverage));

// A metric that leads to the steps or plans it is made of.
const metricColumn = (name) => numberColumn(name, metricWord(name), score, { title: metricTitle(name),
  cell: (row) => row[name] === null ? "–" : el("a", { class: "plain", href: rowsBehind(row, name) }, score(row[name])) });
const metricTitle = (name) => here.core.metrics.find((metric) => metric.name === name)?.description;

function rowsBehind(row, metric) {
  if (metric === "average_score") return address(modelPath(row));
  if (/workflow|structure|component|plan/.test(metric)) return address([...modelPath(row), "plans"]);
  const isOfCalls = /^(function_call|name|key|value)_/.test(metric);
  return address([...modelPath(row), "steps"], isOfCalls ? { actual: "call" } : {});
}

const modelCell = (row) => el("span", { class: "model" }, a(address(modelPath(row)), data(row.model)),
  el("span", { class: "tight quiet" }, data(row.experiment)));

function rankCell(row) {
  const [low, high] = [row.rank_low, row.rank_high];
  const span = isAbsent(low) || low === high ? null : `${low}–${high}`;
  return [el("span", { class: "rank", title: row.unranked_reason }, row.rank_number ?? "–"),
    span && el("span", { class: "quiet" }, ` ${span}`)];
}

const metricHead = (name) => el("abbr", { title: metricTitle(name) }, metricWord(name));

const MOST_COLUMNS = 24; // models beside each other in a matrix
// The rows of each model, the best first.
function byModel(rows) {
  const board = here.core.leaderboard.index("profile", "model", "experiment");
  const average = ([row]) => here.core.leaderboard.value("average_score", board.get(keyOf(profileHere(), row.model, row.experiment))?.[0]) ?? -1;
  return grouped(rows, ["model", "experiment"]).map((own) => [average(own), own]).sort(([x], [y]) => y - x).map(([, own]) => own);
}
