"""2,000 randomly corrupted documents: no crash, no refused neighbour, one row for each file."""

import json
import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.documents import judge_log, results_document, run, runs_document, write
from tests.warehouses import fresh_contents, ingest, rows

BATCHES = 8
CORRUPTED_PER_BATCH = 250
NEIGHBOURS = ("aaa", "mmm", "zzz")

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 7, 2**63, 2**64, 2**70, 10**400, 1.5, 1e308),
    *(float("nan"), float("inf"), "", "text", "workflow_1", "workflow_1:\n - [", "\ud800", "\x00"),
    *("가", "=cmd()", [], {}, [[]], [None], {"": None}, {"a": {"a": {"a": 1}}}, [[[[[[]]]]]]),
)


def parents(value: Any) -> list[Any]:
    """Every object and list in a document that has something in it."""
    found = []
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict | list) and current:
            found.append(current)
            waiting += current.values() if isinstance(current, dict) else current
    return found


def pick(random: random.Random, document: Any) -> tuple[Any, Any]:
    """A random place: the object or list, and the key or index in it."""
    parent = random.choice(parents(document))
    return parent, random.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))


def swap_type(random: random.Random, document: Any) -> bytes:
    for _ in range(random.randint(1, 4)):
        parent, key = pick(random, document)
        parent[key] = deepcopy(random.choice(ODD_VALUES))
    return json.dumps(document).encode()


def delete(random: random.Random, document: Any) -> bytes:
    for _ in range(random.randint(1, 4)):
        parent, key = pick(random, document)
        del parent[key]
        if not document:
            break
    return json.dumps(document).encode()


def move(random: random.Random, document: Any) -> bytes:
    """Put a copy of one part in the place of another."""
    source, key = pick(random, document)
    copy = json.loads(json.dumps(source[key]))
    target, place = pick(random, document)
    target[place] = copy
    return json.dumps(document).encode()


def repeat(random: random.Random, document: Any) -> bytes:
    """Write a key of some object twice, or a stretch of bytes."""
    data = json.dumps(document).encode()
    start = random.randrange(len(data))
    end = random.randint(start, min(len(data), start + 400))
    return data[:end] + data[start:end] + data[end:]


def flip_bytes(random: random.Random, document: Any) -> bytes:
    data = bytearray(json.dumps(document, ensure_ascii=random.random() < 0.5).encode())
    for _ in range(random.randint(1, 8)):
        data[random.randrange(len(data))] = random.randrange(256)
    return bytes(data)


def swap_signs(random: random.Random, document: Any) -> bytes:
    """Change what JSON is made of, so that its structure is another."""
    data = bytearray(json.dumps(document).encode())
    signs = [i for i, byte in enumerate(data) if byte in b'[]{}:,"\\']
    for index in random.sample(signs, random.randint(1, 3)):
        data[index] = random.choice(b'[]{}:,"\\ 0')
    return bytes(data)


def truncate(random: random.Random, document: Any) -> bytes:
    data = json.dumps(document, ensure_ascii=random.random() < 0.5).encode()
    return data[: random.randrange(len(data))]


def drop_bytes(random: random.Random, document: Any) -> bytes:
    data = json.dumps(document).encode()
    start = random.randrange(len(data))
    return data[:start] + data[start + random.randint(1, 200) :]


def nest(random: random.Random, document: Any) -> bytes:
    """Put brackets nested deep in some place."""
    parent, key = pick(random, document)
    parent[key] = "HERE"
    depth = random.choice((90, 101, 500, 950, 980, 1000, 20_000))
    brackets = b"[" * depth + b"]" * depth
    return json.dumps(document).encode().replace(b'"HERE"', brackets, 1)


def encode_otherwise(random: random.Random, document: Any) -> bytes:
    text = json.dumps(document, ensure_ascii=False)
    return text.encode(random.choice(("utf-16", "utf-16-le", "utf-8-sig", "utf-32", "cp949")))


CORRUPTIONS: tuple[Callable[[random.Random, Any], bytes], ...] = (
    swap_type, swap_type, swap_type, delete, move, repeat, flip_bytes, swap_signs, truncate,
    drop_bytes, nest, encode_otherwise,
)  # fmt: skip


def kinds(number: int) -> tuple[Path, Any]:
    """Where a document of one of the kinds goes, and what it is before it is corrupted."""
    directory = Path("m/exp")
    match number % 5:
        case 0:
            log = Path("llm_evaluation_logs_EN") / f"{number}_out_trial_run #1.json"
            return directory / log, judge_log()
        case 1:
            return Path(f"model {number}-result.json"), results_document()
        case _:
            korean = runs_document({"run #1": run(), "run #2": run(), "실행": run()})
            return directory / f"step_wise_evaluation_EN/m/{number}_out.json", korean


def write_neighbours(tree: Path) -> None:
    for name in NEIGHBOURS:
        write(tree / f"m/exp/step_wise_evaluation_EN/m/{name}_out.json")
        write(tree / f"m/exp/llm_evaluation_logs_EN/{name}_out_trial_run #1.json", judge_log())


@pytest.mark.parametrize("seed", range(BATCHES))
def test_corrupted_documents_cost_themselves_at_most(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    tree = tmp_path / "tree"
    write_neighbours(tree)
    alone = fresh_contents(tmp_path / "alone", tree)
    for number in range(CORRUPTED_PER_BATCH):
        path, document = kinds(number)
        write(tree / path, chance.choice(CORRUPTIONS)(chance, document))

    ingest(tmp_path / "warehouse", tree, jobs=1)

    sources = rows(tmp_path / "warehouse", "sources")
    files = sorted(str(path) for path in tree.rglob("*.json"))
    assert sources["path"].sort().to_list() == files
    assert len(files) == CORRUPTED_PER_BATCH + 2 * len(NEIGHBOURS)
    for table in ("scenarios", "steps", "plans", "judgements"):
        beside = rows(tmp_path / "warehouse", table).filter(pl.col("scenario").is_in(NEIGHBOURS))
        assert beside.equals(alone[table])
    refused = sources.filter(pl.col("status") == "refused")
    assert refused["reason"].null_count() == refused["message"].null_count() == 0
    assert 0 < len(refused) < CORRUPTED_PER_BATCH
    noted = sources.filter(pl.col("status") == "taken", pl.col("reason").is_not_null())
    assert noted["message"].null_count() == 0
    assert len(noted) > 0
