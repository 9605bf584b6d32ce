"""The documentation site builds without a warning, and every link and picture leads somewhere."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

ROOT = Path(__file__).parents[1]
_TARGET = re.compile(r'(?:href|src)="([^"]*)"')
_ID = re.compile(r'\bid="([^"]*)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("material") is None or find_spec("mkdocstrings") is None:
        pytest.skip("the extra [docs] is not installed; `make docs` installs it")
    directory = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(directory)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return directory


def targets(page: Path) -> Iterator[str]:
    """What a page links to or shows; a link within the theme's scripts does not count."""
    yield from _TARGET.findall(page.read_text(encoding="utf-8"))


def pages(site: Path) -> list[Path]:
    return [path for path in site.rglob("*.html") if path.name != "404.html"]


def test_every_link_leads_somewhere(site: Path) -> None:
    ids = {page: set(_ID.findall(page.read_text(encoding="utf-8"))) for page in pages(site)}
    broken = []
    for page in ids:
        for target in targets(page):
            parts = urlsplit(target)
            if parts.scheme or target.startswith("//"):
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            is_lost = parts.fragment and path in ids and unquote(parts.fragment) not in ids[path]
            if not path.exists() or is_lost:
                broken.append(f"{page.relative_to(site)}: {target}")
    assert broken == []


def test_constants_are_in_the_files_that_the_statistics_name() -> None:
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if re.search(r"\.py`.*\|", line)]
    named = [
        (re.findall(r"`(_?[A-Z_]+)`", row[1]), re.findall(r"`(\w+\.py)`", row[3])) for row in rows
    ]
    stats = ROOT / "orchbench_analytics" / "stats"
    assert any(names for names, _ in named)
    for names, files in named:
        text = "".join((stats / file).read_text(encoding="utf-8") for file in files)
        assert [name for name in names if name not in text] == []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loading = re.compile(
        r'<(?:script|img|iframe)[^>]+src="(?:https?:)?//|<link[^>]+stylesheet[^>]+//'
    )
    assert [p.name for p in pages(site) if loading.search(p.read_text(encoding="utf-8"))] == []


def test_every_page_is_in_the_navigation(site: Path) -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:", 1)[1]
    named = set(re.findall(r"[\w/-]+\.md", str(yaml.safe_load(f"nav:{nav}"))))
    assert {str(p.relative_to(site).with_suffix(".md")) for p in pages(site)} == named


def test_the_reference_has_every_command_and_method(site: Path) -> None:
    from orchbench_analytics.cli.app import GROUPS

    text = (site / "reference/commands.html").read_text(encoding="utf-8")
    missing = [n for names in GROUPS.values() for n in names if f"orchbench {n}" not in text]
    assert missing == []
    python = (site / "reference/python.html").read_text(encoding="utf-8")
    assert "orchbench_analytics.warehouse.Warehouse.compare" in python


def test_what_a_method_returns_is_one_item(site: Path) -> None:
    python = (site / "reference/python.html").read_text(encoding="utf-8")
    returned = re.findall(r"Returns:</span></p>(.*?)</ul>", python, re.DOTALL)
    assert returned
    assert {items.count("<li") for items in returned} == {1}
