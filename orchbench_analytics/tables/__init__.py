"""Every table: its name, grain and columns. Schemas, checks and the dictionary derive from here."""

from __future__ import annotations

from orchbench_analytics.schema import Table
from orchbench_analytics.tables.raw import (
    EXPECTED_SCENARIOS,
    JUDGEMENTS,
    MODEL_KEY,
    PLANS,
    REPORTED_MODELS,
    REPORTED_SCENARIOS,
    RUN_KEY,
    RUN_LOGS,
    SCENARIO_KEY,
    SCENARIOS,
    SOURCES,
    STEP_KEY,
    STEPS,
    TOOL_PARAMETERS,
    UNKNOWN_LANGUAGE,
)
from orchbench_analytics.tables.scored import (
    PLAN_EDITS,
    PLAN_MATCHES,
    PROFILE_NAME,
    SCENARIO_SCORES,
    SCORED_ARGUMENTS,
    SCORED_PLANS,
    SCORED_STEPS,
)

RAW_TABLES = (
    SCENARIOS,
    STEPS,
    PLANS,
    JUDGEMENTS,
    REPORTED_SCENARIOS,
    REPORTED_MODELS,
    RUN_LOGS,
)
STEP_SCORES = (SCORED_STEPS, SCORED_ARGUMENTS)
PLAN_SCORES = (SCORED_PLANS, PLAN_EDITS, PLAN_MATCHES)
SCORED_TABLES = (*STEP_SCORES, *PLAN_SCORES, SCENARIO_SCORES)
TABLES: dict[str, Table] = {
    t.name: t for t in (SOURCES, EXPECTED_SCENARIOS, *RAW_TABLES, TOOL_PARAMETERS, *SCORED_TABLES)
}

__all__ = [
    "EXPECTED_SCENARIOS",
    "JUDGEMENTS",
    "MODEL_KEY",
    "PLANS",
    "PLAN_EDITS",
    "PLAN_MATCHES",
    "PLAN_SCORES",
    "PROFILE_NAME",
    "RAW_TABLES",
    "REPORTED_MODELS",
    "REPORTED_SCENARIOS",
    "RUN_KEY",
    "RUN_LOGS",
    "SCENARIOS",
    "SCENARIO_KEY",
    "SCENARIO_SCORES",
    "SCORED_ARGUMENTS",
    "SCORED_PLANS",
    "SCORED_STEPS",
    "SCORED_TABLES",
    "SOURCES",
    "STEPS",
    "STEP_KEY",
    "STEP_SCORES",
    "TABLES",
    "TOOL_PARAMETERS",
    "UNKNOWN_LANGUAGE",
]
