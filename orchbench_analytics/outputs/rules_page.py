"""The scoring rules as a page: what each decides, its choices, and what each profile does."""

from __future__ import annotations

from orchbench_analytics.profiles import BUILT_IN, rules_of
from orchbench_analytics.rules import RULES

_HEAD = """# How answers are scored

Made from `profiles.py` and `rules.py`; a test keeps it current. A *profile* chooses one way for
each rule. `spec` follows the benchmark's document, `strict` closes its two loopholes, and
`upstream` gives what the public evaluator prints. A TOML file changes single rules:
`base = "spec"`, then for example `silence = "call"`; it is used with
`orchbench score DIR --profile mine.toml`.
"""
_TABLE = "| choice | profiles | what it does |\n|---|---|---|\n"


def rules_page() -> str:
    """Every rule with its choices, as Markdown."""
    return "\n".join([_HEAD, *(_section(name) for name in RULES)])


def _section(name: str) -> str:
    rule = RULES[name]
    used = {profile: str(rules_of(chosen)[name]) for profile, chosen in BUILT_IN.items()}
    if not rule.choices:
        values = " or ".join(f"`{value}`" for value in dict.fromkeys(used.values()))
        return f"## {name}\n\n{rule.sentence} It is {values} in the built-in profiles.\n"
    rows = "".join(
        f"| `{choice}` | {', '.join(p for p, value in used.items() if value == choice)} "
        f"| {sentence} |\n"
        for choice, sentence in rule.choices.items()
    )
    return f"## {name}\n\n{rule.sentence}\n\n{_TABLE}{rows}"
