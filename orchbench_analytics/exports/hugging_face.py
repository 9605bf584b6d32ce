"""Hugging Face: scores for model cards, and a dataset directory that is ready to push.

Nothing is uploaded. `models/<model>/.eval_results/orchestrationbench.yaml` belongs into the
repository of the model, `dataset/` is a repository of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import yaml

from orchbench_analytics.exports.documents import (
    BENCHMARK,
    SCORE_TABLES,
    DocumentDirectory,
    Score,
    Subject,
    directory_names,
    profile_of,
    scores_of,
)
from orchbench_analytics.exports.parquet import write_parquet
from orchbench_analytics.exports.sink import Outgoing
from orchbench_analytics.metrics import LABELS

_DATASET = ("leaderboard", "model_scores", "scenario_scores", "profiles")
_EVAL_HEAD = (
    "# Copy this file to .eval_results/ in the model's repository. `dataset.id` must be the\n"
    "# benchmark's dataset on the Hub, with a task for each `task_id`.\n"
)


class HuggingFace(DocumentDirectory):
    """A directory with a dataset, and a file for each model's card."""

    tables = tuple(dict.fromkeys((*SCORE_TABLES, *_DATASET)))

    def documents(self, outgoing: Outgoing) -> Iterator[tuple[str, Iterable[bytes]]]:
        """The results of each model, and the dataset's README."""
        profile = profile_of(outgoing.connection)
        scores = scores_of(outgoing.connection)
        directories = directory_names(name for subject in scores for name in subject)
        models = Counter(subject.model for subject in scores)
        for subject, own in scores.items():
            experiment = directories[subject.experiment]
            suffix = f"-{experiment}" if models[subject.model] > 1 else ""
            name = f".eval_results/{BENCHMARK.lower()}{suffix}.yaml"
            path = f"models/{directories[subject.model]}/{name}"
            yield path, [_eval_results(subject, own, profile)]
        yield "dataset/README.md", [_readme(outgoing, profile).encode()]

    def write_others(self, outgoing: Outgoing, staged: Path) -> None:
        """Write the documents, and the dataset's tables."""
        super().write_others(outgoing, staged)
        data = staged / "dataset" / "data"
        data.mkdir(parents=True)
        for relation in (r for r in outgoing.relations if r.name in _DATASET):
            write_parquet(outgoing, relation, data / f"{relation.name}.parquet")


def _eval_results(subject: Subject, scores: Sequence[Score], profile: str) -> bytes:
    entries = [
        {
            "dataset": {"id": BENCHMARK, "task_id": f"{score.metric}_{score.language.lower()}"},
            "value": score.value,
            "notes": f"{LABELS[score.metric]}, profile {profile}, experiment {subject.experiment}",
        }
        for score in scores
    ]
    text: str = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True)
    return (_EVAL_HEAD + text).encode()


def _readme(outgoing: Outgoing, profile: str) -> str:
    """The dataset's card: a configuration for each table, and what its columns mean."""
    relations = [relation for relation in outgoing.relations if relation.name in _DATASET]
    head = {
        "pretty_name": f"{BENCHMARK} scores",
        "tags": ["orchestrationbench", "evaluation", "agents"],
        "configs": [
            {
                "config_name": relation.name,
                "data_files": f"data/{relation.name}.parquet",
                **({"default": True} if relation.name == "leaderboard" else {}),
            }
            for relation in relations
        ],
    }
    sections = [
        f"## {relation.name}\n\n{relation.description}\n\n| column | meaning |\n|---|---|\n"
        + "".join(f"| `{c.name}` | {c.description} |\n" for c in relation.table.columns)
        for relation in relations
    ]
    return (
        f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n\n# {BENCHMARK} scores\n\n"
        f"Scores under the profile `{profile}`, written by orchbench-analytics.\n\n"
        + "\n".join(sections)
    )
