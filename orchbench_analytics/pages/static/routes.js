// Routes: from the address to the view; navigation, search and keys around it.

// The tabs, and the views of each.
const TABS = [
  ["Leaderboard", [["leaderboard", "Ranks", leaderboardView], ["differences", "All metrics", metricsView], ["rules", "Rules", rulesView]]],
  ["Compare", [["compare", "Compare", compareView]]],
  ["Calls", [["decisions", "Decisions", decisionsView], ["tools", "Tools", toolsView]]],
  ["Plans", [["plans", "Plans", plansView]]],
  ["Runs", [["consistency", "Consistency", consistencyView], ["cost", "Cost", costView]]],
  ["Scenarios", [["scenarios", "Scenarios", scenariosView]]],
];
const VIEWS = new Map(TABS.flatMap(([, views]) => views.map(([name, , view]) => [name, view])));
// The tab of views that no tab names.
const BELONGS = { model: "leaderboard", scenario: "scenarios", answers: "compare", argument: "tools" };

// What is made from answers, which result files do not have; of a model, all but its own page.
const NEEDS_ANSWERS = new Set(["decisions", "tools", "plans", "consistency", "cost", "rules", "answers", "argument"]);

const WITHOUT_ANSWERS = "This profile has what an evaluator's result files say of each scenario. Steps, tools, plans and arguments need the "
  + "answers themselves: ingest the runs (<scenario>_out.json), make the report again, and choose another profile.";

const hasAnswers = () => !here.core.profiles_without_answers.includes(profileHere());

const withoutAnswers = () => [el("h1", null, "No answers here"), note(WITHOUT_ANSWERS)];

// The views of single steps, and of plans.
const needsSteps = ([first, , , part]) => ["answers", "argument"].includes(first) || (first === "model" && part !== undefined);

// A model's name is not put into a command: a shell would run what it says.
const withoutSteps = () => [el("h1", null, "Steps are not in this report"),
  note(`It has every model and scenario, and leaves out ${count(here.core.left_out_step_count)} steps with their plans and answers. To read them:`),
  block(`orchbench view DIR\norchbench report DIR report.html --model MODEL`, { "aria-label": "Commands" })];

function viewOf(path) {
  const [first] = path;
  if (here.core.left_out_step_count && needsSteps(path)) return withoutSteps;
  const needsAnswers = NEEDS_ANSWERS.has(first) || (first === "model" && path.length > 3);
  if (needsAnswers && !hasAnswers()) return withoutAnswers;
  if (first === "model" && path.length >= 3) {
    if (path[3] === "scenario") return path[8] === "step" ? stepView : scenarioView;
    return ["steps", "plans"].includes(path[3]) ? rowsView : modelView;
  }
  if (first === "scenario") return oneScenarioView;
  if (first === "answers") return answersView;
  if (first === "argument" && path.length >= 2) return argumentView;
  return VIEWS.get(first ?? "leaderboard") ?? (() => missing("no such view"));
}

const main = el("main", { id: "main", tabindex: -1 });
const memories = new Map(); // of views, by their place in the browser's history
let showing = 0;

// What the view at this place of the history remembers; a place that is new remembers nothing.
function recall() {
  let key = history.state?.key;
  if (!memories.has(key)) {
    key = `${Date.now()}-${memories.size}`;
    memories.set(key, { filter: "", tables: [], scroll: 0 });
    history.replaceState({ key }, "");
  }
  return memories.get(key);
}

async function show() {
  readAddress(location.hash);
  const number = ++showing;
  drawHeader();
  main.setAttribute("aria-busy", "true");
  const own = recall();
  [memory, tableCount, drawAgain] = [own, 0, []];
  let content;
  try {
    here.scores = await scoresUnder(profileHere());
    content = await viewOf(here.path)(here.path);
  } catch (error) {
    content = [el("h1", null, "This cannot be shown"), note(String(error.message ?? error))];
    console.error(error);
  }
  if (number !== showing) return; // another address was chosen meanwhile
  const isFirst = !main.dataset.address;
  const { scroll } = own;
  main.replaceChildren();
  fill(main, [content]);
  addCopies(main);
  main.removeAttribute("aria-busy");
  const heading_ = main.querySelector("h1");
  const title = heading_?.textContent ?? "";
  document.title = title === here.core.title ? title : `${title} – ${here.core.title}`;
  for (const place of main.querySelectorAll(".wide")) place.restore?.();
  if (!isFirst && heading_) {
    heading_.tabIndex = -1;
    heading_.focus({ preventScroll: true });
  }
  scrollTo(0, scroll);
  main.dataset.address = location.hash;
}

const header = el("header", { class: "top" });

function drawHeader() {
  const first = here.path[0] ?? "leaderboard";
  const current = BELONGS[first] ?? first;
  const [, views] = TABS.find(([, found]) => found.some(([name]) => name === current)) ?? [null, []];
  const to = (name) => address(name === "leaderboard" ? [] : [name]);
  const link = ([name, said]) => el("a", { href: to(name), "aria-current": first === name ? "page" : null }, said);
  header.replaceChildren();
  fill(header, [
    el("a", { class: "skip", href: "#main", click: (event) => { event.preventDefault(); main.focus(); } }, "Skip to the content"),
    el("div", { class: "bar-top" }, el("a", { class: "brand", href: address([]) }, here.core.title),
      finder(), here.core.profiles.length > 1 ? select("Profile", here.core.profiles.map((name) => [name]), profileHere(), choose("profile"))
        : el("span", { class: "quiet" }, "Profile ", data(profileHere())), here.core.live && saveLink()),
    el("nav", { class: "sections", "aria-label": "Sections" }, TABS.map(([said, found]) =>
      el("a", { href: to(found[0][0]), "aria-current": found === views ? "true" : null }, said))),
    views.length > 1 && el("nav", { class: "sections below", "aria-label": "Views" }, views.map(link)),
  ]);
  const tab = header.querySelector(".sections [aria-current]");
  if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft - 20; // a phone shows some tabs only
}

// A box that finds models and scenarios by name.
function finder() {
  // A click on a link leaves the focus where it is, so that the list stays until the link is followed.
  const results = el("ul", { class: "found", id: "found", hidden: true, mousedown: (event) => event.preventDefault() });
  const links = () => [...results.querySelectorAll("a")];
  const close = () => {
    results.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  const input = el("input", { type: "search", id: "finder", placeholder: "Find a model or scenario  ( / )", "aria-label": "Find a model or scenario",
    role: "combobox", "aria-expanded": "false", "aria-controls": "found", autocomplete: "off", input: () => find(input, results) });
  const onMove = (event) => {
    const place = links().indexOf(document.activeElement);
    if (event.key === "Enter" && event.target === input) links()[0]?.click();
    if (event.key === "Escape") {
      input.value = "";
      close();
      input.blur();
    }
    if (!["ArrowDown", "ArrowUp"].includes(event.key) || results.hidden) return;
    event.preventDefault();
    (links()[place + (event.key === "ArrowDown" ? 1 : -1)] ?? (event.key === "ArrowUp" ? input : null))?.focus();
  };
  return el("div", { class: "finder", keydown: onMove, focusout: (event) => {
    if (!event.currentTarget.contains(event.relatedTarget)) close();
  } }, input, results);
}

async function find(input, results) {
  const wanted = input.value.trim().toLowerCase();
  const { difficulties } = await piece("scenarios");
  if (wanted !== input.value.trim().toLowerCase()) return; // more was typed meanwhile
  const scenarios = [...difficulties.index("language", "scenario").keys()].map((key) => JSON.parse(key));
  const found = wanted === "" ? [] : [
    ...here.core.models.rows().filter((row) => `${row.model} ${row.experiment}`.toLowerCase().includes(wanted))
      .map((row) => [modelPath(row), `${row.model} · ${row.experiment}`]),
    ...scenarios.filter((key) => key.join(" ").toLowerCase().includes(wanted))
      .map(([language, scenario]) => [["scenario", language, scenario], `Scenario ${language} ${scenario}`]),
  ];
  const shown = found.slice(0, MOST_FOUND).map(([path, name]) => el("li", null, a(address(path), data(name))));
  const rest = found.length > MOST_FOUND ? el("li", { class: "quiet" }, `and ${count(found.length - MOST_FOUND)} more: type on`) : null;
  results.replaceChildren();
  fill(results, [shown.length ? shown : el("li", { class: "quiet" }, "no match"), rest]);
  results.hidden = wanted === "";
  input.setAttribute("aria-expanded", String(wanted !== ""));
}
const MOST_FOUND = 12;

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
  try {
    here.core = await piece("core");
  } catch (error) {
    document.querySelector("#page").replaceChildren(el("p", { class: "waiting", role: "alert" }, `The results cannot be read: ${error.message}`));
    throw error;
  }
  Object.assign(words, here.core.words, { heads: here.core.heads });
  const isLive = Boolean(here.core.live);
  const foot = el("footer", null, "Made by orchbench-analytics ", here.core.version, isLive ? "" : " · works offline", " · keys: / find, ← → steps, u up");
  document.querySelector("#page").replaceChildren(header, ...(isLive ? [news] : []), main, foot);
  if (isLive) addLiveTabs();
  addEventListener("hashchange", show);
  addEventListener("scroll", () => {
    if (main.dataset.address === location.hash) memory.scroll = scrollY;
  }, { passive: true });
  history.scrollRestoration = "manual";
  addEventListener("keydown", onKey);
  await show();
  if (isLive) watchNews();
}

start();
