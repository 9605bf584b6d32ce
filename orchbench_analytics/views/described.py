"""The tables that are not files of result documents: profiles and model tags."""

from __future__ import annotations

from orchbench_analytics.profiles import WEIGHTS, rule_choices
from orchbench_analytics.rules import RULES
from orchbench_analytics.schema import Column, Table
from orchbench_analytics.tables import MODEL_KEY, PROFILE_NAME

PROFILES = Table(
    "profiles",
    "profile that the warehouse was scored under",
    (
        PROFILE_NAME,
        *(Column(rule, "text", RULES[rule].sentence) for rule in rule_choices()),
        *(Column(rule, "float", RULES[rule].sentence) for rule in WEIGHTS),
    ),
)
# The tags themselves are further columns, which each warehouse has its own of.
MODEL_TAGS = Table(
    "model_tags", "model and experiment, with a column for each tag that was given", MODEL_KEY[:2]
)
KEPT_TABLES = (PROFILES, MODEL_TAGS)
