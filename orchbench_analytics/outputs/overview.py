"""A warehouse at a glance: models, languages, profiles and files."""

from __future__ import annotations

from html import escape
from pathlib import Path

from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.outputs.terminal import printable_line
from orchbench_analytics.selection import profiles_with_rows
from orchbench_analytics.store.manifest import load_manifest, row_count

_FEW = 12


def facts(root: Path) -> dict[str, str]:
    """What a warehouse holds, in words; nothing where it is not there yet."""
    try:
        manifest = load_manifest(root)
    except WarehouseError:
        return {"state": "not there yet; ingest makes it"}
    models = sorted({part.model for part in manifest.parts})
    languages = sorted({part.language for part in manifest.parts})
    return {
        "models": f"{len(models):,}" + (f" ({_few(models)})" if models else ""),
        "languages": ", ".join(languages) or "none",
        "profiles": ", ".join(profiles_with_rows(manifest)) or "none, it is not scored",
        "input files": f"{row_count(manifest, 'sources'):,}",
    }


def as_text(root: Path) -> str:
    """The warehouse in a line for each fact."""
    lines = [f"Warehouse {f'{root}'!r}"]
    lines += [f"  {name}: {printable_line(fact)}" for name, fact in facts(root).items()]
    return "\n".join(lines)


def as_html(root: Path) -> str:
    """The warehouse as a small table for notebooks."""
    left = "style='text-align:left;vertical-align:top;padding:2px 12px 2px 0'"
    rows = "".join(
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(fact)}</td></tr>"
        for name, fact in facts(root).items()
    )
    caption = f"<caption {left}>Warehouse {escape(f'{root}')}</caption>"
    return f"<table>{caption}{rows}</table>"


def _few(names: list[str]) -> str:
    more = ", …" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more
