"""The state of an ingest: what is forgotten, and what is not."""

from pathlib import Path

from orchbench_analytics.ingest.find import CLOSED_DIRECTORY, InputFile
from orchbench_analytics.ingest.plan import State, prune_gone
from orchbench_analytics.ingest.sources import source_of


def state_of(root: Path, *paths: str) -> State:
    """A state that knows the files, none of which is there."""
    known = {path: source_of(InputFile(path)) for path in paths}
    return State(root, known, dict(known), {}, set(), [])


def test_pruning_forgets_what_is_gone_from_the_roots(tmp_path: Path) -> None:
    state = state_of(tmp_path, "/tree/a_out.json", "/tree2/a_out.json", "/file_out.json", "/b.json")

    gone = prune_gone(state, ["/tree", "/file_out.json"], {"/b.json": InputFile("/b.json")})

    assert [source.path for source in gone] == ["/tree/a_out.json", "/file_out.json"]
    assert list(state.sources) == ["/tree2/a_out.json", "/b.json"]


def test_pruning_spares_what_lies_in_a_closed_directory(tmp_path: Path) -> None:
    state = state_of(tmp_path, "/tree/closed/a_out.json", "/tree/closed2/a_out.json")
    closed = InputFile("/tree/closed", reason=CLOSED_DIRECTORY)

    prune_gone(state, ["/tree"], {closed.path: closed})

    assert list(state.sources) == ["/tree/closed/a_out.json"]
