"""The state of an ingest: what is forgotten, and what is not."""

from pathlib import Path

from orchbench_analytics.ingest.sources import InputFile, source_of
from orchbench_analytics.ingest.update import Roots, State, prune_gone


def state_of(root: Path, *paths: str, found: str = "", closed: str = "") -> State:
    """A state that knows the files, of which one may be there."""
    known = {path: source_of(InputFile(path)) for path in paths}
    there = {found: InputFile(found)} if found else {}
    return State(root, there, known, dict(known), {}, set(), [], set(), [closed] if closed else [])


def test_pruning_forgets_what_is_gone_from_the_roots(tmp_path: Path) -> None:
    paths = ("/tree/a_out.json", "/tree2/a_out.json", "/file_out.json", "/b.json")
    state = state_of(tmp_path, *paths, found="/b.json")

    gone = prune_gone(state, Roots.of(["/tree", "/file_out.json"]))

    assert [source.path for source in gone] == ["/tree/a_out.json", "/file_out.json"]
    assert list(state.sources) == ["/tree2/a_out.json", "/b.json"]


def test_pruning_spares_what_lies_in_a_closed_directory(tmp_path: Path) -> None:
    paths = ("/tree/closed/a_out.json", "/tree/closed2/a_out.json")
    state = state_of(tmp_path, *paths, closed="/tree/closed")

    prune_gone(state, Roots.of(["/tree"]))

    assert list(state.sources) == ["/tree/closed/a_out.json"]


def test_pruning_takes_only_cards_from_roots_of_cards(tmp_path: Path) -> None:
    state = state_of(tmp_path, "/data/12_out.json", "/data/card.json")
    state.sources["/data/card.json"] = state.sources["/data/card.json"]._replace(kind="agent_card")

    prune_gone(state, Roots.of([], ["/data"]))

    assert list(state.sources) == ["/data/12_out.json"]
