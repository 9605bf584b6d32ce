"""What a reader walks through: the functions of a command, in the order of their first calls.

`python -m tests.benchmarks.walks compare DIR A B` prints them by module, and how many functions,
modules and switches from one module to another there are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from inspect import CO_NEWLOCALS, CO_OPTIMIZED
from itertools import groupby, pairwise
from pkgutil import walk_packages
from types import FrameType
from typing import NamedTuple

import orchbench_analytics
from orchbench_analytics.cli import main

_PACKAGE = orchbench_analytics.__name__
_OF_FUNCTIONS = CO_OPTIMIZED | CO_NEWLOCALS  # classes and modules lack one of them


class Step(NamedTuple):
    """A function that was called for the first time."""

    module: str
    function: str


@contextmanager
def first_calls() -> Iterator[list[Step]]:
    """The functions of the package that are called from here on, each once."""
    steps: dict[Step, None] = {}
    walked: list[Step] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code, module = frame.f_code, frame.f_globals.get("__name__", "")
        is_function = code.co_flags & _OF_FUNCTIONS == _OF_FUNCTIONS and code.co_name[0] != "<"
        if event == "call" and is_function and module.startswith(_PACKAGE):
            steps[Step(module.removeprefix(f"{_PACKAGE}."), code.co_qualname)] = None

    sys.setprofile(note)
    try:
        yield walked
    finally:
        sys.setprofile(None)
        walked += steps


def report(walked: list[Step]) -> str:
    """The steps by module, and what they add up to."""
    modules = {step.module for step in walked}
    switches = sum(one.module != other.module for one, other in pairwise(walked))
    groups = groupby(walked, key=lambda step: step.module)
    lines = [f"{module}: {', '.join(step.function for step in steps)}" for module, steps in groups]
    found = f"{len(walked)} functions, {len(modules)} modules, {switches} switches"
    return "\n".join([*lines, found])


if __name__ == "__main__":
    for found in walk_packages(orchbench_analytics.__path__, f"{_PACKAGE}."):
        if not found.name.endswith("__main__"):
            with suppress(ImportError):  # an extra is missing
                import_module(found.name)  # what imports call is not part of the walk
    sys.argv[0] = "orchbench"
    with first_calls() as walked, suppress(SystemExit):
        main()
    print(report(walked), file=sys.stderr)
