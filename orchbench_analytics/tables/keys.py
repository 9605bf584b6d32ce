"""The columns that say which model, scenario, run and step a row is about."""

from __future__ import annotations

from orchbench_analytics.schema import count, maybe_text, text

UNKNOWN_LANGUAGE = "unknown"

MODEL_KEY = (
    text("model", "Model name: the alias that the results tree has for it."),
    text("experiment", "Experiment the files belong to; `default` where the tree names none."),
    text("language", "Language of the scenarios: EN, KO, or `unknown` where the tree names none."),
)
CLIENT_MODEL = maybe_text(
    "client_model", "What the client calls the model; null where the tree does not say."
)
SCENARIO_KEY = (*MODEL_KEY, text("scenario", "Scenario, the part of the file name before `_out`."))
RUN_KEY = (*SCENARIO_KEY, text("run", "Run as the document names it, such as `run #1`."))
STEP_KEY = (*RUN_KEY, text("step_id", "Step of the dialogue, as text."))
_PLACES = "model, experiment, language, scenario, run, step_id and answer_position, `-` for none"
STEP_ROW = text(
    "step_key", f"Key of the sub-agent step or answer, to join by; a path of {_PLACES}."
)
PLAN_ROW = text("plan_key", f"Key of the planning step or answer, to join by; a path of {_PLACES}.")
RUN_POSITION = count("run_position", "Place of the run in its document, from 0.")
