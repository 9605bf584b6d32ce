"""Text as a terminal may show it."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from orchbench_analytics.outputs.terminal import cut_start, wrap


def test_of_a_path_the_end_is_kept() -> None:
    assert cut_start("results/황조롱이.json", 12) == "…조롱이.json"
    assert cut_start("결과/1.json", 12) == "결과/1.json"


def test_lines_are_as_wide_as_their_cells() -> None:
    assert wrap("황조롱이 벼랑 근처", 10) == ["황조롱이", "벼랑 근처"]
    assert wrap("one two", 6, indent="  ") == ["  one", "  two"]
    assert wrap("", 10) == [""]


@given(st.text(alphabet="ab 한글", max_size=60), st.integers(4, 30))
def test_no_line_is_too_long_and_no_character_is_lost(text: str, width: int) -> None:
    lines = wrap(text, width, indent=" ")

    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
