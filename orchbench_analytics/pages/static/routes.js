// Routes: from the address to the view; navigation, search and keys around it.

const SECTIONS = [
  ["leaderboard", "Leaderboard", leaderboardView], ["differences", "Differences", differencesView],
  ["decisions", "Decisions", decisionsView], ["tools", "Tools", toolsView], ["plans", "Plans", plansView],
  ["consistency", "Consistency", consistencyView], ["cost", "Cost", costView], ["rules", "Rules", rulesView],
  ["scenarios", "Scenarios", scenariosView], ["compare", "Compare", compareView],
];

// What is made from answers, which result files do not have; of a model, all but its own page.
const NEEDS_ANSWERS = new Set(["decisions", "tools", "plans", "consistency", "cost", "rules", "answers", "argument"]);

const WITHOUT_ANSWERS = "This profile has what an evaluator's result files say of each scenario. Steps, tools, plans and arguments need the "
  + "answers themselves: ingest the runs (<scenario>_out.json), make the report anew, and choose another profile.";

const hasAnswers = () => !here.core.profiles_without_answers.includes(profileHere());

const withoutAnswers = () => [el("h1", null, "No answers here"), note(WITHOUT_ANSWERS)];

function viewOf(path) {
  const [first] = path;
  const needsAnswers = NEEDS_ANSWERS.has(first) || (first === "model" && path.length > 3);
  if (needsAnswers && !hasAnswers()) return withoutAnswers;
  if (first === "model" && path.length >= 3) {
    if (path[3] === "scenario") return path[8] === "step" ? stepView : scenarioView;
    return ["steps", "plans"].includes(path[3]) ? rowsView : modelView;
  }
  if (first === "scenario") return oneScenarioView;
  if (first === "answers") return answersView;
  if (first === "argument" && path.length >= 2) return argumentView;
  return SECTIONS.find(([name]) => name === (first ?? "leaderboard"))?.[2]
    ?? (() => missing("no such view"));
}

const main = el("main", { id: "main", tabindex: -1 });
let showing = 0;

async function show() {
  readAddress(location.hash);
  const number = ++showing;
  drawHeader();
  main.setAttribute("aria-busy", "true");
  let content;
  try {
    content = await viewOf(here.path)(here.path);
  } catch (error) {
    content = [el("h1", null, "This cannot be shown"), note(String(error.message ?? error))];
    console.error(error);
  }
  if (number !== showing) return; // another address was chosen meanwhile
  main.replaceChildren();
  fill(main, [content]);
  main.removeAttribute("aria-busy");
  main.dataset.address = location.hash;
  const title = main.querySelector("h1")?.textContent ?? "";
  document.title = title === here.core.title ? title : `${title} – ${here.core.title}`;
  scrollTo(0, 0);
}

const header = el("header", { class: "top" });

function drawHeader() {
  const current = here.path[0] ?? "leaderboard";
  header.replaceChildren();
  fill(header, [
    el("a", { class: "skip", href: "#main", click: (event) => { event.preventDefault(); main.focus(); } }, "Skip to the content"),
    el("div", { class: "bar-top" }, el("a", { class: "brand", href: address([]) }, here.core.title),
      finder(), here.core.profiles.length > 1 ? select("Profile", here.core.profiles.map((name) => [name]), profileHere(), choose("profile"))
        : el("span", { class: "quiet" }, "Profile ", data(profileHere()))),
    el("nav", { class: "sections", "aria-label": "Sections" }, SECTIONS.map(([name, words]) =>
      el("a", { href: address(name === "leaderboard" ? [] : [name]), "aria-current": current === name ? "page" : null }, words))),
  ]);
}

// A box that finds models and scenarios by name.
function finder() {
  const results = el("ul", { class: "found", hidden: true });
  const input = el("input", { type: "search", id: "finder", placeholder: "Find a model or scenario  ( / )", "aria-label": "Find a model or scenario",
    input: () => find(input.value, results),
    keydown: (event) => {
      if (event.key === "Enter") results.querySelector("a")?.click();
      if (event.key === "Escape") { input.value = ""; results.hidden = true; input.blur(); }
      if (event.key === "ArrowDown") { event.preventDefault(); results.querySelector("a")?.focus(); }
    } });
  return el("div", { class: "finder" }, input, results);
}

async function find(words, results) {
  const wanted = words.trim().toLowerCase();
  const { difficulties } = await piece("scenarios");
  const scenarios = [...difficulties.index("language", "scenario").keys()].map((key) => JSON.parse(key));
  const found = wanted === "" ? [] : [
    ...here.core.models.rows().filter((row) => `${row.model} ${row.experiment}`.toLowerCase().includes(wanted))
      .map((row) => [modelPath(row), `${row.model} · ${row.experiment}`]),
    ...scenarios.filter((key) => key.join(" ").toLowerCase().includes(wanted))
      .map(([language, scenario]) => [["scenario", language, scenario], `Scenario ${language} ${scenario}`]),
  ].slice(0, 12);
  results.replaceChildren(...found.map(([path, name]) => el("li", null, a(address(path), data(name)))));
  results.hidden = !found.length;
}

// Keys: / finds, ← and → go to the steps beside, u goes up.
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, pre, .wide, .canvas")) return;
  if (event.key === "/") {
    event.preventDefault();
    document.querySelector("#finder").focus();
  } else if (event.key === "ArrowLeft") document.querySelector('a[rel="prev"]')?.click();
  else if (event.key === "ArrowRight") document.querySelector('a[rel="next"]')?.click();
  else if (event.key === "u") [...document.querySelectorAll(".trail a")].at(-1)?.click();
}

async function start() {
  here.core = await piece("core");
  const foot = el("footer", null, "Made by orchbench-analytics ", here.core.version, " · works offline · keys: / find, ← → steps, u up");
  document.querySelector("#page").append(header, main, foot);
  addEventListener("hashchange", show);
  addEventListener("keydown", onKey);
  await show();
}

start();
