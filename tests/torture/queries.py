"""Hostile queries: each is over soon after its timeout, and within a gigabyte of memory."""

import random
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.processes import ORCHBENCH
from tests.sample_sweep import build_demo
from tests.torture.figures import Campaign

MEMORY_GB = 0.2
_TIMEOUT = 5.0
_GRACE_SECONDS = 5.0
_MOST_BYTES = 10**9
_HUNG_SECONDS = 120
_EXPECTED_CODES = (0, 2, 124)
_FORMATS = ("csv", "jsonl", "json", "table", "markdown")
# {t} is the common table expression before: each level doubles what is planned or computed.
_DOUBLINGS = (
    "select * from {t} union all select * from {t}",
    "select a.x from {t} as a join {t} as b using (x)",
    "select a.x from {t} as a, {t} as b",
    "select (select max(x) from {t}) + (select min(x) from {t}) as x",
    "select x from {t} where x in (select x from {t})",
    "select x + count(*) over () as x from (from {t} union all from {t})",
)
# {n} is a large number.
_EXPRESSIONS = (
    "list_distinct(range({n}))",
    "list_sort(range({n}))",
    "list_transform(range({n}), lambda x: repeat('x', 1000))",
    "range({n})",
    "repeat('x', {n})",
    "len(repeat('x', {n}) || repeat('y', {n}))",
    "levenshtein(repeat('a', {n}), repeat('b', {n}))",
    "regexp_replace(repeat('ab', {n}), '(a|b)+', 'c', 'g')",
    "string_split(repeat('a,', {n}), ',')",
    "unnest(range({n}))",
    "list_sum([x for x in range({n})])",
    "md5(repeat('x', {n}))",
    "array_to_string(range({n}), ',')",
    "cast(range({n}) as varchar)",
)
_TABLES = (
    "select count(*) from range({n}), range({n})",
    "select i % {n}, count(*) from range(100 * {n}) as rows(i) group by all",
    "select sum(i) over (order by hash(i)) from range({n}) as rows(i)",
    "select i, repeat('x', 100) || i as x from range({n}) as rows(i) order by hash(i)",
    "select string_agg(repeat('x', 1000), '') from range({n})",
    "select json_group_array(i) from range({n}) as rows(i)",
    "select list(i) from range({n}) as rows(i)",
    "select histogram(i) from range({n}) as rows(i)",
    "with recursive t as (select 1 as x union all select x + 1 from t) select count(*) from t",
    "with recursive t as (select 'x' as x union all select x || x from t) select len(x) from t",
    "from range({n})",
    "pivot (select i % 100000 as i from range({n}) as rows(i)) on i using count(*)",
    "select a.model from main.steps as a, main.steps as b, main.steps as c order by hash(a.step)",
)


class Tried(NamedTuple):
    """How long a query took, the most memory it had, and what is wrong with how it ended."""

    seconds: float
    megabytes: float
    faults: list[str]


def hostile_queries(count: int, *, seed: int) -> list[str]:
    """Queries that would take hours or all memory, of every kind in turn."""
    chance = random.Random(seed)
    kinds = (_doubling, _expression, _table, _deep)
    return [kinds[number % len(kinds)](chance) for number in range(count)]


def _doubling(chance: random.Random) -> str:
    form = chance.choice(_DOUBLINGS)
    kept = chance.choice(("", "not materialized ", "materialized "))
    levels = [
        f"t{level} as {kept}({form.format(t=f't{level - 1}')})"
        for level in range(1, chance.randrange(16, 32))
    ]
    return f"with t0 as (select 1 as x), {', '.join(levels)} select count(*) from t{len(levels)}"


def _number(chance: random.Random) -> int:
    return int(10 ** chance.uniform(6, 10))


def _expression(chance: random.Random) -> str:
    return f"select {chance.choice(_EXPRESSIONS).format(n=_number(chance))} as x"


def _table(chance: random.Random) -> str:
    return chance.choice(_TABLES).format(n=_number(chance))


def _deep(chance: random.Random) -> str:
    """A query whose text is deep or long."""
    depth = int(10 ** chance.uniform(2, 4.5))
    return chance.choice(
        (
            "select " + "(" * depth + "1" + ")" * depth,
            "select " + "[" * depth + "]" * depth,
            "select 1 where " + " and ".join(["1 = 1"] * depth),
            "select " + " + ".join(["1"] * depth),
            "select 1 in (" + ", ".join(map(str, range(depth))) + ")",
            "from " + "(from " * depth + "range(1)" + ")" * depth,
            "select " + "case when true then " * depth + "1" + " end" * depth,
            "select " + ", ".join(f"{number} as c{number}" for number in range(depth)),
        )
    )


def try_query(
    warehouse: Path,
    query: str,
    *,
    timeout: float = _TIMEOUT,
    grace: float = _GRACE_SECONDS,
    written_as: str = "csv",
) -> Tried:
    """Ask `orchbench sql` a query, and watch how it ends."""
    limits = ("--timeout", str(timeout), "--memory", str(MEMORY_GB), "--format", written_as)
    began, peak = time.monotonic(), 0
    started = subprocess.Popen(
        [*ORCHBENCH, "sql", str(warehouse), "-", *limits],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with started:
        started.stdin.write(query.encode())
        started.stdin.close()
        while started.poll() is None and time.monotonic() < began + _HUNG_SECONDS:
            peak = max(peak, _memory(started.pid))
            time.sleep(0.02)
        started.kill()
        said = started.stderr.read().decode()
    seconds = time.monotonic() - began
    wrong = {
        f"took {seconds:.1f} s": seconds > timeout + grace,
        f"took {peak / 10**6:.0f} MB": peak > _MOST_BYTES,
        f"ended with {started.returncode}: {said}": started.returncode not in _EXPECTED_CODES,
        f"said {said}": "Traceback" in said,
    }
    faults = [f"{what}: {query[:300]}" for what, is_wrong in wrong.items() if is_wrong]
    return Tried(seconds, peak / 10**6, faults)


def _memory(pid: int) -> int:
    """The resident memory of a process and those it started."""
    total = 0
    try:
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            total += each.memory_info().rss
    except psutil.Error:  # one has just ended
        return total
    return total


def ask_hostile(campaign: Campaign, path: Path, chance: random.Random) -> None:
    """Ask one hostile query after another, in all formats that are text."""
    build_demo(path / "demo")
    for query in hostile_queries(campaign.wanted, seed=chance.randrange(2**32)):
        if not campaign.goes_on:
            return
        written_as = chance.choice(_FORMATS)
        tried = try_query(path / "demo" / "warehouse", query, written_as=written_as)
        for fault in tried.faults:
            campaign.fail(f"{written_as}: {fault}")
        campaign.done += 1
        campaign.counts[written_as] += 1
        for most, figure in (("longest, ms", tried.seconds * 1000), ("most, MB", tried.megabytes)):
            campaign.counts[most] = max(campaign.counts[most], round(figure))
        if campaign.done % 25 == 0:
            campaign.note()
