"""The committed page of scoring rules is the one that the rules make."""

from pathlib import Path

import orchbench_analytics
from orchbench_analytics.outputs.profiles import rules_page
from orchbench_analytics.profiles import rule_choices

PAGE = Path(orchbench_analytics.__file__).parent / "RULES.md"


def test_the_committed_copy_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == rules_page(), (
        'run: python -c "from orchbench_analytics.outputs.profiles import rules_page; '
        "print(rules_page(), end='')\" > orchbench_analytics/RULES.md"
    )


def test_every_rule_and_choice_is_on_it() -> None:
    page = rules_page()
    for rule, choices in rule_choices().items():
        assert f"## {rule}\n" in page
        assert all(f"| `{choice}` |" in page for choice in choices)
