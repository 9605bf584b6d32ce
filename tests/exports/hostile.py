"""Texts of models that some format cannot carry, or some program would run."""

from typing import Any

LONG = "x" * 40_000
TEXTS = (
    "a\0b",
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tx",
    LONG,
    "😀" * 20_000,
    "esc \x1b[31m",
    "\u202eright to left",
    'quote " comma , line\nend',
    "",
    "_x0041_",
)


def without_nul(text: str) -> str:
    return text.replace("\0", "�")


def defused(text: str) -> str:
    return f"'{text}" if text[:1] in set("=+-@\t\r") and text else text


def cut(text: str) -> str:
    """A text as Excel can hold it."""
    text = without_nul(text)
    if len(text.encode("utf-16-le")) // 2 <= 32_767:
        return text
    astral = sum(ord(c) > 0xFFFF for c in text[:32_766])
    return text[: 32_766 - astral] + "…"


def answers(rows: list[dict[str, Any]]) -> list[Any]:
    """The answers to the first step, by scenario."""
    first = [row for row in rows if row["step_id"] == "3"]
    return [row["answer_content"] for row in sorted(first, key=lambda row: int(row["scenario"]))]
