"""The page as files: one HTML file, or a directory whose pieces are loaded as scripts."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_STATIC = Path(__file__).parent / "static"
STYLES = ("page.css",)
# The order in which the page's script is put together; a file uses those before it.
SCRIPTS = (
    "pieces.js",
    "addresses.js",
    "elements.js",
    "words.js",
    "tables.js",
    "charts.js",
    "plan_picture.js",
    "shards.js",
    "leaderboard.js",
    "model.js",
    "scenario.js",
    "step.js",
    "compare.js",
    "sections.js",
    "consistency.js",
    "rules.js",
    "scenarios.js",
    "routes.js",
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>This report is drawn by its own script; please allow it to run.</noscript>
<div id="page"></div>
"""
_PIECE = '<script type="text/plain" data-piece="{name}">{text}</script>\n'
_END = "<script>{script}</script>\n</body>\n</html>\n"


def write_page(target: Path, pieces: Mapping[str, str], *, title: str) -> None:
    """Write everything into one file."""
    with target.open("w", encoding="utf-8") as file:
        file.write(_head(title, may_load=False))
        for name, text in pieces.items():
            file.write(_PIECE.format(name=name, text=text))
        file.write(_END.format(script=script()))


def page_text(pieces: Mapping[str, str], *, title: str, scripts: Sequence[str]) -> str:
    """A page of its own, with another script than the report's."""
    inside = (_PIECE.format(name=name, text=text) for name, text in pieces.items())
    end = _END.format(script=script(scripts))
    return "".join([_head(title, may_load=False, scripts=scripts), *inside, end])


def write_directory(target: Path, core: str, *, title: str) -> None:
    """Write the page of a directory; its other pieces are files below `pieces`."""
    with (target / "index.html").open("w", encoding="utf-8") as file:
        file.write(_head(title, may_load=True))
        file.write(_PIECE.format(name="core", text=core))
        file.write(_END.format(script=script()))


def piece_script(name: str, text: str) -> str:
    """A piece as a script, since a page from a file may load scripts and nothing else."""
    return f'takePiece("{name}","{text}");\n'


def script(names: Sequence[str] = SCRIPTS) -> str:
    """The page's script, in a scope of its own."""
    body = "\n".join(_read(name) for name in names)
    return f'"use strict";\n(() => {{\n{body}\n}})();'


def style() -> str:
    """The page's style sheet."""
    return "\n".join(_read(name) for name in STYLES)


def policy(*, may_load: bool, scripts: Sequence[str] = SCRIPTS) -> str:
    """What the page may do: run its own script, and of a directory what that script loads."""
    allowed = [_hash(script(scripts))] + (["'strict-dynamic'"] if may_load else [])
    rules: Iterable[tuple[str, str]] = (
        ("default-src", "'none'"),
        ("script-src", " ".join(allowed)),
        ("style-src", _hash(style())),
        ("img-src", "data:"),
        ("base-uri", "'none'"),
        ("form-action", "'none'"),
    )
    return "; ".join(f"{name} {value}" for name, value in rules)


def _head(title: str, *, may_load: bool, scripts: Sequence[str] = SCRIPTS) -> str:
    allowed = policy(may_load=may_load, scripts=scripts)
    return _PAGE.format(policy=allowed, title=html.escape(title), style=style())


def _read(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
