"""Nested values as YAML text, the way the benchmark's labels are written."""

import json
import re
from collections.abc import Iterator, Mapping

PLAIN = re.compile(r"[A-Za-z]\w*", re.ASCII)
RESERVED = {"yes", "no", "true", "false", "null", "on", "off", "y", "n"}


def to_yaml(value: Mapping[str, object]) -> str:
    """Write a mapping as block YAML, with texts in double quotes unless they are single words."""
    return "\n".join(_lines(value, ""))


def _lines(value: object, pad: str) -> Iterator[str]:
    match value:
        case dict() if value:
            for key, inner in value.items():
                if isinstance(inner, dict | list) and inner:
                    yield f"{pad}{key}:"
                    yield from _lines(inner, pad + "  ")
                else:
                    yield f"{pad}{key}: {_scalar(inner)}"
        case list() if value:
            for item in value:
                first, *rest = _lines(item, pad + "  ")
                yield f"{pad}- {first[len(pad) + 2 :]}"
                yield from rest
        case _:
            yield pad + _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in RESERVED:
        return value
    return json.dumps(value, ensure_ascii=False)
