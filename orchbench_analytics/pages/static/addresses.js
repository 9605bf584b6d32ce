// Addresses: every view is a hash, so that it can be sent: #/model/<m>/<experiment>/…?profile=strict

const KEPT = ["profile", "language"];
// The address, what the report is about, and the scores under the profile that is shown.
const here = { path: [], params: new URLSearchParams(), core: null, scores: null };

function readAddress(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  here.path = path === "" ? [] : path.split("/").map(decoded); // a run or step may be named ""
  here.params = new URLSearchParams(query);
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a hand-made address with a lone %
  }
}

// The address of a view; the profile and the language stay chosen, other choices are its own.
function address(path, choices = {}) {
  const params = new URLSearchParams();
  for (const name of KEPT) if (here.params.get(name)) params.set(name, here.params.get(name));
  for (const [name, value] of Object.entries(choices)) {
    if (isAbsent(value) || value === "") params.delete(name);
    else params.set(name, value);
  }
  const query = params.size ? `?${params}` : "";
  return `#/${path.map(encodeURIComponent).join("/")}${query}`;
}

// The address of this view with other choices.
const addressWith = (choices) =>
  address(here.path, { ...Object.fromEntries(here.params), ...choices });
const choose = (name) => (value) => {
  location.hash = addressWith({ [name]: value });
};

const profileHere = () => {
  const wanted = here.params.get("profile");
  return here.core.profiles.includes(wanted) ? wanted : here.core.profiles[0];
};
const languageHere = () => here.params.get("language");
const MEAN = "mean"; // the language of scores that are the mean over a model's languages
const ALL = ""; // the language, or model, of counts over all of them
// The rows of a table under the profile and in the language that are chosen.
const rowsHere = (table, wanted = {}, all = ALL) =>
  table.rows({ profile: profileHere(), language: languageHere() ?? all, ...wanted });
const modelPath = (row) => ["model", row.model, row.experiment];
const scenarioPath = (row, language, scenario) => [...modelPath(row), "scenario", language, scenario];
const stepPath = (row, step) =>
  [...scenarioPath(row, step.language, step.scenario), "run", step.run, "step", step.step_id];
const a = (href, ...children) => el("a", { href }, children);
// A model's name; its experiment only where names alone do not tell models apart.
function modelName(row) {
  const { core } = here;
  core.byName ??= core.models.index("model");
  const isShared = core.byName.get(keyOf(row.model))?.length > 1;
  return isShared ? `${row.model} · ${row.experiment}` : row.model;
}
