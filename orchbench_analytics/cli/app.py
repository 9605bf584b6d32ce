"""How commands are declared: the program, the options they share, and the default warehouse.

Results go to stdout, messages to stderr. Exit codes: 0 done, 1 something wrong was found or
nothing was found, 2 the call was wrong, 3 undecided; beyond these, what the system did: 74 input
or output failed, 124 a query took too long, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import inspect
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypedDict

import typer
from typer.core import TyperCommand, TyperGroup

from orchbench_analytics.cli.boundary import call_of
from orchbench_analytics.errors import EngineError, OrchbenchError, PathError, SelectionError
from orchbench_analytics.paths import input_path, is_address, local_path
from orchbench_analytics.store.bucket import parse_options, use_options
from orchbench_analytics.store.mirror import root_of

if TYPE_CHECKING:
    from orchbench_analytics.engines import Engine
    from orchbench_analytics.engines.spark.engine import TaskProgress
    from orchbench_analytics.store.manifest import Manifest
    from orchbench_analytics.warehouse import Warehouse

# The commands in the order of work.
GROUPS = {
    "Fill a warehouse": ("demo", "ingest", "sources", "tag", "score", "remove"),
    "Look at scores": ("leaderboard", "show", "results", "report", "view", "figure"),
    "Tell which differences are real": ("compare", "trend", "consistency", "power", "costs"),
    "Test on fewer scenarios": ("shortlist", "predict"),
    "Query and export": ("sql", "dictionary", "export"),
    "Rules and checks": ("profile", "audit", "check"),
}
_HELP = {"help_option_names": ["-h", "--help"]}
# How typer writes a range and a name that is required.
_FROM_TO = re.compile(r"([\d.]+)<=x<=([\d.]+)")
_AT_LEAST = re.compile(r"x>=([\d.]+)")
_NO_BRACES = str.maketrans("", "", "{}")


class Groups(TyperGroup):
    """Commands in the order of work, under headings."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the order of work."""
        return [name for names in GROUPS.values() for name in names]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A section for each group."""
        widest = max(len(name) for names in GROUPS.values() for name in names)
        for heading, names in GROUPS.items():
            helps = [self.commands[name].get_short_help_str(formatter.width) for name in names]
            padded = [name.ljust(widest) for name in names]
            with formatter.section(heading):
                formatter.write_dl(list(zip(padded, helps, strict=True)))


class WarehouseCommand(TyperCommand):
    """A command whose first argument is the warehouse, unless a default is set."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default warehouse before the arguments if they do not name one."""
        is_help = any(arg in _HELP["help_option_names"] for arg in args)
        if not is_help and not ctx.resilient_parsing:  # so a shell has half a call completed
            self._refuse_repeated(ctx, args)
            if self.params and self.params[0].name == "warehouse":
                args = self._with_warehouse(ctx, args)
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The names of arguments as one types them; those in brackets may be left out."""
        return [piece.translate(_NO_BRACES) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments and options with their help, without Python's types, and ranges in words."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                name = record[0].partition(" <")[0] if is_argument else record[0]
                said = _AT_LEAST.sub(r"\1 or more", _FROM_TO.sub(r"\1 to \2", record[1]))
                sections["Arguments" if is_argument else "Options"].append((name, said))
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def _refuse_repeated(self, ctx: Any, args: list[str]) -> None:
        """Refuse an option with one value that has two, of which one would be ignored."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for name, count in Counter(option.name for option in order).items():
            option = next(p for p in self.params if p.name == name)
            takes_one = not (getattr(option, "multiple", True) or getattr(option, "is_flag", True))
            if count > 1 and takes_one:
                raise SelectionError(f"{max(option.opts, key=len)} is given twice; give it once")

    def _with_warehouse(self, ctx: Any, args: list[str]) -> list[str]:
        others = [p for p in self.params if p.param_type_name == "argument"][1:]
        given = self._positional_arguments(ctx, args)
        if given and is_warehouse(given[0]):
            self._refuse_surplus(ctx, given, given[1 + len(others) :])
            return args
        later = next(filter(is_warehouse, given[1:]), None)
        if later is not None:
            raise PathError(self._in_order(ctx, later, [g for g in given if g != later], others))
        if len(given) > len(others):
            return args
        default = default_warehouse()
        if default is not None:
            return [f"{default}", *args]
        if len(given) <= sum(parameter.required for parameter in others):
            raise PathError(f"no warehouse is given: {HOW_TO_NAME_IT}")
        return args

    def _in_order(self, ctx: Any, warehouse: str, given: list[str], others: list[Any]) -> str:
        """How the call should have been made, if the warehouse was not its first argument."""
        words = [warehouse, *given[: len(others)]]
        said = f"the warehouse comes first: {call_of(*ctx.command_path.split()[1:], *words)}"
        for extra in given[len(others) :]:
            said += f"; {extra!r} is not an argument of this command"
            said += self._as_option(extra, warehouse)
        return said

    def _refuse_surplus(self, ctx: Any, given: list[str], surplus: list[str]) -> None:
        """Refuse arguments beyond those of the command, with the option that may be meant."""
        for extra in surplus:
            raise SelectionError(
                f"{extra!r} is one argument too many{self._as_option(extra, given[0])}; "
                f"see: {ctx.command_path} --help"
            )

    def _as_option(self, extra: str, warehouse: str) -> str:
        """The option that takes a name or a file that was given as an argument, in brackets."""
        manifest = _manifest_at(local_path(warehouse))
        named = {
            "--model": _models_in(manifest),
            "--profile": _profiles_in(manifest),
            "--language": {part.language for part in manifest.parts},
        }
        for option in self.params:
            name = max(option.opts, key=len)
            is_needed_file = option.required and option.metavar == "FILE" and Path(extra).is_file()
            if name.startswith("-") and (extra in named.get(name, ()) or is_needed_file):
                return f" (did you mean {name} {extra}?)"
        return ""

    def _positional_arguments(self, ctx: Any, args: list[str]) -> list[str]:
        """What is left of the arguments without options and their values."""
        values, rest, _ = self.make_parser(ctx).parse_args(args=list(args))
        names = [p.name for p in self.params if p.param_type_name == "argument"]
        given = [values[name] for name in names if values.get(name) is not None]
        return [
            text
            for value in (*given, *rest)
            for text in (value if isinstance(value, tuple) else (value,))
        ]


def is_warehouse(path: str | Path) -> bool:
    """Whether a warehouse is at a path; an address is taken for one."""
    if is_address(path):  # nothing else that commands take may lie in a bucket
        return True
    try:
        return (local_path(path) / "manifest.json").is_file()
    except (OSError, PathError):  # such as a query that is too long for a path
        return False


app = typer.Typer(
    cls=Groups,
    help="Analytics for OrchestrationBench: from result files to Parquet, scores and SQL.",
    epilog="Start with: orchbench demo",
    no_args_is_help=True,
    context_settings=_HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def command(
    *, example: str, on: typer.Typer = app, name: str | None = None, formerly: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command with an example of its use; an earlier name still works, unlisted."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        run = _with_options_of_dataclasses(function)
        options: dict[str, Any] = {
            "cls": WarehouseCommand,
            "epilog": f"\b\nExample: {example}",
            "context_settings": _HELP,
        }
        if formerly is not None:
            on.command(formerly, hidden=True, **options)(run)
        return on.command(name, **options)(run)

    return register


def _with_options_of_dataclasses(function: Callable[..., None]) -> Callable[..., None]:
    """The function with an option for each field of its parameters that are dataclasses.

    A field is left out where the function has a parameter of that name itself. The warehouse may
    be left out of a call, which WarehouseCommand then fills in.
    """
    groups: dict[str, Callable[..., object]] = {"storage": StorageOptions}
    own = {}
    for name, parameter in _parameters(function).items():
        kind = parameter.annotation
        if isinstance(kind, type) and is_dataclass(kind):
            groups[name] = kind
        else:
            own[name] = parameter.replace(default=None) if name == "warehouse" else parameter
    options = {
        group: [p for name, p in _parameters(kind).items() if name not in own]
        for group, kind in groups.items()
    }

    @wraps(function)
    def command(**given: Any) -> None:
        made = {
            group: groups[group](**{option.name: given.pop(option.name) for option in chosen})
            for group, chosen in options.items()
        }
        del made["storage"]  # it is used as soon as it is read
        function(**given, **made)

    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in chain(own.values(), *options.values())
    ]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    vars(command)["__signature__"] = inspect.Signature(parameters)  # what typer reads
    return command


def _parameters(function: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function, eval_str=True).parameters


def _say_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        typer.echo(f"orchbench {version('orchbench-analytics')}")
        raise typer.Exit


@app.callback()
def _orchbench(
    _: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_say_version, is_eager=True),
    ] = False,
) -> None:
    """Analytics for OrchestrationBench: from result files to Parquet, scores and SQL."""


# The default warehouse

VARIABLE = "ORCHBENCH_WAREHOUSE"
FILE = "orchbench.toml"
HOW_TO_SET_IT = f'set {VARIABLE}, or write warehouse = "DIR" into {FILE}'
HOW_TO_NAME_IT = f"name the warehouse, or {HOW_TO_SET_IT}"
_LARGEST_FILE = 64 * 1024


def default_warehouse() -> Path | None:
    """The warehouse that the environment names, or a file in this directory or one above it."""
    named = os.environ.get(VARIABLE)
    if named:
        return typed_root(named)
    file = _settings_file()
    return None if file is None else _named_in(file)


def typed_root(given: str | Path) -> Path:
    """The warehouse that was typed: a directory, or a place in a bucket."""
    _use_settings(given)
    return root_of(given)


def typed_input(given: str | Path) -> str | Path:
    """The input files that were typed: a path, or an address in a bucket."""
    _use_settings(given)
    return input_path(given)


def _use_settings(given: str | Path) -> None:
    """Use the storage options of the file of settings, if what was typed lies in a bucket."""
    file = _settings_file() if is_address(given) else None
    if file is not None:
        use_options(_settings_in(file).storage | _typed_options)


_typed_options: dict[str, str] = {}


def _use_typed_options(given: list[str] | None) -> list[str] | None:
    _typed_options.clear()
    _typed_options.update(parse_options(given or ()))
    if _typed_options:
        use_options(_typed_options)
    return given


def _settings_file() -> Path | None:
    here = Path.cwd()
    files = (directory / FILE for directory in (here, *here.parents))
    return next((file for file in files if file.is_file()), None)


class Settings(NamedTuple):
    """What a file of settings says."""

    warehouse: str | None
    storage: dict[str, str]


def _settings_in(file: Path) -> Settings:
    import tomllib

    try:
        if file.stat().st_size > _LARGEST_FILE:
            raise PathError(f"{file} is larger than {_LARGEST_FILE:,} bytes")
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise PathError(f"{file} cannot be read: {error}") from error
    named, storage = content.pop("warehouse", None), content.pop("storage", {})
    if content:
        raise PathError(
            f"{file}: unknown key {next(iter(content))!r}; the keys are warehouse and storage"
        )
    if not isinstance(storage, dict) or not all(isinstance(v, str) for v in storage.values()):
        raise PathError(f'{file}: expected lines such as endpoint = "URL" below [storage]')
    return Settings(named, storage)


def _named_in(file: Path) -> Path:
    """What a file names; a relative path starts at the directory of the file."""
    named = _settings_in(file).warehouse
    if not isinstance(named, str) or not named:
        raise PathError(f'{file}: expected a line such as warehouse = "DIR"')
    if is_address(named):
        return typed_root(named)
    path = file.parent / local_path(named)
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


# Completion: what a shell offers after Tab; if anything is wrong, nothing.


def _warehouse(ctx: typer.Context) -> Path:
    """The warehouse of half a call; after an option without its value, arguments have no name."""
    named = ctx.params.get("warehouse") or next(iter(ctx.args), None) or default_warehouse()
    return typed_root(named or ".")


def _manifest_at(root: Path) -> Manifest:
    from orchbench_analytics.store.manifest import Manifest, load_manifest

    try:
        return load_manifest(root)
    except OrchbenchError:
        return Manifest()


def _models_in(manifest: Manifest) -> set[str]:
    pairs = {(part.model, part.experiment) for part in manifest.parts}
    return {*(model for model, _ in pairs), *map("/".join, pairs)}


def _profiles_in(manifest: Manifest) -> set[str]:
    from orchbench_analytics.profiles import BUILT_IN

    return {*manifest.profiles, *BUILT_IN}


def _models(ctx: typer.Context) -> Iterable[str]:
    return _models_in(_manifest_at(_warehouse(ctx)))


def _profiles(ctx: typer.Context) -> Iterable[str]:
    return _profiles_in(_manifest_at(_warehouse(ctx)))


def _tags(ctx: typer.Context) -> Iterable[str]:
    from orchbench_analytics.warehouse import open_warehouse

    tags = open_warehouse(_warehouse(ctx)).table("model_tags").collect_schema()
    return {*tags} - {"model", "experiment"}


def _tables(ctx: typer.Context) -> Iterable[str]:
    from orchbench_analytics.queries import views
    from orchbench_analytics.tables import TABLES

    return [*TABLES, *views()]


def completes(names: Callable[[typer.Context], Iterable[str]]) -> Callable[..., list[str]]:
    """A completion by the names that there are."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            return sorted(name for name in names(ctx) if name.startswith(incomplete))
        except OrchbenchError:
            return []

    return complete


complete_models = completes(_models)
complete_profiles = completes(_profiles)
complete_tags = completes(_tags)
complete_tables = completes(_tables)


# Options that several commands share: the same words, the same meaning.

WarehouseArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        parser=typed_root,
        help=f"The warehouse; not needed if {VARIABLE} or {FILE} names it.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
JobsOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Worker processes; by default as many as cores."),
]
SeedOption = Annotated[
    int, typer.Option(min=0, metavar="N", help="The same seed gives the same figures.")
]
ClustersOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        parser=local_path,
        help="CSV with language, scenario and cluster, for scenarios that go together as "
        "translations do.",
    ),
]
MetricsOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Average, Call/Reject, FC, Plan or any column; repeatable."),
]


ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        "-p",
        metavar="NAME",
        autocompletion=complete_profiles,
        help="spec (default), strict, upstream, reported, or one scored before.",
    ),
]
ModelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        "-m",
        metavar="GLOB",
        autocompletion=complete_models,
        help="Only models such as graded-*; repeatable.",
    ),
]
ExperimentsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--experiment", "-e", metavar="GLOB", help="Only experiments such as base*; repeatable."
    ),
]
LanguagesOption = Annotated[
    list[str] | None,
    typer.Option("--language", "-l", metavar="NAME", help="Only languages such as EN; repeatable."),
]


class Names(TypedDict, total=False):
    """What was chosen, as the methods of a warehouse take it."""

    models: list[str]
    experiments: list[str]
    languages: list[str]


@dataclass(frozen=True, slots=True)
class SelectionOptions:
    """The options that choose what is asked about, before anything is computed."""

    model: ModelsOption = None
    experiment: ExperimentsOption = None
    language: LanguagesOption = None

    @property
    def names(self) -> Names:
        """What was chosen."""
        return {
            "models": self.model or [],
            "experiments": self.experiment or [],
            "languages": self.language or [],
        }


@dataclass(frozen=True, slots=True)
class StorageOptions:
    """The options of buckets, which every command has; they are used before anything is opened."""

    storage_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="An option of buckets, such as endpoint=URL; repeatable.",
            hidden=True,  # docs/storage.md has it: few need it, and it would be in every help
            is_eager=True,
            callback=_use_typed_options,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """The options that say where the work runs: on this machine, or on Spark."""

    engine: Annotated[
        Literal["local", "spark"],
        typer.Option(metavar="NAME", help="Where the work runs: local or spark."),
    ] = "local"
    master: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Spark's master; by default Spark's own setting."),
    ] = None
    conf: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A setting of Spark; repeatable."),
    ] = None

    @property
    def is_local(self) -> bool:
        """Whether the work runs on this machine."""
        return self.engine == "local"

    @contextmanager
    def opened(
        self, warehouse: Path, *, create: bool = False, progress: TaskProgress | None = None
    ) -> Iterator[Warehouse]:
        """The warehouse, with its work done by the chosen engine."""
        from orchbench_analytics.warehouse import open_warehouse

        with self._running(progress) as engine:
            yield open_warehouse(warehouse, create=create, engine=engine)

    @contextmanager
    def _running(self, progress: TaskProgress | None) -> Iterator[Engine | None]:
        """The engine while it is needed; None is this machine."""
        if self.is_local:
            if self.master or self.conf:
                raise EngineError("--master and --conf are for Spark; add --engine spark")
            yield None
            return
        from orchbench_analytics.engines.spark import SparkEngine
        from orchbench_analytics.engines.spark.session import parse_conf, start_session

        session = start_session(self.master, parse_conf(self.conf or ()))
        try:
            yield SparkEngine(session, progress=progress)
        finally:
            session.stop()
