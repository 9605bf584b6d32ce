"""Make the golden pack again: `python -m tests.golden` writes figures, `… results` the sweep too.

The sweep is there a second time in the shape in which the benchmark's own commands leave results:
aliases above experiments, the client's names below them, steps run by hand, what a stopped
evaluation leaves behind, and usage that counts from the start of the process.

Figures change only when a scoring rule is meant to change; look at the diff before you commit it.
"""

import gzip
import json
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from orchbench_analytics import open_warehouse
from tests.golden.pack import (
    ALIASES,
    FIGURES,
    HARNESS,
    PACK,
    Alias,
    figures_of,
    golden_warehouse,
)
from tests.sweep import write_evaluations, write_sweep


def write_pack() -> None:
    """Write the sweep: every kind of model that the demo knows, a scenario of each language."""
    shutil.rmtree(PACK, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        write_sweep(made, models=12, scenarios=1, runs=2, seed=5, write_judge_logs=True)
        for file in sorted(made.rglob("*.json")):
            write_packed(PACK / file.relative_to(made), file.read_bytes())
    write_harness()


def write_packed(path: Path, content: bytes) -> None:
    """Write a file, a JSON document packed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        path, content = path.with_name(f"{path.name}.gz"), gzip.compress(content, mtime=0)
    path.write_bytes(content)


def write_harness() -> None:
    """Write some models once more, as the benchmark's own commands leave them."""
    shutil.rmtree(HARNESS, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        write_sweep(made, models=12, scenarios=1, runs=2, seed=5, write_judge_logs=True)
        warehouse = open_warehouse(made / "warehouse", create=True)
        warehouse.ingest(made / "results", agent_cards=[made / "agent_cards"])
        write_evaluations(made, warehouse)
        for alias in ALIASES:
            write_alias(made / "results" / alias.golden, alias)
        for card in sorted((made / "agent_cards").rglob("*.json")):
            cards = HARNESS / "data" / card.parent.name / "multiagent_cards"
            write_packed(cards / card.name, card.read_bytes())
    for language, scenario in (("EN", "10"), ("KO", "8")):
        data = HARNESS / "data" / language
        write_packed(data / f"scenario_data/{scenario}.yaml", b"steps: []\n")
        write_packed(data / "index.json", b'{"count": 1}')
    write_packed(HARNESS / "lm_eval_style_result.json", b'{"results": {}, "configs": {}}')


def write_alias(made: Path, alias: Alias) -> None:
    """Write a model's files of each language under an alias, and the logs beside them."""
    for language in alias.languages:
        there = HARNESS / alias.directory
        suffix = "" if alias.is_by_hand else f"_{language}"
        runs = there / f"step_wise_evaluation{suffix}" / alias.client
        logs = "evaluation_logs" if alias.is_by_hand else f"llm_evaluation_logs{suffix}"
        usage = Counter[str]()
        for file in sorted((made / f"step_wise_evaluation_{language}").rglob("*.json")):
            document = json.loads(file.read_bytes())
            usage.update(document["usage"])
            document |= {"usage": dict(usage), "generated_at": 5541.25}
            write_packed(runs / file.name, json.dumps(as_client(document)).encode())
            if alias.is_stopped:
                write_packed(there / ".temp_eval_results/result_0001.json", b'{"file_path": "x"}')
        for file in sorted((made / f"llm_evaluation_logs_{language}").rglob("*.json")):
            write_packed(there / logs / file.name, file.read_bytes())
            summary = file.name.split("_trial_")[0] + "_comprehensive_evaluation.json"
            write_packed(there / logs / summary, b'{"file_identifier": "x"}')
        if alias.is_by_hand:
            result = re_rooted(made, language, runs.relative_to(HARNESS).as_posix())
            write_packed(runs / f"{alias.client}-result.json", result)
            continue
        write_packed(there / f"scenario_processing{suffix}.log", b"all scenarios processed\n")
        write_packed(there / f"evaluation{suffix}.log", b"evaluation started\n")
        if not alias.is_stopped:
            result = re_rooted(made, language, f"/bench/{runs.relative_to(HARNESS).as_posix()}")
            write_packed(there / f"evaluation_result{suffix}.json", result)


def re_rooted(made: Path, language: str, directory: str) -> bytes:
    """An evaluator's result file that says it was made from another directory."""
    document = json.loads((made / f"evaluation_result_{language}.json").read_bytes())
    for row in document["detailed_results"]:
        row["file_path"] = f"{directory}/{row['file_path'].rsplit('/', 1)[-1]}"
    return json.dumps(document | {"directory": directory}).encode()


def as_client(document: Any) -> Any:
    """The document as some clients write it: arguments as objects, two line breaks for no text."""
    for run in document["history"].values():
        for answer in run["sub_agent_history"]:
            calls = answer.get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                function = call.get("function") if isinstance(call, dict) else None
                if isinstance(function, dict) and isinstance(function.get("arguments"), str):
                    with suppress(json.JSONDecodeError):
                        function["arguments"] = json.loads(function["arguments"])
            if calls and answer.get("content") == "":
                answer["content"] = "\n\n"
    return document


def write_figures() -> None:
    """Write the figures of all profiles, as they are now."""
    with tempfile.TemporaryDirectory() as scratch:
        figures = figures_of(golden_warehouse(Path(scratch)))
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "results" in sys.argv:
        write_pack()
    write_figures()
