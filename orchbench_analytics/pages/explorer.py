"""The explorer: the page of a report on loopback, its pieces made when they are asked for.

Whoever reads it knows the random token in its address. A request with another Host or Origin is
refused, so that no other page of the browser can use it. Nothing is ever written to the warehouse.

A page belongs to a snapshot, one manifest of the warehouse: all its pieces fit together, whatever
is ingested meanwhile. The address without a snapshot leads to the newest.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import socket
import tempfile
import webbrowser
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import msgspec
import polars as pl
import polars.selectors as cs
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchbench_analytics.engines import Local
from orchbench_analytics.errors import OrchbenchError, PathError, QueryError
from orchbench_analytics.outputs.dictionary import table_entries, view_entries
from orchbench_analytics.outputs.write import flat, texts_of
from orchbench_analytics.pages.columns import columns_of, packed
from orchbench_analytics.pages.news import SourceTree
from orchbench_analytics.pages.page import page_text, piece_script, policy_of
from orchbench_analytics.pages.report import (
    ReportOptions,
    chosen_source,
    make_report,
    rules_piece,
    section_names,
    section_piece,
)
from orchbench_analytics.pages.sections import compared_pair
from orchbench_analytics.pages.shards import shards
from orchbench_analytics.pages.source import Source
from orchbench_analytics.queries import views
from orchbench_analytics.store.manifest import Manifest, load_manifest
from orchbench_analytics.views.sandbox import Sandbox

LOOPBACK = "127.0.0.1"
QUERY_SECONDS = 60.0
MOST_ROWS = 1_000  # of a query on the page; its CSV file has all
_MOST_QUERIES = 2  # at once; others wait
_MOST_KEPT = 64  # pieces of single models and pairs, in memory
_LONGEST_QUERY = 100_000
_LARGEST_INTEGER = 2**53  # that JavaScript holds exactly
_SECONDS_TO_END = 1  # for answers under way when the explorer ends
MOST_FOUND = 200  # answers of a search
_SHORTEST_SEARCH = 2
# The answers that have the text, in order, with what stands before and after its first place.
SEARCH = f"""
with answers as (
    select 'step' as unit, model, experiment, language, scenario, run, step_id,
        concat_ws(chr(10), answer_content, answer_calls) as answer
    from main.steps
    union all
    select 'plan', model, experiment, language, scenario, run, step_id, answer_content
    from main.plans
),
found as (
    select *, count(*) over () as found_count
    from answers
    where regexp_matches(answer, $pattern)
    order by model, experiment, language, scenario, run, step_id, unit
    limit {MOST_FOUND}
),
parted as (
    select * exclude (answer), regexp_extract(answer, $around, ['before', 'found', 'after']) as part
    from found
)
select * exclude (part), part.before, part.found, part.after
from parted
order by model, experiment, language, scenario, run, step_id, unit
"""
_HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
# What no page needs that is not a page; a page has a policy of its own.
_CLOSED = "default-src 'none'; frame-ancestors 'none'; sandbox"


class Snapshot:
    """A page of the warehouse as one manifest has it; each piece is made once, when asked for."""

    def __init__(self, name: str, source: Source, options: ReportOptions) -> None:
        self.name, self.source, self.options = name, source, options
        self._pieces: dict[str, str] = {}
        self._locks: dict[str, Lock] = {}
        self._is_closed = False

    @cached_property
    def tree(self) -> SourceTree:
        """The directories of its files, which the first screen does not need."""
        return SourceTree(self.source.root, self.source.manifest)

    def close(self) -> None:
        """Wait for what is being made: a thread at work when Python ends would abort it."""
        self._is_closed = True
        for lock in list(self._locks.values()):
            with lock:
                pass

    @contextmanager
    def making(self, name: str) -> Iterator[None]:
        """Make something, one thread at a time, unless the explorer ends."""
        with self._locks.setdefault(name, Lock()):
            if self._is_closed:
                raise OrchbenchError("the explorer has ended")
            yield

    def piece(self, name: str) -> str:
        """A piece, packed as a report packs it; KeyError if there is none of that name."""
        with self.making(name):
            if name not in self._pieces:
                self._pieces[name] = packed(self._make(name))
                kept = [n for n in self._pieces if n.startswith(("model-", "pair-"))]
                for other in kept[:-_MOST_KEPT]:
                    self._pieces.pop(other, None)
            return self._pieces[name]

    def _make(self, name: str) -> Any:
        if name == "core":
            live = {"seconds": QUERY_SECONDS, "most_rows": MOST_ROWS, "snapshot": self.name}
            return section_piece(self.source, name, self.options) | {"live": live}
        if name in section_names(self.source):
            return section_piece(self.source, name, self.options)
        if name == "catalog":
            return catalog()
        if name == "labels":
            return self._labelled().labels()["text"].to_list()
        if name == "rules" and self.options.with_rules:
            with Local() as engine:
                return rules_piece(self.source, engine)
        if pair := re.fullmatch(r"pair-(\d+)-(\d+)", name):
            first, second = (self._models()[f"model-{number}"] for number in pair.groups())
            if first == second:
                raise KeyError(name)
            return compared_pair(self.source, first, second)
        number = self._models()[name]
        one = self._labelled().some([number])
        return next(iter(shards(one, first=number, answer_limit=self.options.answer_limit)))[1]

    def _models(self) -> dict[str, int]:
        return {f"model-{number}": number for number in range(len(self.source.models))}

    def _labelled(self) -> Source:
        """The source, with the texts of labels written once."""
        with self.making("texts of labels"):
            if not self.source.is_gathered:
                self.source.gather()
        return self.source


class Explorer:
    """A warehouse that people look at, by snapshots, queries and searches."""

    def __init__(self, root: Path, options: ReportOptions, scratch: Path) -> None:
        self.root, self.options, self.scratch = root, options, scratch
        self._snapshots: dict[str, Snapshot] = {}
        self._lock = Lock()
        self._queries = asyncio.Semaphore(_MOST_QUERIES)
        self._sandboxes = [Sandbox()]  # starts while the page is drawn

    def close(self) -> None:
        """End the process that waits for the next query, and wait for what is being made."""
        while self._sandboxes:
            self._sandboxes.pop().close()
        for snapshot in list(self._snapshots.values()):
            snapshot.close()

    def newest(self) -> Snapshot:
        """The snapshot of the manifest that the warehouse has now."""
        manifest = load_manifest(self.root)
        name = _name_of(manifest)
        with self._lock:
            if name not in self._snapshots:
                directory = self.scratch / name
                directory.mkdir(exist_ok=True)
                source = chosen_source(self.root, manifest, self.options, directory)
                self._snapshots[name] = Snapshot(name, source, self.options)
            return self._snapshots[name]

    def snapshot(self, name: str) -> Snapshot | None:
        """A snapshot that some page has, if it is of this explorer."""
        return self._snapshots.get(name)

    def news(self, seen: str) -> dict[str, Any]:
        """Whether a page is of an older manifest, and which files no ingest has read."""
        newest = self.newest()
        files = newest.tree.new_files()
        said = None
        if files:
            what = "1 new file is" if len(files) == 1 else f"{len(files):,} new files are"
            said = (
                f"{what} not in the warehouse yet, such as {Path(files[0]).name}. "
                "To read them: orchbench ingest"
            )
        return {"is_changed": newest.name != seen, "note": said}

    async def frames(
        self, query: str, request: Request, **options: Any
    ) -> AsyncGenerator[pl.DataFrame]:
        """The rows of a query in a sandbox, which ends when the browser no longer waits.

        Options are those of `Sandbox.frames`.
        """
        async with self._queries:
            with self._sandbox() as sandbox:
                frames = sandbox.frames(self.root, query, timeout=QUERY_SECONDS, **options)
                watch = asyncio.create_task(_close_when_gone(request, sandbox))
                try:
                    with closing(frames):
                        async for frame in iterate_in_threadpool(frames):
                            yield frame
                finally:
                    watch.cancel()

    @contextmanager
    def _sandbox(self) -> Iterator[Sandbox]:
        sandbox = self._sandboxes.pop() if self._sandboxes else Sandbox()
        self._sandboxes.append(Sandbox())  # starts while the next query is typed
        with sandbox:
            yield sandbox


async def _close_when_gone(request: Request, sandbox: Sandbox) -> None:
    while not await request.is_disconnected():
        await asyncio.sleep(0.2)
    sandbox.stop()


def _name_of(manifest: Manifest) -> str:
    return f"{manifest.generation}-{manifest.checksum[:12]}"


def catalog() -> dict[str, Any]:
    """Every table and view with its columns, for people who write a query."""
    rows = [
        (entry.table.name, entry.meaning, column.name, column.description)
        for entry in (*table_entries(), *view_entries(sorted(views())))
        for column in entry.table.columns
    ]
    names = ["relation", "meaning", "column", "description"]
    return {"columns_known": columns_of(pl.DataFrame(rows, schema=names, orient="row"))}


def explorer_app(explorer: Explorer, *, token: str, host: str) -> Starlette:
    """The routes of an explorer, all of them below its token."""

    def to_newest(_: Request) -> Response:
        return RedirectResponse(f"/{token}/{explorer.newest().name}/")

    def with_snapshot(answer: Callable[[Snapshot, Request], Response]) -> Callable[..., Response]:
        def answered(request: Request) -> Response:
            snapshot = explorer.snapshot(request.path_params["snapshot"])
            return to_newest(request) if snapshot is None else answer(snapshot, request)

        return answered

    async def sql(request: Request) -> Response:
        query = (await request.body()).decode("utf-8", "replace")
        return _rows(await _first_rows(explorer.frames(_checked(query), request)))

    async def csv(request: Request) -> Response:
        query = _checked(request.query_params.get("query", ""))
        frames = explorer.frames(query, request)
        first = await anext(frames)  # an error before the first row is an answer of its own

        async def texts() -> AsyncIterator[str]:
            async with aclosing(frames):
                yield next(iter(texts_of([first], "csv")))
                async for frame in frames:
                    yield "".join(texts_of([frame], "csv")).split("\n", 1)[1]

        return StreamingResponse(texts(), media_type="text/csv", headers=_download("query.csv"))

    async def search(request: Request) -> Response:
        wanted = search_parameters(request.query_params.get("text", ""))
        if wanted is None:
            return _rows((pl.DataFrame(), False))
        scope = explorer.newest().source.own_scope
        frames = explorer.frames(SEARCH, request, parameters=wanted, scope=scope)
        return _rows(await _first_rows(frames, most=MOST_FOUND))

    async def news(request: Request) -> Response:
        seen = request.query_params.get("snapshot", "")
        return _json(await run_in_threadpool(explorer.news, seen))

    below_snapshot = [
        Route("/", with_snapshot(_page)),
        Route("/pieces/{name}.js", with_snapshot(_piece)),
        Route("/report.html", with_snapshot(_report)),
    ]
    routes = [
        Route("/", to_newest),
        Route("/news", news),
        Route("/search", search),
        Route("/sql", sql, methods=["POST"]),
        Route("/sql.csv", csv),
        Mount("/{snapshot}", routes=below_snapshot),
    ]
    app = Starlette(
        routes=[Mount(f"/{token}", routes=routes)],
        exception_handlers={OrchbenchError: _wrong, KeyError: _missing},
    )
    app.add_middleware(Guard, token=token, host=host)
    return app


class Guard:
    """What every request must have, and what every answer says to the browser."""

    def __init__(self, app: ASGIApp, *, token: str, host: str) -> None:
        self.app, self.token = app, token
        port = host.rpartition(":")[2]
        self.hosts = {host, f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request from elsewhere, or pass it on."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {"content-security-policy": _CLOSED, **_HEADERS}.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self.app)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self.hosts:
            return PlainTextResponse("this explorer does not answer to that host", 421)
        if origin is not None and origin != f"http://{host}":
            return PlainTextResponse("another site may not use this explorer", 403)
        given = scope["path"].split("/")[1]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return PlainTextResponse("open the address that orchbench view printed", 403)
        return None


def _page(snapshot: Snapshot, _: Request) -> Response:
    """The page without any piece, so that it is there at once."""
    text = page_text({}, title=snapshot.options.title, may_load=True, may_ask=True)
    policy = policy_of(may_load=True, may_ask=True)
    headers = {"content-security-policy": f"{policy}; frame-ancestors 'none'"}
    return HTMLResponse(text, headers=headers)


def _piece(snapshot: Snapshot, request: Request) -> Response:
    name = request.path_params["name"]
    text = piece_script(name, snapshot.piece(name))
    return Response(text, media_type="text/javascript")


def _report(snapshot: Snapshot, _: Request) -> Response:
    """The offline file of what is shown, however large."""
    directory = tempfile.TemporaryDirectory(dir=snapshot.source.directory)
    target = Path(directory.name) / "report.html"
    options = snapshot.options._replace(largest_page=2**63)
    root, manifest = snapshot.source.root, snapshot.source.manifest
    try:
        with snapshot.making("report"), Local() as engine:
            made = make_report(root, manifest, target, options, engine)
    except BaseException:
        directory.cleanup()
        raise
    return FileResponse(
        made.page,
        media_type="text/html",
        headers=_download(f"{root.name}-report.html"),
        background=BackgroundTask(directory.cleanup),
    )


def search_parameters(text: str) -> dict[str, str] | None:
    """The parameters of the search for a text in any case; none if it is too short to search."""
    wanted = re.escape(text.strip())
    if len(text.strip()) < _SHORTEST_SEARCH:
        return None
    return {"pattern": f"(?i){wanted}", "around": f"(?is)(.{{0,80}})({wanted})(.{{0,160}})"}


async def _first_rows(
    frames: AsyncGenerator[pl.DataFrame], *, most: int = MOST_ROWS
) -> tuple[pl.DataFrame, bool]:
    """The first rows, and whether there are more; no more are asked for than that takes."""
    found: list[pl.DataFrame] = []
    count = 0
    async with aclosing(frames):
        async for frame in frames:
            found.append(frame)
            count += frame.height
            if count > most:
                break
    return pl.concat(found).head(most), count > most


def _rows(found: tuple[pl.DataFrame, bool]) -> Response:
    """Rows as JSON; what JavaScript does not hold exactly goes as text."""
    frame, is_cut = found
    is_small = frame.select(cs.integer().cast(pl.Int128).abs().max() <= _LARGEST_INTEGER)
    large = [name for name in is_small.columns if is_small[name].item() is False]
    shown = flat(frame).with_columns(
        cs.decimal().cast(pl.Float64),
        (cs.boolean() | cs.temporal() | cs.binary() | cs.by_name(large)).cast(pl.String),
    )
    return _json({"rows": columns_of(shown, is_exact=True), "is_cut": is_cut})


def _checked(query: str) -> str:
    if not query.strip():
        raise QueryError("type a query, such as: from main.leaderboard")
    if len(query) > _LONGEST_QUERY:
        raise QueryError(f"a query has at most {_LONGEST_QUERY:,} characters")
    return query


def _wrong(_: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 400)


def _missing(_: Request, error: Exception) -> Response:
    return PlainTextResponse(f"there is no piece {error}", 404)


def _json(value: object) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def _download(name: str) -> dict[str, str]:
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return {"content-disposition": f'attachment; filename="{plain}"'}


def serve(
    root: Path, options: ReportOptions, *, port: int, announce: Callable[[str], object], opens: bool
) -> None:
    """Serve an explorer until Ctrl-C; `announce` is called with its address when it listens."""
    with _listening(port) as listener, tempfile.TemporaryDirectory(prefix="orchbench-") as scratch:
        host = f"{LOOPBACK}:{listener.getsockname()[1]}"
        token = secrets.token_urlsafe(16)
        explorer = Explorer(root, options, Path(scratch))
        with closing(explorer):
            first = explorer.newest()
            Thread(target=_prepare, args=(first,), daemon=True).start()
            address = f"http://{host}/{token}/"
            announce(address)
            if opens:
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()
            config = uvicorn.Config(
                explorer_app(explorer, token=token, host=host),
                access_log=False,
                lifespan="off",
                log_level="warning",
                server_header=False,
                timeout_graceful_shutdown=_SECONDS_TO_END,
            )
            uvicorn.Server(config).run(sockets=[listener])


def _prepare(snapshot: Snapshot) -> None:
    """Make the first screen while the browser starts; who asks for it hears of an error."""
    with suppress(OrchbenchError):
        for name in ("core", "board-0"):
            snapshot.piece(name)


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """A socket that only this machine reaches; 0 is any free port."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
        except OSError as error:
            raise PathError(f"port {port} cannot be used: {error.strerror}") from error
        listener.listen()
        yield listener
