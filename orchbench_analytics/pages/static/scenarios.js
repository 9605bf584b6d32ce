// Scenarios: hard, dead and suspicious ones; and one scenario by all models.

const KINDS = {
  hard: { words: "Hard", is: (row) => row.mean_scenario_score < 0.5 },
  dead: { words: "Dead: all models score the same", is: (row) => row.is_dead === 1 },
  suspicious: { words: "Suspicious: every strong model fails", is: (row) => row.is_suspicious === 1 },
  contrary: { words: "Contrary: better models do worse", is: (row) => row.discrimination !== null && row.discrimination < 0 },
};

async function scenariosView() {
  const { difficulties } = await piece("scenarios");
  const all = rowsHere(difficulties);
  const kind = KINDS[here.params.get("kind")];
  const rows = kind ? all.filter(kind.is) : all;
  const flags = (row) => Object.entries(KINDS).filter(([name, found]) => name !== "contrary" && found.is(row))
    .map(([name]) => badge(name === "dead" ? "quiet" : name === "hard" ? "partly" : "bad", name));
  return [
    el("h1", null, "Scenarios: hard, dead, suspicious"),
    el("div", { class: "choices" }, languageChoice(),
      select("Kind", [[ALL, `all (${count(all.length)})`], ...Object.entries(KINDS).map(([name, found]) =>
        [name, `${found.words} (${count(all.filter(found.is).length)})`])], here.params.get("kind") ?? ALL, choose("kind")),
      filterBox("Filter scenarios")),
    filtered(dataTable({ caption: "Scenarios", isCaptionRead: true, rows, sort: "mean_scenario_score", columns: [
      { name: "scenario", label: "Scenario", value: (row) => `${row.language} ${row.scenario}`,
        cell: (row) => a(address(["scenario", row.language, row.scenario]), data(`${row.language} ${row.scenario}`)) },
      barColumn("mean_scenario_score", "Mean score"),
      numberColumn("least_score", "Least"), numberColumn("greatest_score", "Greatest"),
      numberColumn("discrimination", "Discrimination", (value) => short(value, 2), { title: "Correlation with the models' other scenarios: does it tell models apart?" }),
      numberColumn("attempt_count", "Models", count),
      { name: "flags", label: "Marks", value: (row) => flags(row).length, cell: flags }] })),
  ];
}

async function oneScenarioView([, language, scenario]) {
  const { difficulties, scores } = await piece("scenarios");
  const profile = profileHere();
  const [found] = difficulties.rows({ profile, language, scenario });
  if (!found) return missing(`no scenario ${scenario} (${language})`);
  const rows = (scores ?? EMPTY_TABLE).rows({ profile, language, scenario });
  return [
    trail([["Scenarios", ["scenarios"]]], `${language} ${scenario}`),
    el("h1", null, "Scenario ", data(scenario), " ", el("span", { class: "quiet" }, data(language))),
    cards([["Mean score", score(found.mean_scenario_score)], ["Least", score(found.least_score)], ["Greatest", score(found.greatest_score)],
      ["Discrimination", short(found.discrimination)]].map(([words, text]) => [words, figure(text)])),
    rows.length ? dataTable({ caption: "By model", isCaptionRead: true, rows, sort: "scenario_score", isFalling: true, columns: [
      { name: "model", label: "Model", value: (row) => modelName(row), cell: (row) => a(address(scenarioPath(row, language, scenario)), data(modelName(row))) },
      textColumn("experiment", "Experiment"),
      barColumn("scenario_score", "Score")] })
      : note("This report has too many models to show them beside each other; open one from the leaderboard."),
  ];
}
