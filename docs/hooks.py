"""Pages of the site that are made from the code and from files beside `docs/`, when it is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from orchbench_analytics.cli import program
from orchbench_analytics.outputs.dictionary import dictionary

ROOT = Path(__file__).parents[1]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the pictures that pages show."""
    pages = {
        "reference/commands.md": commands(),
        "reference/tables.md": _one_title(dictionary(), "Tables and views"),
        "reference/rules.md": _read("orchbench_analytics/RULES.md"),
        "reference/changelog.md": _read("CHANGELOG.md"),
        "developing.md": f"{_read('CONTRIBUTING.md')}\n{_deeper(_read('RELEASING.md'))}",
    }
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    for picture in (ROOT / "tests/services/pictures").glob("*.png"):
        name = f"pictures/{picture.name}"
        files.append(File.generated(config, name, abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Let links that lead to files of the repository lead to their pages."""
    if page.file.src_uri == "statistics.md":  # its tables need the room, and it lists its contents
        page.meta["hide"] = ["toc"]
    up = "../" * page.file.src_uri.count("/")
    for old, new in (
        (r"\]\((?:\.\./)*sql/DICTIONARY\.md", f"]({up}reference/tables.md"),
        (r"\]\((?:\.\./)*RELEASING\.md\)", f"]({up}developing.md#releasing)"),
        (r"\]\((?:\.\./)*tests/services/pictures/", f"]({up}pictures/"),
        (r"\]\(docs/", f"]({up}"),
    ):
        markdown = re.sub(old, new, markdown)
    return markdown


def commands() -> str:
    """Every command with its arguments and options, as the program itself explains them."""
    root = typer.main.get_command(program())
    head = (
        "# Commands\n\n"
        "Results go to stdout, messages to stderr. Exit codes: 0 all went well, 1 something wrong "
        "was found or a gate was crossed, 2 the call was wrong, 3 a gate is undecided, 124 a query "
        "took too long. `DIR` may be left out if `ORCHBENCH_WAREHOUSE` or `orchbench.toml` names "
        "it.\n\n"
    )
    return head + "\n".join(_command(name, found) for name, found in _all(root, "orchbench"))


def _all(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, found in sorted(group.commands.items()):
        if found.hidden:
            continue
        if hasattr(found, "commands"):
            yield from _all(found, f"{path} {name}")
        else:
            yield f"{path} {name}", found


def _command(name: str, command: Any) -> str:
    words = [f"## {name}", command.help or ""]
    example = (command.epilog or "").replace("\b", "").strip().removeprefix("Example: ")
    if example:
        words.append(f"```\n{example}\n```")
    rows = [
        f"| {_names(parameter)} | {_cell(getattr(parameter, 'help', None) or '')} |"
        for parameter in command.params
        if not getattr(parameter, "hidden", False) and parameter.name != "help"
    ]
    if rows:
        words.append("\n".join(["| argument or option | meaning |", "|---|---|", *rows]))
    return "\n\n".join(words) + "\n"


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    value = "" if parameter.is_flag else f" {parameter.metavar or ''}"
    return f"`{', '.join([*parameter.opts, *parameter.secondary_opts])}{value}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _one_title(text: str, title: str) -> str:
    """A text with one title; its parts are one level deeper."""
    return f"# {title}\n" + _deeper(text.split("\n", 1)[1])


def _deeper(text: str) -> str:
    return re.sub(r"^#", "##", text, flags=re.MULTILINE)


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")
