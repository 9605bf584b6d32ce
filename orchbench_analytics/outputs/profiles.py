"""Profiles as people look at them: lists of rules, differences, a file to change, a page."""

from __future__ import annotations

import json

import polars as pl

from orchbench_analytics.profiles import BUILT_IN, RULES, SPEC, Profile, rules_of

_SENTENCES = {
    "spec": "The benchmark's own document, read so that the best answer scores 1.",
    "strict": "As spec, but refusing or failing never pays: for ranking models.",
    "upstream": "What the public evaluator prints, figure by figure.",
}
_PAGE_HEAD = """# How answers are scored

Made from `profiles.py`; a test keeps it current. A *profile* chooses one way for
each rule. `spec` follows the benchmark's document, `strict` closes its two loopholes, and
`upstream` gives what the public evaluator prints. A TOML file changes single rules:
`base = "spec"`, then for example `silence = "call"`; it is used with
`orchbench score DIR --profile mine.toml`.
"""
_TABLE_HEAD = "| choice | profiles | what it does |\n|---|---|---|\n"


def profile_list() -> pl.DataFrame:
    """The built-in profiles, with the number of rules in which each departs from spec."""
    rows = [
        (name, profile_difference(SPEC, profile).height, _SENTENCES[name])
        for name, profile in BUILT_IN.items()
    ]
    return pl.DataFrame(rows, schema=["profile", "rules_unlike_spec", "meaning"], orient="row")


def profile_rules(profile: Profile) -> pl.DataFrame:
    """Every rule: what is chosen, what else could be, and what the choice means."""
    rows = []
    for rule, chosen in _chosen(profile).items():
        others = (f"{c}: {said}" for c, said in RULES[rule].choices.items() if c != chosen)
        rule_said = f"{RULES[rule].sentence} {_meaning(rule, chosen)}"
        rows.append((rule, chosen, " Or ".join([rule_said, *others])))
    schema = ["rule", "chosen", "meaning"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def profile_difference(first: Profile, second: Profile) -> pl.DataFrame:
    """The rules in which two profiles differ, and what each of them does."""
    before, after = _chosen(first), _chosen(second)
    rows = [
        (rule, before[rule], after[rule], RULES[rule].sentence)
        for rule in before
        if before[rule] != after[rule]
    ]
    names = dict.fromkeys([f"in_{first.name}", f"in_{second.name}"], pl.String)
    if len(names) < 2:
        names = dict.fromkeys(["in_first", "in_second"], pl.String)
    schema = {"rule": pl.String, **names, "about": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def profile_file(base: Profile, *, name: str) -> str:
    """A TOML file with every rule as a comment, its choices and what they mean."""
    lines = [
        "# A profile: the rules of `base`, but for those given here. Remove the # before a rule",
        "# to choose another; score with: orchbench score DIR --profile FILE",
        f"name = {json.dumps(f'my-{name}' if name in BUILT_IN else name)}",
        f"base = {json.dumps(base.name)}",
    ]
    for rule, chosen in rules_of(base).items():
        if rule == "name":
            continue
        lines += ["", f"# {RULES[rule].sentence}"]
        lines += [f"#   {choice}: {said}" for choice, said in RULES[rule].choices.items()]
        lines.append(f"# {rule} = {json.dumps(chosen)}")
    return "\n".join(lines) + "\n"


def rules_page() -> str:
    """Every rule with its choices, as Markdown."""
    return "\n".join([_PAGE_HEAD, *(_section(name) for name in RULES)])


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
    return f"## {name}\n\n{rule.sentence}\n\n{_TABLE_HEAD}{rows}"


def _chosen(profile: Profile) -> dict[str, str]:
    return {rule: str(value) for rule, value in rules_of(profile).items() if rule != "name"}


def _meaning(rule: str, chosen: str) -> str:
    said = RULES[rule].choices.get(chosen)
    return f"{chosen}: {said}" if said else ""
