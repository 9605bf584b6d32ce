"""What the user asked, from the input file."""

import hashlib
import json
from pathlib import Path

import pytest

from orchbench_analytics.ingest.questions import Question, asked_before, read_questions

LABELS = {
    "1": {"role": "system", "content": "Today is Friday."},
    "2": {"role": "user", "content": "Book a table."},
    "3": {"role": "assistant", "content": "workflow_1:\n"},
    "4": {"role": "assistant", "agent_id": "bakery"},
    "5": {"role": "user", "content": "At eight."},
    "6": "broken",
    "7": {"role": "user", "content": None},
}


def written(path: Path, document: object) -> str:
    data = json.dumps(document).encode()
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def test_what_the_user_said_is_read_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "1_out.json"
    content_hash = written(file, {"history": {"run #1": {"label": LABELS}}})

    found = read_questions(str(file), content_hash, "run #1")

    assert found == [Question("2", "Book a table."), Question("5", "At eight.")]
    assert asked_before(found, "4") == "Book a table."
    assert asked_before(found, "10") == "At eight."
    assert asked_before(found, "2") is None


@pytest.mark.parametrize(
    "history", [{}, {"run #1": None}, {"run #1": {"label": []}}, {"run #1": {"label": {"2": 3}}}]
)
def test_a_run_of_another_shape_asked_nothing(tmp_path: Path, history: object) -> None:
    file = tmp_path / "1_out.json"

    assert read_questions(str(file), written(file, {"history": history}), "run #1") == []


def test_a_file_that_is_gone_or_changed_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "1_out.json"
    content_hash = written(file, {"history": {"run #1": {"label": LABELS}}})

    assert read_questions(str(file), "another", "run #1") is None
    assert read_questions(str(tmp_path / "gone.json"), content_hash, "run #1") is None
    assert read_questions(str(tmp_path), content_hash, "run #1") is None
    assert read_questions(str(file), written(file, ["no", "document"]), "run #1") is None
