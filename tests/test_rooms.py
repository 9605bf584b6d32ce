"""Rooms: a module imports only from rooms further up the house."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "orchbench_analytics"

# From the ground up: a room may import from the layers before its own, and from its own package.
# A name ending in a dot stands for all rooms of a package.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "schema", "texts"),
    ("tables.", "profiles", "metrics", "demo.", "paths"),
    ("queries", "store."),
    ("selection",),
    ("stats.",),
    ("views.",),
    ("engines.",),
    ("ingest.", "score.", "exports."),
    ("outputs.",),
    ("pages.",),
    ("changes",),
    ("warehouse",),
    ("cli.", "__init__", "notebook"),
    ("__main__",),
)


def modules() -> list[str]:
    paths = (path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py"))
    return sorted(".".join(path.parts) for path in paths)


def layer_of(module: str) -> int:
    """The layer of a room, or of the package it is in."""
    package = module.split(".")[0] + "."
    found = [n for n, layer in enumerate(LAYERS) if module in layer or package in layer]
    assert len(found) == 1, f"{module}: say in LAYERS where it belongs, once"
    return found[0]


def imported(module: str) -> Iterator[str]:
    """The rooms that a module imports, at its top or inside its functions."""
    path = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith(f"{PACKAGE.name}."):
                yield room_of(name.removeprefix(f"{PACKAGE.name}."))


def room_of(name: str) -> str:
    """The module that `module.name` is in."""
    parts = name.split(".")
    while parts:
        path = PACKAGE.joinpath(*parts)
        if path.with_suffix(".py").exists():
            return ".".join(parts)
        if (path / "__init__.py").exists():
            return ".".join([*parts, "__init__"])
        parts.pop()
    return "__init__"


@pytest.mark.parametrize("module", modules())
def test_imports_run_one_way(module: str) -> None:
    layer = layer_of(module)
    own_package = module.split(".")[0] if "." in module else None
    for other in imported(module):
        is_own_package = own_package is not None and other.split(".")[0] == own_package
        assert is_own_package or layer_of(other) < layer, f"{module} imports {other}"


def test_every_room_of_the_plan_is_there() -> None:
    there = {module.split(".")[0] + ("." if "." in module else "") for module in modules()}

    assert {name for layer in LAYERS for name in layer} == there
