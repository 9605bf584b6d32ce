"""A picture of a terminal: commands run on a pseudo-terminal, drawn by the browser."""

from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.cli.pseudo_terminal import on_terminal

_THEME = TerminalTheme(
    (251, 250, 248),
    (31, 35, 40),
    [
        *((31, 35, 40), (179, 55, 47), (29, 122, 79), (138, 90, 0)),
        *((47, 93, 138), (125, 60, 152), (20, 120, 130), (91, 98, 112)),
    ],
)
_PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #fbfaf8; }}
header {{ padding: 10px 14px; background: #eceae5; }}
header i {{ display: inline-block;
  width: 12px; height: 12px; border-radius: 6px; margin: 0 7px 0 0 }}
pre {{ margin: 0; padding: 14px 18px; font: 15px/1.35 "DejaVu Sans Mono", monospace; }}
</style><header><i style="background:#d5705f"></i><i style="background:#e0b354"></i><i
style="background:#4d9a78"></i></header>{code}"""


def write_terminal(page: Path, commands: list[tuple[str, ...]], *, cwd: Path, columns: int) -> int:
    """Write a page that looks as a terminal does after some commands; returns its lines."""
    console = Console(record=True, width=columns, file=page.open("w"), color_system="truecolor")
    for command in commands:
        screen = on_terminal(*command, columns=columns, lines=40, cwd=cwd, NO_COLOR="")
        console.print(
            Text.assemble(("$ ", "bold green"), ("orchbench " + " ".join(command), "bold"))
        )
        console.print(Text.from_ansi(screen.text.rstrip()), soft_wrap=True)
        console.print()
    text = console.export_text(clear=False)
    drawn = "<pre>{code}</pre>"
    html = console.export_html(theme=_THEME, inline_styles=True, code_format=drawn)
    page.write_text(_PAGE.format(code=html), encoding="utf-8")
    return text.rstrip().count("\n") + 1
