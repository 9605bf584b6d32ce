// Data: packed tables inside the page, or in scripts beside it, unpacked when they are asked for;
// and a model's shard, its rows under the profile that is shown.

class Table {
  constructor({ count, columns, heads = {} }) {
    this.count = count;
    this.columns = columns;
    this.heads = heads;
  }

  // What people call a column, and what it means: as this table says, or as all tables do.
  head(name) {
    return this.heads[name] ?? words.heads[name] ?? { label: plain(name), title: "" };
  }

  value(name, row) {
    const column = this.columns[name];
    if (!column) return null;
    if (column.values) return column.values[row];
    const code = column.codes[row];
    return code < 0 ? null : column.words[code];
  }

  row(number) {
    const found = { number };
    for (const name of Object.keys(this.columns)) found[name] = this.value(name, number);
    return found;
  }

  // The rows whose columns have the values given; a value of null or undefined asks for nothing.
  rows(wanted = {}) {
    const tests = Object.entries(wanted).filter(([, value]) => !isAbsent(value));
    const numbers = [];
    for (let row = 0; row < this.count; row++) {
      if (tests.every(([name, value]) => this.value(name, row) === value)) numbers.push(row);
    }
    return numbers.map((number) => this.row(number));
  }

  // Row numbers by the values of some columns.
  index(...names) {
    const found = new Map();
    for (let row = 0; row < this.count; row++) {
      const key = keyOf(...names.map((name) => this.value(name, row)));
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(row);
    }
    return found;
  }
}

// The words that Python has for columns and values; they come with the first piece.
const words = { heads: {} };
const wordFor = (kind, value) => words[kind]?.[value] ?? plain(value);
const unpacked = new Map();
const awaited = new Map();

// What the script of a piece calls with its text.
globalThis.takePiece = (name, text) => {
  awaited.get(name)?.(text);
  awaited.delete(name);
};

function piece(name) {
  if (!unpacked.has(name)) unpacked.set(name, packedText(name).then(unpack));
  return unpacked.get(name);
}

function packedText(name) {
  const inside = document.querySelector(`script[data-piece="${name}"]`);
  if (inside) return Promise.resolve(inside.textContent);
  return new Promise((resolve, reject) => {
    awaited.set(name, resolve);
    const script = document.createElement("script");
    script.src = `pieces/${name}.js`;
    script.addEventListener("error", () => reject(new Error(`pieces/${name}.js is not there`)));
    document.head.append(script);
  });
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return withTables(JSON.parse(await new Response(stream).text()));
}

// Tables in place of what describes them, one level down.
function withTables(value) {
  if (Array.isArray(value)) return value;
  const isTable = (item) => item !== null && typeof item === "object" && "columns" in item;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, isTable(item) ? new Table(item) : item]),
  );
}

// Board, metrics, intervals and findings under a profile.
const scoresUnder = (profile) => piece(`board-${here.core.profiles.indexOf(profile)}`);

class Shard {
  constructor(tables, labels, core) {
    Object.assign(this, tables);
    this.labels = labels;
    this.firstProfile = core.profiles[0];
    this.indexes = new Map();
  }

  // Row numbers of a table by profile and row, made when they are first asked for.
  places(table) {
    if (!this.indexes.has(table)) this.indexes.set(table, this[table].index("profile", "row"));
    return this.indexes.get(table);
  }

  files(profile, language) {
    return this.filesTable.rows({ profile, language });
  }

  step(number, profile) {
    return this.changed(this.withCalls(this.steps.row(number)), "step_changes", profile);
  }

  plan(number, profile) {
    return this.changed(this.plans.row(number), "plan_changes", profile);
  }

  // An answered call is told by what it does not share with the beginning and end of its label.
  withCalls(row) {
    if (row.answer_calls_start === null) return row;
    const label = this.labels[row.label_calls];
    const [start, end] = [label.slice(0, row.answer_calls_start), label.slice(label.length - row.answer_calls_end)];
    return { ...row, answer_calls: start + row.answer_calls + end };
  }

  changed(row, changes, profile) {
    if (profile === this.firstProfile) return row;
    const place = this.places(changes).get(keyOf(profile, row.number))?.[0];
    return place === undefined ? row : { ...row, ...this[changes].row(place), number: row.number };
  }

  under(table, profile, number) {
    const places = this.places(table);
    return places.get(keyOf(profile, number)) ?? places.get(keyOf(this.firstProfile, number)) ?? [];
  }

  argumentsOf(step, profile) {
    if (!step.is_call_scored) return [];
    return this.under("arguments", profile, step.number).map((row) => this.arguments.row(row));
  }

  pictureOf(plan, profile) {
    if (plan.structure_distance === null) return null;
    const [row] = this.under("plan_pictures", profile, plan.number);
    return row === undefined ? null : this.pictures[this.plan_pictures.value("picture", row)];
  }

  judgementsOf(step) {
    if (step.judge_index === null) return [];
    const { language, scenario, run } = step;
    return this.judgements.rows({ language, scenario, run, call_index: step.judge_index });
  }

  // All steps and plans of a scenario or run, in the order of the dialogue.
  dialogue(profile, { language, scenario, run }) {
    const steps = this.steps.rows({ language, scenario, run })
      .map((row) => ({ ...this.step(row.number, profile), unit: "step" }));
    const plans = this.plans.rows({ language, scenario, run })
      .map((row) => ({ ...this.plan(row.number, profile), unit: "plan" }));
    return [...steps, ...plans].sort((a, b) => inOrder(a.run, b.run) || inOrder(a.step_id, b.step_id)
      || (a.answer_position ?? -1) - (b.answer_position ?? -1));
  }
}

const shards = new Map();

function shardOf(core, model, experiment) {
  const number = core.models.rows({ model, experiment })[0]?.number;
  if (number === undefined) return Promise.resolve(null);
  if (!shards.has(number)) {
    shards.set(number, Promise.all([piece(`model-${number}`), core.left_out_step_count ? [] : piece("labels")]).then(([tables, labels]) => {
      const { files, ...others } = tables;
      return new Shard({ ...others, filesTable: files }, labels, core);
    }));
  }
  return shards.get(number);
}
