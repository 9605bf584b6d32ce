"""What a command tells people, on stderr, and how it ends: a message and an exit code."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import sys
import textwrap
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import typer

from orchbench_analytics.errors import (
    NoAnswersError,
    OrchbenchError,
    QueryTimeout,
    Unreachable,
)
from orchbench_analytics.outputs import terminal
from orchbench_analytics.outputs.terminal import printable
from orchbench_analytics.store.manifest import naming_damage

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


_STOPPED = "orchbench: interrupted; what was finished before is kept"
_SECONDS_TO_IMPORT = 0.02  # of CPU time, until the next look
_interrupts: list[int] = []  # the signals of Ctrl-C that came since the command began


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
    """The exit code of a command; a wrong call is not looked into for a damaged warehouse."""
    with naming_damage(*map(Path, sys.argv[1:])):
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
