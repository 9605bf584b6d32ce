"""The committed data dictionary is the one the program prints."""

from orchbench_analytics.outputs.dictionary import dictionary
from orchbench_analytics.queries import sql_directory, views
from orchbench_analytics.tables import TABLES


def test_the_committed_copy_is_current() -> None:
    committed = (sql_directory() / "DICTIONARY.md").read_text(encoding="utf-8")
    assert committed == dictionary(), "run: orchbench dictionary > sql/DICTIONARY.md"


def test_every_table_and_view_has_its_section() -> None:
    text = dictionary()
    missing = [name for name in (*TABLES, *views()) if f"\n## {name}\n" not in text]
    assert missing == []
