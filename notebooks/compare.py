"""A comparison of two models or checkpoints, from the verdict down to the two answers."""

import marimo

app = marimo.App(width="medium", app_title="Two models, down to their answers")


@app.cell
def _():
    import tempfile
    from pathlib import Path

    import marimo as mo
    import polars as pl

    from orchbench_analytics import open_warehouse
    from orchbench_analytics.notebook import StepKey, excerpts, sentences, write_sweep

    return (
        *(Path, StepKey, excerpts, sentences, mo),
        *(open_warehouse, pl, tempfile, write_sweep),
    )


@app.cell
def _(mo):
    mo.md("""
    # Two models, down to their answers

    A difference between two checkpoints is a number until one sees the answers behind it. This
    page goes there in four steps: the verdict, the scenarios behind it, the steps of one of
    them, and both answers to one step.

    For a sweep of your own: `marimo edit notebooks/compare.py -- --warehouse DIR`.
    """)


@app.cell
def _(Path, mo, open_warehouse, tempfile, write_sweep):
    given = mo.cli_args().get("warehouse")
    if given is None:
        room = Path(tempfile.mkdtemp(prefix="orchbench-compare-"))
        write_sweep(room)
        warehouse = open_warehouse(room / "warehouse", create=True)
        warehouse.ingest(room / "results", agent_cards=[room / "agent_cards"])
    else:
        warehouse = open_warehouse(str(given))
    return (warehouse,)


@app.cell
def _(mo, warehouse):
    pairs = warehouse.models().select("model", "experiment").unique().sort("model", "experiment")
    names = {" · ".join(pair): pair for pair in pairs.rows()}
    profiles = list(warehouse.manifest().profiles)
    mo.stop(len(names) < 2, mo.md("A comparison takes two models; this warehouse has one."))
    # In a sweep of checkpoints, the last two by name; in the demo, two of its graded models.
    graded = [name for name in names if name.startswith("graded-")]
    first, second = (graded if len(graded) > 1 else list(names))[-2:]
    baseline = mo.ui.dropdown(names, value=second, label="Baseline")
    candidate = mo.ui.dropdown(names, value=first, label="Candidate")
    profile = mo.ui.dropdown(
        profiles, value="spec" if "spec" in profiles else profiles[0], label="Profile"
    )
    mo.hstack([baseline, candidate, profile], justify="start", gap=2, wrap=True)
    return baseline, candidate, profile


@app.cell
def _(baseline, candidate, excerpts, sentences, mo, profile, warehouse):
    before, after = baseline.value, candidate.value
    mo.stop(before == after, mo.md("Choose two different models above."))
    comparison = warehouse.compare(before, after, profile=profile.value)
    means = comparison.filter(language="mean")
    mo.vstack(
        [
            mo.md(f"## Is it real?\n\n**{' · '.join(after)}** against **{' · '.join(before)}**"),
            mo.iframe(excerpts.verdicts(means), height="100px"),
            mo.md(f"{sentences.comparison(comparison)}."),
        ]
    )
    return after, before


@app.cell
def _(after, before, excerpts, mo, pl, profile, warehouse):
    carried = warehouse.drivers(before, after, profile=profile.value)
    scenarios, tools = carried.filter(kind="scenarios"), carried.filter(kind="tools")

    def shown_bars(drivers, caption):
        points = pl.col("contribution") * 100
        name = pl.concat_str("language", "driver", separator=" ", ignore_nulls=True)
        rows = drivers.head(10).select(name=name, value=points)
        return mo.iframe(excerpts.bars(rows, caption=caption, digits=2), height="100px")

    mo.vstack(
        [
            mo.md("## Which scenarios are behind it?"),
            shown_bars(scenarios, "Points that a scenario adds to the difference in Average"),
            mo.md("## Which tools?"),
            shown_bars(tools, "Points that the steps whose label calls a tool gained"),
        ]
    )
    return (scenarios,)


@app.cell
def _(mo, scenarios):
    choices = {f"{row['language']} {row['driver']}": row for row in scenarios.to_dicts()}
    mo.stop(not choices, mo.md("The two models have no scenario in common."))
    scenario = mo.ui.dropdown(choices, value=next(iter(choices)), label="Scenario")
    mo.vstack([mo.md("## What happened in one of them?"), scenario])
    return (scenario,)


@app.cell
def _(after, before, excerpts, mo, pl, profile, scenario, warehouse):
    keys = ("run", "step_id", "kind", "wanted")
    words = pl.col("wanted", "answered").str.to_lowercase().str.replace_all("_", " ")

    def of_model(contender, name):
        own = warehouse.show(
            contender,
            scenario.value["driver"],
            profile=profile.value,
            languages=scenario.value["language"],
        )
        return own.unique(keys, keep="first", maintain_order=True).select(
            *keys[:3], words.name.keep(), "score"
        ).rename({"answered": name, "score": f"{name} score"})  # fmt: skip

    both = of_model(before, "baseline").join(
        of_model(after, "candidate"), on=keys, how="full", coalesce=True, maintain_order="left"
    )
    gained = pl.col("candidate score").fill_null(0) - pl.col("baseline score").fill_null(0)
    is_other = pl.col("baseline").ne_missing(pl.col("candidate"))
    differing = both.with_columns(gained=gained).filter((gained != 0) | is_other)
    ordered = differing.sort(pl.col("gained").abs(), descending=True, maintain_order=True)
    step_name = pl.format("{}, step {}", "run", "step_id").alias("step")
    shown_steps = ordered.select(step_name, pl.exclude("run", "step_id", "kind", "gained"))
    alike = both.height - ordered.height
    mo.vstack(
        [
            mo.iframe(excerpts.table(shown_steps, caption="Steps that differ"), height="100px"),
            mo.md(f"The largest differences stand first. Steps that went alike: {alike}."),
        ]
    )
    return (ordered,)


@app.cell
def _(mo, ordered):
    labels = {f"{row['run']}, step {row['step_id']}": row for row in ordered.to_dicts()}
    mo.stop(not labels, mo.md("Both models went through this scenario alike; choose another."))
    step = mo.ui.dropdown(labels, value=next(iter(labels)), label="Step")
    mo.vstack([mo.md("## What did they answer?"), step])
    return (step,)


@app.cell
def _(StepKey, after, before, excerpts, mo, pl, profile, scenario, step, warehouse):
    def key_of(contender):
        chosen, place = step.value, scenario.value
        return StepKey(
            *contender, place["language"], place["driver"],
            chosen["run"], chosen["step_id"], chosen["kind"],
        )  # fmt: skip

    def answer_of(contender, title):
        raw = warehouse.table("plans" if step.value["kind"] == "plan" else "steps")
        found = raw.filter(**key_of(contender).key).sort("answer_position").collect().head(1)
        return found.select(
            pl.lit(title).alias("title"),
            pl.selectors.matches("^(label|answer)_(content|calls)$"),
        )

    sides = [("Baseline", before), ("Candidate", after)]
    raw_rows = pl.concat([answer_of(who, f"{title}: {' · '.join(who)}") for title, who in sides])
    given_answers = raw_rows.select("title", pl.selectors.starts_with("answer_")).rename(
        lambda name: name.removeprefix("answer_")
    )
    label = raw_rows.head(1).select(
        pl.lit("Label").alias("title"), pl.selectors.starts_with("label_")
    ).rename(lambda name: name.removeprefix("label_"))  # fmt: skip
    pictures = [
        (title, excerpts.plan(warehouse.table, key_of(who), warehouse.profile(profile.value)))
        for title, who in sides
        if step.value["kind"] == "plan"
    ]
    mo.vstack(
        [
            mo.iframe(excerpts.answers(label), height="60px"),
            mo.iframe(excerpts.answers(given_answers), height="60px"),
            *(
                mo.vstack([mo.md(f"### {title}"), mo.iframe(drawn, height="100px")])
                for title, drawn in pictures
                if drawn is not None
            ),
        ]
    )


if __name__ == "__main__":
    app.run()
