"""The commands of `profile`: list, show, diff, new."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchbench_analytics.cli.app import RowOptions, app, command, say
from orchbench_analytics.errors import PathError
from orchbench_analytics.paths import local_path

profile = typer.Typer(
    help="List, show, compare or write sets of scoring rules.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(profile, name="profile", epilog="\b\nExample: orchbench profile diff upstream spec")
ProfileArgument = Annotated[
    str, typer.Argument(metavar="PROFILE", help="spec, strict, upstream, or a .toml file.")
]


@command(on=profile, name="list", example="orchbench profile list")
def list_profiles(*, rows: RowOptions) -> None:
    """List the built-in profiles, and in how many rules each differs from spec."""
    from orchbench_analytics.outputs.profiles import profile_list

    rows.write(profile_list(), is_prose=True)


@command(on=profile, name="show", example="orchbench profile show upstream")
def show_profile(name: ProfileArgument, *, rows: RowOptions) -> None:
    """Show every rule, what a profile chooses, and what it means."""
    from orchbench_analytics.outputs.profiles import profile_rules
    from orchbench_analytics.profiles import load_profile

    rows.write(profile_rules(load_profile(name)), is_prose=True)


@command(on=profile, name="diff", example="orchbench profile diff upstream spec")
def diff_profiles(first: ProfileArgument, second: ProfileArgument, *, rows: RowOptions) -> None:
    """Show the rules in which two profiles differ."""
    from orchbench_analytics.outputs.profiles import profile_difference
    from orchbench_analytics.profiles import load_profile

    differing = profile_difference(load_profile(first), load_profile(second))
    rules = "1 rule differs" if differing.height == 1 else f"{differing.height} rules differ"
    say(f"{rules} between {first} and {second}")
    if differing.height or not rows.is_screen:
        rows.write(differing, is_prose=True, may_be_empty=True)


@command(on=profile, name="new", example="orchbench profile new mine.toml --base strict")
def new_profile(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", parser=local_path, help="A .toml file to write.")
    ],
    base: Annotated[
        str, typer.Option(metavar="NAME", help="The built-in profile to start from.")
    ] = "spec",
) -> None:
    """Write a file of rules, each with its choices, to change."""
    from orchbench_analytics.outputs.profiles import profile_file
    from orchbench_analytics.outputs.write import write_file
    from orchbench_analytics.profiles import BUILT_IN

    if file.suffix != ".toml":
        raise PathError(f"{file}: a profile is a .toml file")
    if base not in BUILT_IN:
        raise PathError(f"--base {base!r}: expected one of {', '.join(BUILT_IN)}")
    write_file(file, profile_file(BUILT_IN[base], name=file.stem).encode())
    say(f"{file} is written; change it, then: orchbench score DIR --profile {file}")
