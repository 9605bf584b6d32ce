"""The page: its HTML, with the pieces of data inside, or beside it as scripts that it loads."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Mapping, Sequence
from pathlib import Path

_STATIC = Path(__file__).parent / "static"
# The order in which the page's script is put together; a file uses those before it.
SCRIPTS = (
    "figures.js",
    "differences.js",
    "copies.js",
    "data.js",
    "addresses.js",
    "elements.js",
    "tables.js",
    "charts.js",
    "plan_picture.js",
    "board.js",
    "model.js",
    "step.js",
    "compare.js",
    "sections.js",
    "live.js",
    "routes.js",
)
# How the last line of a page and of a script says that it is unchanged.
PAGE_COMMENT = "<!-- {} -->"
SCRIPT_COMMENT = "// {}"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="orchbench-analytics report">
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
<div id="page"><p class="waiting" role="status">Reading the results …</p></div>
{pieces}<script>{script}</script>
</body>
</html>
"""
_PIECE = '<script type="text/plain" data-piece="{name}">{text}</script>\n'


def page_text(
    pieces: Mapping[str, str],
    *,
    title: str,
    scripts: Sequence[str] = SCRIPTS,
    may_load: bool = False,
    may_ask: bool = False,
) -> str:
    """A page with pieces inside; one that may load finds more of them below `pieces`.

    One that may ask has a server behind it.
    """
    script, style = _script(scripts), _read("page.css")
    inside = (_PIECE.format(name=name, text=text) for name, text in pieces.items())
    return _PAGE.format(
        policy=policy_of(scripts, may_load=may_load, may_ask=may_ask),
        title=html.escape(title),
        style=style,
        pieces="".join(inside),
        script=script,
    )


def piece_script(name: str, text: str) -> str:
    """A piece as a script, since a page from a file may load scripts and nothing else."""
    return f'takePiece("{name}","{text}");\n'


def _script(names: Sequence[str]) -> str:
    """The page's script, in a scope of its own."""
    body = "\n".join(_read(name) for name in names)
    return f'"use strict";\n(() => {{\n{body}\n}})();'


def policy_of(
    scripts: Sequence[str] = SCRIPTS, *, may_load: bool = False, may_ask: bool = False
) -> str:
    """What a page may do: run its own script, load what that loads, and ask its own server."""
    rules = {
        "default-src": "'none'",
        "script-src": _hash(_script(scripts)) + (" 'strict-dynamic'" if may_load else ""),
        "style-src": _hash(_read("page.css")),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if may_ask:
        rules["connect-src"] = "'self'"
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _read(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
