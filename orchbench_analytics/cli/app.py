"""What all commands share: the program, how it ends, how a command is declared, and options.

Results go to stdout, messages to stderr. Exit codes: 0 done, 1 something wrong was found or
nothing was found, 2 the call was wrong, 3 undecided; beyond these, what the system did: 74 input
or output failed, 124 a query took too long, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import errno
import inspect
import os
import re
import shlex
import signal
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, is_dataclass
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    NoReturn,
    TypedDict,
)

import typer
from typer.core import TyperCommand, TyperGroup

from orchbench_analytics.errors import (
    EngineError,
    NoAnswersError,
    OrchbenchError,
    PathError,
    QueryTimeout,
    SelectionError,
    Unreachable,
)
from orchbench_analytics.outputs import terminal
from orchbench_analytics.outputs.terminal import printable
from orchbench_analytics.outputs.write import (
    EXTENSIONS,
    PAPER,
    Format,
    require_writable,
    write_rows,
)
from orchbench_analytics.paths import input_path, is_address, local_path
from orchbench_analytics.store.bucket import parse_options, use_options
from orchbench_analytics.store.mirror import root_of

if TYPE_CHECKING:
    import polars as pl

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
_COMMANDS = [name for names in GROUPS.values() for name in names]
_HELP = {"help_option_names": ["-h", "--help"]}
# How typer writes a range and a name that is required.
_FROM_TO = re.compile(r"([\d.]+)<=x<=([\d.]+)")
_AT_LEAST = re.compile(r"x>=([\d.]+)")
_NO_BRACES = str.maketrans("", "", "{}")
FOUND_WRONG = 1
WRONG_CALL = 2
UNDECIDED = 3
TIMED_OUT = 124  # as of timeout(1)
IO_ERROR = 74  # as in sysexits.h
INTERRUPTED = 130
TERMINATED = 143
# What typer raises for an option or argument that is wrong; it has no public name of its own.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
_SAID = {
    errno.ENOSPC: "the disk is full; what was there before is untouched",
    errno.EDQUOT: "the disk quota is used up; what was there before is untouched",
    errno.EFBIG: "a file may not grow so large here (ulimit -f, or the file system)",
    errno.EMFILE: "too many open files (ulimit -n)",
    errno.EROFS: "the file system is read-only",
    errno.ENOMEM: "out of memory",
}
# How libraries put that into words; SQLite has words of its own, and so has polars where the end
# of a Parquet file no longer fits.
_WRAPPED = {os.strerror(number): said for number, said in _SAID.items()} | {
    "database or disk is full": _SAID[errno.ENOSPC],
    "disk I/O error": "a file could not be read or written: disk I/O error",
    "Invalid thrift: transport error": "a file could not be read or written to its end",
}

# What pydantic finds wrong with a number.
_EXPECTED = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
}
_CLOSE = 0.8  # of 1: how like an option's name another one must be to be suggested
_STOPPED = "orchbench: interrupted; what was finished before is kept"
_SECONDS_TO_IMPORT = 0.02  # of CPU time, until the next look
_interrupts: list[int] = []  # the signals of Ctrl-C that came since the command began
_NOTHING_FITS = "nothing matches what was asked for"


def main() -> None:
    """Run the command line; a wrong call ends with a sentence, not a traceback."""
    # Our matrices are small: several threads of BLAS would wait for each other most of the time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    asked = [name for name in sys.argv[1:2] if name in _COMMANDS]
    run_guarded(lambda: program(*asked)(prog_name="orchbench", standalone_mode=False))


def program(*names: str) -> typer.Typer:
    """The program with the commands named, or with all of them: each registers itself."""
    for name in names or _COMMANDS:
        import_module(f"orchbench_analytics.cli.{name}")
    return app


# Messages, and how a command ends


def say(text: str) -> None:
    """Write a message to stderr; lines fit the terminal, and control characters are shown."""
    lines = printable(text).splitlines() or [""]
    if terminal.is_terminal(sys.stderr):
        lines = [part for line in lines for part in _wrapped(line)]
    try:
        print("\n".join(lines), file=sys.stderr)
    except (OSError, ValueError, AttributeError):  # there is no reader
        return


def call_of(*words: object) -> str:
    """A call of this program as one types it, with quotes where they are needed."""
    return shlex.join(["orchbench", *map(format, words)])


def _wrapped(line: str) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(
        line,
        terminal.width(),
        subsequent_indent=indent if line[:1] == " " else "",
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


class _Terminated(BaseException):
    """The process was asked to end."""


def run_guarded(run: Callable[[], object]) -> NoReturn:
    """Run a command and end the process; whatever happens is a sentence and an exit code."""
    _prepare()
    try:
        code = _code_of(run)
        sys.stdout.flush()
        _ignore_interrupts()
        code = INTERRUPTED if _interrupts else code  # a library may have swallowed it
    except QueryTimeout as error:
        code = _ended(str(error), TIMED_OUT)
    except NoAnswersError as error:
        code = _ended(str(error), FOUND_WRONG)
    except Unreachable as error:
        code = _ended(str(error), IO_ERROR)
    except OrchbenchError as error:
        code = _ended(str(error), WRONG_CALL)
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        _drop_output()
        code = 0
    except (KeyboardInterrupt, typer.Abort):
        code = _ended("interrupted", INTERRUPTED)
    except _Terminated:
        code = _ended("terminated", TERMINATED)
    except UnicodeEncodeError as error:
        code = _ended(
            f"standard output cannot hold {error.object[error.start]!r}: its encoding is "
            f"{error.encoding}; set PYTHONIOENCODING=utf-8, or name a file with --output",
            IO_ERROR,
        )
    except UnicodeDecodeError as error:
        code = _ended(f"the input is not UTF-8 text: {error}", WRONG_CALL)
    except MemoryError:
        code = _ended("out of memory", IO_ERROR)
    except OSError as error:
        code = _ended(_system_said(error), IO_ERROR)
    except Exception as error:  # each library has its own for what the system refused it
        if _interrupts:  # an import or a callback made another error of Ctrl-C
            code = INTERRUPTED
        elif isinstance(error, AttributeError | ValueError) and _is_closed(sys.stdout):
            code = _ended("standard output is closed", IO_ERROR)
        elif (wrapped := _wrapped_in(error)) is not None:
            code = _ended(wrapped, IO_ERROR)
        else:
            raise
    if code == INTERRUPTED:
        say(_STOPPED)
    _ignore_interrupts()
    sys.exit(code)


def _code_of(run: Callable[[], object]) -> int:
    """The exit code of a command."""
    try:
        result = run()
    except _UsageError as error:
        return _wrong_usage(error)
    except SystemExit as error:  # what typer makes of a reader that has seen enough
        if isinstance(error.__context__, BrokenPipeError):
            raise error.__context__ from None
        raise
    return result if isinstance(result, int) else 0


def _prepare() -> None:
    """End on Ctrl-C and SIGTERM as on an error, so that temporary files are removed."""
    _interrupts.clear()
    signal.signal(signal.SIGINT, _interrupt)
    if hasattr(signal, "SIGTERM"):
        signal.signal(signal.SIGTERM, _terminate)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End the command; if asked twice, at once and without removing temporary files."""
    is_again = bool(_interrupts)
    _interrupts.append(number)
    if is_again:
        os.write(2, f"{_STOPPED}\n".encode())  # standard error, as it is
        os._exit(INTERRUPTED)
    _stop_when_imported(number, frame)


def forget_interrupts() -> None:
    """Let a command go on after Ctrl-C, as a prompt does."""
    _interrupts.clear()


def _stop_when_imported(_: int, frame: FrameType | None) -> None:
    """End the command as soon as no library is being imported.

    Libraries swallow an exception that comes while they are imported, or abort the process.
    """
    if _is_importing(frame) and hasattr(signal, "setitimer"):
        signal.signal(signal.SIGVTALRM, _stop_when_imported)
        signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS_TO_IMPORT)
        return
    raise KeyboardInterrupt


def _ignore_interrupts() -> None:
    """Let nothing interrupt the end of a command that is done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated


def _ended(text: str, code: int) -> int:
    if code != INTERRUPTED:
        say(f"orchbench: {text}")
    if code in (IO_ERROR, TERMINATED):
        _drop_output()
    return code


def _wrong_usage(error: Exception) -> int:
    """What typer found wrong with the call, and where to read how it is made."""
    message = getattr(error, "format_message", lambda: str(error))()
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        say(message)
        return WRONG_CALL
    message = _wrong_number(error) or _wrong_option(error) or message.replace("Value error, ", "")
    called = [word for word in sys.argv[1:2] if not word.startswith("-")]
    command = context.command_path if context is not None else " ".join(["orchbench", *called])
    say(f"orchbench: {message[:1].lower()}{message[1:]}")
    say(f"see: {command} --help")
    return WRONG_CALL


def _wrong_number(error: Exception) -> str | None:
    """What is wrong with a number, by what pydantic found, which checks values for typer."""
    found: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    option = getattr(error, "param", None)
    if option is None or not found or found[0]["type"] not in _EXPECTED:
        return None
    given, limits = str(found[0]["input"]), found[0].get("ctx", {})
    expected = _EXPECTED[found[0]["type"]].format(**limits)
    if given.endswith("%"):
        with suppress(ValueError):
            expected += f"; {given} is {float(given[:-1]) / 100:g}"
    return f"{max(option.opts, key=len)} {given}: expected {expected}"


def _wrong_option(error: Exception) -> str | None:
    """Which option is not there, and which may be meant."""
    name, known = getattr(error, "option_name", None), getattr(error, "possibilities", None)
    if not known:
        return None
    close = get_close_matches(name, known, n=1, cutoff=_CLOSE)
    return f"no such option: {name}" + (f"; did you mean {close[0]}?" if close else "")


def _system_said(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    said = _SAID.get(error.errno or 0) or error.strerror or str(error)
    return f"{where}{said}"


def _wrapped_in(error: Exception) -> str | None:
    """What the system said, if a library put it into an error of its own."""
    return next((said for words, said in _WRAPPED.items() if words in str(error)), None)


def _drop_output() -> None:
    """Let nothing that is still in a buffer raise at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # there is no output to drop
        return


def _is_closed(stream: object) -> bool:
    return stream is None or bool(getattr(stream, "closed", False))


# How commands are declared


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
    if given:
        _typed_options.update(parse_options(given))
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
    typer.Option(
        min=1, metavar="N", help="Processes that do the work; by default one for each core."
    ),
]
SeedOption = Annotated[
    int, typer.Option(min=0, metavar="N", help="The same seed gives the same figures.")
]
ClustersOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        parser=local_path,
        help="CSV with language, scenario and cluster: scenarios that belong together, as "
        "translations do.",
    ),
]
MetricsOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Average, Call/Reject, FC, Plan or any column; repeatable."),
]


def profile_option(meaning: str) -> Any:
    """The option that names a profile, which means something else in some commands."""
    return typer.Option(
        "--profile", "-p", metavar="NAME", autocompletion=complete_profiles, help=meaning
    )


ProfileOption = Annotated[
    str | None,
    profile_option("spec (default), strict, upstream, reported, or one scored before."),
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


# Rows: the options of every command that writes them, and what they do


@dataclass(frozen=True, slots=True)
class RowOptions:
    """In which order rows come out, how many, how, and where to."""

    sort: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Sort by a column; -COLUMN puts the largest first."),
    ] = None
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="At most N rows.")
    ] = None
    all: Annotated[bool, typer.Option("--all", help="All rows, however many.")] = False
    wide: Annotated[bool, typer.Option("--wide", help="All columns, however wide.")] = False
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="table, markdown or latex to read; csv, json, jsonl, xlsx or parquet unrounded.",
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            parser=local_path,
            help="New file; .csv, .json, .jsonl, .md, .tex, .xlsx or .parquet gives the format.",
        ),
    ] = None

    mark: ClassVar[str] = "--"  # what wide and all begin with

    def __post_init__(self) -> None:
        """Refuse an output that cannot be written, before any work is done."""
        if self.output is not None:
            require_writable(self.output)
        _ = self.wanted_format

    @property
    def wanted_format(self) -> Format:
        """The format in which rows are written: the option and the file's extension must agree."""
        if self.output is None:
            return self.format or "table"
        wanted = EXTENSIONS.get(self.output.suffix.lower(), self.format)
        if wanted is None:
            known = ", ".join(EXTENSIONS)
            raise PathError(
                f"{self.output}: the extension does not name a format; use one of {known}, or give "
                "--format"
            )
        if self.format not in (None, wanted):
            raise PathError(
                f"{self.output} and --format {self.format} disagree; leave one of them out"
            )
        return wanted

    @property
    def is_screen(self) -> bool:
        """Whether the rows go to standard output as a table for people to read."""
        return self.output is None and self.wanted_format == "table"

    @property
    def is_short(self) -> bool:
        """Whether people read the rows, and did not ask for all columns."""
        return self.wanted_format in ("table", *PAPER) and not self.wide

    def write(
        self,
        frame: pl.DataFrame,
        *,
        is_verbatim: bool = False,
        is_prose: bool = False,
        may_be_empty: bool = False,
        about: Callable[[], str] = str,
        lacking: str = _NOTHING_FITS,
    ) -> pl.DataFrame:
        """Write the wanted rows, with their columns in the order that they have; return the rows.

        Where people read, `is_verbatim` keeps the names of columns, and prose has sentences in its
        last column. No rows end the command with exit code 1 and what is lacking, unless there may
        be none. `about` gives what the caption of a table for papers says of the sweep.
        """
        from orchbench_analytics.outputs.screen import (
            first_in_order,
            named_contenders,
            show_table,
        )

        is_nothing = frame.is_empty() and not may_be_empty
        is_named, is_screen = self.is_short and not is_verbatim, self.is_screen
        wanted = first_in_order(frame, sort=self.sort, limit=self.limit)
        shown = named_contenders(wanted, among=frame) if is_named else wanted
        if not is_screen:
            write_rows(
                [shown],
                format=self.wanted_format,
                output=self.output,
                is_verbatim=is_verbatim,
                is_whole=self.wide,
                about=about() if self.wanted_format in PAPER else "",
            )
        elif not is_nothing:
            show_table(
                shown,
                is_wide=self.wide,
                is_whole=self.all or self.limit is not None or is_prose,
                is_verbatim=is_verbatim,
                is_prose=is_prose,
                mark=self.mark,
            )
        if is_nothing:
            say_no_rows(lacking)
        return wanted


def about_sweep(
    opened: Warehouse, profile: str | None, languages: Sequence[str] | None = None
) -> str:
    """What a caption says of the rows under a profile: scenarios, runs and languages."""
    import polars as pl

    from orchbench_analytics.outputs.paper import about_sweep

    rows = opened.table("scenario_scores").filter(profile=opened.profile(profile).name)
    if languages:
        rows = rows.filter(pl.col("language").is_in(list(languages)))
    return about_sweep(rows.select("language", "scenario", "run_count").collect())


def say_no_rows(lacking: str = _NOTHING_FITS) -> NoReturn:
    """End a command that found nothing."""
    say(f"no rows: {lacking}")
    raise typer.Exit(FOUND_WRONG)
