"""A tour of a warehouse: from a sweep to leaderboard, confusion matrix, plan errors, comparison."""

import marimo

app = marimo.App(width="medium", app_title="A tour of an OrchestrationBench sweep")


@app.cell
def _():
    import tempfile
    from pathlib import Path

    import altair as alt
    import marimo as mo
    import polars as pl

    from orchbench_analytics import open_warehouse
    from orchbench_analytics.demo import write_sweep

    return Path, alt, mo, open_warehouse, pl, tempfile, write_sweep


@app.cell
def _(mo):
    mo.md("""
    # A tour of an OrchestrationBench sweep

    A *sweep* is what is left of running the benchmark over many models: thousands of JSON files.
    A *warehouse* is the same as a handful of Parquet tables, scored, that answer SQL.

    Run this page on your own sweep with
    `marimo edit notebooks/tour.py -- --warehouse DIR`; without it, a sample sweep is made.
    """)


@app.cell
def _(Path, mo, open_warehouse, tempfile, write_sweep):
    given = mo.cli_args().get("warehouse")
    if given is None:
        room = Path(tempfile.mkdtemp(prefix="orchbench-tour-"))
        write_sweep(room, models=12, scenarios=8, write_judge_logs=True)
        warehouse = open_warehouse(room / "warehouse", create=True)
        warehouse.ingest(room / "results", agent_cards=[room / "agent_cards"])
    else:
        warehouse = open_warehouse(str(given))
    connection = warehouse.connect()
    mo.md(f"The warehouse holds **{warehouse.manifest().source_count:,}** input files.")
    return connection, warehouse


@app.cell
def _(mo):
    mo.md("""
    ## Who is best, and how sure is that?

    Bars are 95 % intervals from resampling scenarios. Where they overlap widely, the order of two
    models says little.
    """)


@app.cell
def _(alt, pl, warehouse):
    ranked = warehouse.rank_intervals()
    named = ranked.with_columns(name=pl.col("model") + " · " + pl.col("experiment"))
    order = named["name"].to_list()
    bars = (
        alt.Chart(named)
        .mark_rule(strokeWidth=3, color="#7a9cc6")
        .encode(
            x=alt.X("low:Q", title="average score", scale=alt.Scale(domain=[0, 1])),
            x2="high:Q",
            y=alt.Y("name:N", sort=order, title=None),
        )
    )
    points = (
        alt.Chart(named)
        .mark_circle(size=70, color="#1f3a5f")
        .encode(
            x="average_score:Q",
            y=alt.Y("name:N", sort=order),
            tooltip=["name", "average_score", "low", "high", "rank_low", "rank_high"],
        )
    )
    (bars + points).properties(width=560)


@app.cell
def _(mo):
    mo.md("""
    ## What do they decide?

    Rows are what the label wants, columns what was answered. Darker is a larger share of the row.
    """)


@app.cell
def _(connection, mo):
    decisions = mo.sql(
        """
        select actual, predicted, cast(sum(step_count) as bigint) as step_count
        from main.confusion_matrix
        where profile = 'spec' and model not in ('perfect', 'silent')
        group by actual, predicted
        order by actual, predicted
        """,
        engine=connection,
    )
    return (decisions,)


@app.cell
def _(alt, decisions):
    matrix = alt.Chart(decisions).transform_joinaggregate(
        row_total="sum(step_count)", groupby=["actual"]
    )
    matrix = matrix.transform_calculate(share="datum.step_count / datum.row_total").encode(
        x=alt.X("predicted:N", title="answered", axis=alt.Axis(labelAngle=0, labelLimit=200)),
        y=alt.Y("actual:N", title="wanted", axis=alt.Axis(labelLimit=220)),
    )
    tiles = matrix.mark_rect().encode(
        color=alt.Color("share:Q", scale=alt.Scale(scheme="blues"), legend=None)
    )
    counts = matrix.mark_text().encode(
        text="step_count:Q",
        color=alt.condition("datum.share > 0.5", alt.value("white"), alt.value("black")),
    )
    (tiles + counts).properties(width=720, height=200)


@app.cell
def _(mo):
    mo.md("""
    ## Where do plans go wrong?

    Each plan is compared with the label's by the cheapest edits that make them equal; here are the
    kinds of edits, for the models that err most.
    """)


@app.cell
def _(connection, mo):
    plan_errors = mo.sql(
        """
        select model, kind, cast(sum(edit_count) as bigint) as edit_count
        from main.plan_error_kinds
        where profile = 'spec'
        group by model, kind
        order by edit_count desc
        """,
        engine=connection,
    )
    return (plan_errors,)


@app.cell
def _(alt, plan_errors):
    alt.Chart(plan_errors).mark_bar().encode(
        x=alt.X("edit_count:Q", title="edits"),
        y=alt.Y("model:N", sort="-x", title=None),
        color=alt.Color("kind:N", title="kind", scale=alt.Scale(scheme="tableau20")),
        tooltip=["model", "kind", "edit_count"],
    ).properties(width=560)


@app.cell
def _(mo):
    mo.md("""
    ## Is one really better than the other?

    Both models answered the same scenarios, so the comparison is paired; the p-values are
    corrected for looking at several metrics.
    """)


@app.cell
def _(pl, warehouse):
    contenders = warehouse.leaderboard().filter(~pl.col("model").is_in(["perfect", "silent"]))
    better, baseline = contenders.select("model", "experiment").head(2).iter_rows()
    comparison = warehouse.compare(baseline, better).filter(pl.col("language") == "mean")
    comparison.select(
        "metric",
        "baseline_value",
        "candidate_value",
        "difference",
        "low",
        "high",
        "p_adjusted",
        "verdict",
    )


if __name__ == "__main__":
    app.run()
