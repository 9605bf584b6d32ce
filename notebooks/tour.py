"""A tour of a warehouse: leaderboard, decisions, plans, and whether the best two differ."""

import marimo

app = marimo.App(width="medium", app_title="A tour of an OrchestrationBench sweep")


@app.cell
def _():
    import tempfile
    from pathlib import Path

    import marimo as mo
    import polars as pl

    from orchbench_analytics import open_warehouse
    from orchbench_analytics.notebook import excerpts, sentences, step_keys, write_sweep

    return Path, excerpts, sentences, mo, open_warehouse, pl, step_keys, tempfile, write_sweep


@app.cell
def _(mo):
    mo.md("""
    # A tour of an OrchestrationBench sweep

    A *sweep* is what is left of running the benchmark over many models: thousands of JSON files.
    A *warehouse* is the same as a handful of Parquet tables, scored, that answer SQL.

    `make notebook` opens this page on the demo. For a sweep of your own:
    `marimo edit notebooks/tour.py -- --warehouse DIR`.
    """)


@app.cell
def _(Path, mo, open_warehouse, tempfile, write_sweep):
    given = mo.cli_args().get("warehouse")
    if given is None:
        room = Path(tempfile.mkdtemp(prefix="orchbench-tour-"))
        write_sweep(room)
        warehouse = open_warehouse(room / "warehouse", create=True)
        warehouse.ingest(room / "results", agent_cards=[room / "agent_cards"])
    else:
        warehouse = open_warehouse(str(given))
    warehouse
    return (warehouse,)


@app.cell
def _(mo, pl, warehouse):
    people = warehouse.models()
    pairs = people.select("model", "experiment").unique().sort("model", "experiment")
    both = pl.format("{} · {}", "model", "experiment")
    is_alone = pl.len().over("model") == 1
    named = pairs.with_columns(name=pl.when(is_alone).then("model").otherwise(both))
    names = named["name"].to_list()
    profiles = list(warehouse.manifest().profiles)
    first_profile = "spec" if "spec" in profiles else profiles[0]
    languages = {"all": "mean"} | {name: name for name in people["language"].unique().sort()}
    profile = mo.ui.dropdown(profiles, value=first_profile, label="Profile")
    language = mo.ui.dropdown(languages, value="all", label="Language")
    chosen = mo.ui.multiselect(names, value=names, label="Models")
    mo.hstack([profile, language, chosen], justify="start", gap=2, wrap=True)
    return chosen, language, named, profile


@app.cell
def _(chosen, language, mo, named, pl, profile):
    def of_choice(rows):
        """The rows of the chosen models, and of the chosen language where rows have one."""
        found = rows.join(named, on=["model", "experiment"], maintain_order="left")
        found = found.filter(pl.col("name").is_in(chosen.value))
        if "profile" in rows.columns:
            found = found.filter(profile=profile.value)
        if "language" in rows.columns and language.value != "mean":
            found = found.filter(language=language.value)
        return found

    mo.stop(not chosen.value, mo.md("Choose at least one model above."))
    return (of_choice,)


@app.cell
def _(mo):
    mo.md("""
    ## Who is best, and how sure is that?

    The line shows the average with its 95 % interval over scenarios; behind a rank stand the ranks
    that are as likely. Where intervals overlap widely, the order of two models says little.
    """)


@app.cell
def _(excerpts, language, mo, of_choice, pl, profile, warehouse):
    metrics = ("average_score", "call_rejection_f1", "function_call_f1", "workflow_similarity")
    spans = of_choice(warehouse.intervals(profile=profile.value, metrics=metrics))
    spans = spans.filter(language=language.value)
    average = spans.filter(metric=metrics[0]).select("name", "low", "high")
    board = spans.pivot("metric", index=["name", "model", "experiment"], values="value")
    board = board.join(average, on="name").sort(metrics[0], descending=True, nulls_last=True)
    board = board.with_columns(pl.col(metrics[0]).rank("min", descending=True).alias("place"))
    if language.value == "mean":
        ranks = warehouse.leaderboard(profile=profile.value, intervals=True)
        kept = ("model", "experiment", "rank_number", "rank_low", "rank_high")
        ranked = board.join(ranks.select(kept), on=["model", "experiment"], how="left")
    else:
        ranked = board.with_columns(rank_number=pl.col("place"))
    mo.iframe(excerpts.ranking(ranked), height="100px")
    return (board,)


@app.cell
def _(mo):
    mo.md("""
    ## What do they decide?

    Rows are what the label wants, columns what was answered: green where that is right, red where
    it is wrong, the darker the larger the share of the row.
    """)


@app.cell
def _(excerpts, mo, of_choice, warehouse):
    decisions = of_choice(warehouse.table("confusion_matrix").collect())
    mo.iframe(excerpts.confusion(decisions), height="100px")


@app.cell
def _(mo):
    mo.md("""
    ## Where do plans go wrong?

    Each plan is compared with the label's by the cheapest edits that make them equal. Here are the
    kinds of edits, in SQL:

    ```sql
    select kind, sum(edit_count) from main.plan_error_kinds group by kind
    ```
    """)


@app.cell
def _(excerpts, mo, of_choice, pl, warehouse):
    kinds = of_choice(warehouse.table("plan_error_kinds").collect()).group_by("kind")
    edits = kinds.agg(value=pl.col("edit_count").sum()).sort("value", "kind", descending=True)
    shown_edits = edits.select(pl.col("kind").str.replace_all("_", " ").alias("name"), "value")
    no_edits = mo.md("No plan that was read differs from its label.")
    mo.iframe(
        excerpts.bars(shown_edits, caption="Edits by kind"), height="100px"
    ) if shown_edits.height else no_edits


@app.cell
def _(mo, of_choice, pl, warehouse):
    read = of_choice(warehouse.table("scored_plans").filter(~pl.col("is_failed")).collect())
    # A plan that shares little with its label says less than one that is half right.
    wrong = read.filter(pl.col("plan_similarity") < 1).sort(
        pl.col("structure_distance") == 0,
        (pl.col("plan_similarity") - 0.75).abs(),
        *("name", "language", "scenario", "run"),
    )
    every = pl.format("{}, {} {}, {}, step {}", "name", "language", "scenario", "run", "step_id")
    shown_plans = wrong.with_columns(where=every).unique("where", maintain_order=True).head(50)
    plans = {row["where"]: row for row in shown_plans.to_dicts()}
    plan = mo.ui.dropdown(plans, value=next(iter(plans), None), label="A plan that lost points")
    plan if plans else mo.md("Every plan that was read is the label's.")
    return (plan,)


@app.cell
def _(excerpts, mo, plan, profile, step_keys, warehouse):
    mo.stop(plan.value is None)
    where = plan.value
    steps = warehouse.show(
        (where["model"], where["experiment"]),
        where["scenario"],
        where["step_id"],
        profile=profile.value,
        languages=where["language"],
        run=where["run"],
    )
    step, *_others = step_keys(steps)
    picture = excerpts.plan(warehouse.table, step, warehouse.profile(profile.value))
    mo.iframe(picture, height="100px")


@app.cell
def _(mo):
    mo.md("""
    ## Is the best really better than the next?

    Both models answered the same scenarios, so the comparison is paired, and corrected for looking
    at several metrics. `notebooks/compare.py` goes from any such difference down to the answers.
    """)


@app.cell
def _(board, excerpts, sentences, language, mo, pl, profile, warehouse):
    pair = board.select("model", "experiment").head(2).rows()
    mo.stop(len(pair) < 2, mo.md("A comparison takes two models; there is one."))
    better, baseline = pair
    comparison = warehouse.compare(baseline, better, profile=profile.value)
    title = mo.md(f"**{' · '.join(better)}** against **{' · '.join(baseline)}**:")
    said = mo.md(f"{sentences.comparison(comparison)}.")
    of_language = comparison.filter(pl.col("language") == language.value)
    verdicts = mo.iframe(excerpts.verdicts(of_language), height="100px")
    mo.vstack([title, verdicts, said])


@app.cell
def _(mo):
    mo.md("""
    ## Ask something else

    `warehouse.sql` takes any query; `warehouse.tables()` lists the tables and views, and the
    data dictionary explains each column. The tools that are missed or called without need most
    often, over the steps of all models:
    """)


@app.cell
def _(excerpts, mo, warehouse):
    tools = warehouse.sql("""
        select
            tool,
            cast(sum(labelled_step_count) as integer) as wanted,
            cast(sum(answered_step_count) as integer) as called,
            cast(sum(tool_true_positive_count) as integer) as hits
        from main.tool_scores
        where profile = 'spec'
        group by tool
        order by wanted + called - 2 * hits desc, tool
        limit 8
    """)
    mo.iframe(excerpts.table(tools, caption="Tools"), height="100px")


if __name__ == "__main__":
    app.run()
