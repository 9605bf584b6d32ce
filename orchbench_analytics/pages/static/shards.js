// A model's shard: its rows under the profile that is shown.

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

  // Whether runs decide this step differently.
  isUnstable(step, profile) {
    const name = `unstable ${profile}`;
    if (!this.indexes.has(name)) {
      const decisions = new Map();
      for (let number = 0; number < this.steps.count; number++) {
        const row = this.step(number, profile);
        if (!row.is_scored) continue;
        const key = keyOf(row.language, row.scenario, row.step_id);
        if (!decisions.has(key)) decisions.set(key, new Map());
        const runs = decisions.get(key);
        if (!runs.has(row.run)) runs.set(row.run, row.predicted); // the first answer of a run counts
      }
      this.indexes.set(name, decisions);
    }
    const runs = this.indexes.get(name).get(keyOf(step.language, step.scenario, step.step_id));
    return new Set(runs?.values()).size > 1;
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
    shards.set(number, Promise.all([piece(`model-${number}`), piece("labels")]).then(([tables, labels]) => {
      const { files, ...others } = tables;
      return new Shard({ ...others, filesTable: files }, labels, core);
    }));
  }
  return shards.get(number);
}

const kindOf = (value) => (value >= 0.9999 ? "good" : value < 0.00005 ? "bad" : "partly");

// How a row went: words, a kind for its colour, and a figure where there is one.
function outcome(row) {
  if (!row.is_scored) return { words: plain(row.left_out_reason) || "left out", kind: "quiet", value: null };
  return row.unit === "plan" ? planOutcome(row) : stepOutcome(row);
}

function planOutcome(row) {
  if (row.is_failed) return { words: `unread: ${plain(row.read_as)}`, kind: "bad", value: 0 };
  const value = row.plan_similarity;
  return { words: score(value), kind: kindOf(value), value };
}

function stepOutcome(row) {
  const wantsCall = row.actual === "call";
  if (row.predicted === "failed") return { words: `failed: ${plain(row.failure_reason)}`, kind: "bad", value: 0 };
  if (wantsCall && row.predicted === "call") {
    const value = row.is_call_scored ? (row.name_f1 + row.key_f1 + row.value_f1) / 3 : null;
    return { words: value === null ? "called" : score(value), kind: value === null ? "quiet" : kindOf(value), value };
  }
  if (wantsCall) return { words: "rejected a due call", kind: "bad", value: 0 };
  if (row.predicted === "call") return { words: "called, rejection was due", kind: "bad", value: 0 };
  if (row.is_type_mismatch) return { words: "rejected, other type", kind: "partly", value: 1 };
  return { words: "rejected rightly", kind: "good", value: 1 };
}
