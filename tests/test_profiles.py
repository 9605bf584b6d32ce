"""Profiles: named choices, their files and what is wrong with them, and how they differ."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import orchbench_analytics
from orchbench_analytics.errors import ProfileError
from orchbench_analytics.profiles import (
    BUILT_IN,
    REPORTED,
    RULES,
    SPEC,
    STRICT,
    UPSTREAM,
    WEIGHTS,
    Profile,
    flip,
    load_profile,
    profile_from_rules,
    profile_of,
    rule_choices,
    rules_of,
)
from orchbench_analytics.queries import sql_directory

# Which rules make `strict` and `upstream` differ from `spec`, by the tables of SEMANTICS.md.
STRICT_RULES = {"failed_rejection": "false_negative", "rejected_call": "zero"}
UPSTREAM_RULES = {
    "scored_unit": "answer",
    "untyped_rejection": "matches_untyped_only",
    "unusable_label": "scored",
    "empty_gold_calls": "call",
    "silence": "call",
    "rejection_marker": "anywhere",
    "content_parts": "whole_parts",
    "rejection_argument": "rejects",
    "nameless_call": "call",
    "call_in_text": "ignored",
    "mismatch_totals": "zero",
    "error_total": "without_mismatches",
    "case_totals": "by_call_key",
    "no_arguments": "zero",
    "verdict": "replaces_all",
    "verdict_match": "by_position",
    "judge_reasoning": "choices_only",
    "unsound_verdict": "zero",
    "unsound_schema": "key_f1",
    "invalid_arguments": "error_key",
    "malformed_answer": "voids_file",
    "value_mean": "positive_only",
    "run_mean": "all_runs",
    "addition": "in_order",
    "plan_runs": "numbered",
    "plan_step": "as_number",
    "plan_entry": "last_read",
    "plan_content": "text_only",
    "plan_search": "basic",
    "plan_values": "as_typed",
    "failed_plan": "per_entry",
    "without_failure": "includes_failed",
    "structure_edges": "depends_on_only",
    "component_edges": "first_present",
    "malformed_plan": "voids_run",
    "distance": "networkx",
    "lone_self_loop": "free",
    "undefined": "zero",
    "rounding": "four_digits",
}


def differences(profile: Profile, other: Profile) -> dict[str, Any]:
    rules = rules_of(profile)
    return {
        rule: choice
        for rule, choice in rules_of(other).items()
        if choice != rules[rule] and rule != "name"
    }


class TestBuiltIn:
    def test_there_are_three_and_they_go_by_their_names(self) -> None:
        assert list(BUILT_IN) == ["spec", "strict", "upstream"]
        assert all(profile.name == name for name, profile in BUILT_IN.items())
        assert Profile() == SPEC

    def test_they_differ_just_where_the_rules_say(self) -> None:
        assert differences(SPEC, STRICT) == STRICT_RULES
        assert differences(SPEC, UPSTREAM) == UPSTREAM_RULES

    def test_every_rule_is_one_in_which_some_profile_differs(self) -> None:
        reported = differences(UPSTREAM, REPORTED)
        assert {*STRICT_RULES, *UPSTREAM_RULES, *reported} == rule_choices().keys()

    def test_every_field_but_the_name_is_a_rule(self) -> None:
        assert ["name", *RULES] == [field.name for field in fields(Profile)]
        assert {**rule_choices(), **dict.fromkeys(WEIGHTS)}.keys() == RULES.keys()
        assert (SPEC.agent_weight, SPEC.status_weight) == (0.8, 0.2)

    @pytest.mark.parametrize("rule", RULES)
    def test_a_rule_is_declared_whole(self, rule: str) -> None:
        declared = RULES[rule]

        assert len(declared.choices) >= 2 or rule in WEIGHTS
        assert declared.chosen_by.keys() <= {"strict", "upstream", "reported"}
        assert {*declared.chosen_by.values()} <= {*declared.choices}
        for sentence in (declared.sentence, *declared.choices.values()):
            assert sentence[0].isupper()
            assert sentence.endswith(".")

    def test_a_profile_cannot_be_changed(self) -> None:
        with pytest.raises(AttributeError):
            SPEC.silence = "call"  # type: ignore[misc]


class TestFlip:
    @pytest.mark.parametrize("rule", [*UPSTREAM_RULES])
    def test_it_takes_one_rule_from_another_profile(self, rule: str) -> None:
        flipped = flip(SPEC, rule, UPSTREAM)

        assert differences(SPEC, flipped) == {rule: UPSTREAM_RULES[rule]}
        assert flipped.name == f"spec+{rule}"

    def test_a_weight_can_be_taken_too(self) -> None:
        heavy = profile_from_rules({"agent_weight": 1}, where="test", default_name="heavy")

        assert flip(SPEC, "agent_weight", heavy).agent_weight == 1.0

    def test_all_of_them_lead_from_one_profile_to_the_other(self) -> None:
        profile = SPEC
        for rule in UPSTREAM_RULES:
            profile = flip(profile, rule, UPSTREAM)

        assert differences(profile, UPSTREAM) == {}


class TestFiles:
    def load(self, directory: Path, text: str | bytes, name: str = "mine.toml") -> Profile:
        path = directory / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return load_profile(str(path))

    @pytest.mark.parametrize("name", BUILT_IN)
    def test_a_built_in_profile_is_known_by_name(self, name: str) -> None:
        assert load_profile(name) is BUILT_IN[name]

    def test_an_empty_file_is_spec_under_the_files_name(self, tmp_path: Path) -> None:
        profile = self.load(tmp_path, "")

        assert profile.name == "mine"
        assert differences(SPEC, profile) == {}

    def test_rules_are_laid_over_the_base(self, tmp_path: Path) -> None:
        text = 'base = "upstream"\nname = "half"\nsilence = "failed"\nagent_weight = 0.5\n'

        profile = self.load(tmp_path, text)

        assert profile.name == "half"
        assert differences(UPSTREAM, profile) == {"silence": "failed", "agent_weight": 0.5}

    def test_results_are_not_scored_by_other_rules(self, tmp_path: Path) -> None:
        with pytest.raises(ProfileError, match="no rule named 'scored_from'"):
            self.load(tmp_path, 'scored_from = "results"')

    @pytest.mark.parametrize("rule", [rule for rule in rule_choices() if rule != "scored_from"])
    def test_every_rule_can_be_chosen(self, tmp_path: Path, rule: str) -> None:
        for choice in rule_choices()[rule]:
            profile = self.load(tmp_path, f'{rule} = "{choice}"')

            assert getattr(profile, rule) == choice

    @pytest.mark.parametrize("weight", [0, 1, 0.0, 0.25, 1.0])
    def test_a_weight_is_a_float_however_it_is_written(self, tmp_path: Path, weight: float) -> None:
        profile = self.load(tmp_path, f"status_weight = {weight}")

        assert repr(profile.status_weight) == repr(float(weight))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("silence = call", "not valid TOML"),
            ("silence =", "not valid TOML"),
            (b"\xff", "not valid TOML"),
            ('base = "mine"', "base = 'mine': expected one of spec, strict, upstream"),
            ('base = ["spec"]', r"base = \['spec'\]: expected one of spec, strict, upstream"),
            ("base = 1", "base = 1: expected one of"),
            ('name = ""', "name = '': expected a text other than spec, strict, upstream"),
            ('name = "spec"', "name = 'spec': expected a text other than"),
            ("name = 5", "name = 5: expected a text other than"),
            ("[silence]", "silence = {}: expected one of failed, call"),
            ('silence = "loud"', "silence = 'loud': expected one of failed, call"),
            ("silence = true", "silence = True: expected one of failed, call"),
            (
                'silense = "call"',
                "no rule named 'silense'; did you mean silence\\?",
            ),
            ("agent_weight = 1.5", "agent_weight = 1.5: expected a number from 0 to 1"),
            ("agent_weight = -0.1", "agent_weight = -0.1: expected a number"),
            ("agent_weight = nan", "agent_weight = nan: expected a number"),
            ('status_weight = "0.2"', "status_weight = '0.2': expected a number"),
            ("status_weight = true", "status_weight = True: expected a number"),
        ],
    )
    def test_what_is_wrong_with_a_file_is_said_with_its_path(
        self, tmp_path: Path, text: str | bytes, message: str
    ) -> None:
        with pytest.raises(ProfileError, match=message) as raised:
            self.load(tmp_path, text)

        assert str(raised.value).startswith(str(tmp_path / "mine.toml"))

    def test_a_file_named_like_a_built_in_profile_needs_another_name(self, tmp_path: Path) -> None:
        with pytest.raises(ProfileError, match="name = 'strict': expected a text other than"):
            self.load(tmp_path, "", name="strict.toml")

        assert self.load(tmp_path, 'name = "stricter"', name="strict.toml").name == "stricter"

    def test_an_unknown_name_says_what_there_is(self) -> None:
        message = "no profile named 'lenient', nor is it a .toml file; there are spec, strict, upst"

        with pytest.raises(ProfileError, match=re.escape(message)):
            load_profile("lenient")

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(ProfileError, match=r"no such profile file: .*absent.toml"):
            load_profile(str(tmp_path / "absent.toml"))

    def test_a_directory_is_no_profile(self, tmp_path: Path) -> None:
        (tmp_path / "mine.toml").mkdir()

        with pytest.raises(ProfileError, match=r"mine\.toml: cannot be read: Is a directory"):
            load_profile(str(tmp_path / "mine.toml"))

    def test_what_was_given_is_left_as_it_was(self) -> None:
        rules = {"base": "strict", "name": "x", "agent_weight": 1}

        profile_from_rules(rules, where="test", default_name="y")

        assert rules == {"base": "strict", "name": "x", "agent_weight": 1}


@pytest.mark.parametrize("profile", BUILT_IN.values(), ids=lambda p: p.name)
def test_a_profile_survives_being_flattened(profile: Profile) -> None:
    assert profile_of(rules_of(profile)) == profile


def test_code_and_sql_compare_a_rule_only_with_its_choices() -> None:
    compared = re.compile(
        rf"\b(?:profile|profiles|files|call_sums)?\.?({'|'.join(rule_choices())})"
        r" (?:==|!=|=|<>) ['\"](\w+)['\"]"
    )
    package = Path(orchbench_analytics.__file__).parent
    files = [
        *(
            path
            for room in ("score", "views", "outputs")
            for path in (package / room).rglob("*.py")
        ),
        *sql_directory().rglob("*.sql"),
    ]
    found = {match for path in files for match in compared.findall(path.read_text("utf-8"))}

    assert len({rule for rule, _ in found}) > 30
    assert {(rule, choice) for rule, choice in found if choice not in RULES[rule].choices} == set()


_WITH_A_RULE_MORE = """
import sys
from pathlib import Path
from types import ModuleType
import orchbench_analytics
path = Path(orchbench_analytics.__file__).parent / "profiles.py"
declared = '    name: str = "spec"\\n'
added = declared + '''
    shouting: str = rule(
        "How to treat an answer in capitals.",
        {"heard": "It counts.", "ignored": "It does not count."},
        upstream="ignored",
    )
'''
source = path.read_text(encoding="utf-8")
assert source.count(declared) == 1
module = sys.modules["orchbench_analytics.profiles"] = ModuleType("orchbench_analytics.profiles")
exec(compile(source.replace(declared, added), str(path), "exec"), module.__dict__)

from orchbench_analytics import open_warehouse
from orchbench_analytics.outputs.profiles import profile_difference, profile_rules, rules_page
from tests.documents import scenario_path, write

assert "## shouting" in rules_page()
assert "shouting" in profile_rules(module.SPEC)["rule"].to_list()
assert "shouting" in profile_difference(module.SPEC, module.UPSTREAM)["rule"].to_list()
root = Path(sys.argv[1])
write(scenario_path(root / "tree"))
warehouse = open_warehouse(root / "warehouse", create=True)
warehouse.ingest(root / "tree", jobs=1)
chosen = warehouse.sql("select profile, shouting from main.profiles order by all").rows()
assert chosen == [("spec", "heard"), ("strict", "heard"), ("upstream", "ignored")], chosen
assert "shouting" in warehouse.audit(jobs=1)["rule"].to_list()
"""


def test_a_rule_is_added_in_one_place(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WITH_A_RULE_MORE, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr
