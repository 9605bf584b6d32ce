"""A real pseudo-terminal to run commands on."""

import os
import pty
import struct
import sys
import termios
from fcntl import ioctl
from pathlib import Path
from typing import NamedTuple

MAIN = "from orchbench_analytics.cli import main; main()"


class Screen(NamedTuple):
    returncode: int
    text: str


def on_terminal(
    *arguments: object,
    columns: int = 80,
    lines: int = 24,
    cwd: Path | None = None,
    typed: str = "",
    **environment: str,
) -> Screen:
    """Run a command on a terminal of its own; what is typed is there from the start."""
    process, terminal = pty.fork()
    if process == 0:
        ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if cwd is not None:
            os.chdir(cwd)
        known = {"TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[2])}
        variables = {**os.environ, **known, "NO_COLOR": "1", **environment}
        variables.pop("COLUMNS", None)
        variables.pop("LINES", None)
        os.execvpe(sys.executable, [sys.executable, "-c", MAIN, *map(str, arguments)], variables)
    if typed:
        os.write(terminal, typed.encode())
    received = read_to_end(terminal)
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    return Screen(os.waitstatus_to_exitcode(status), received.decode().replace("\r\n", "\n"))


def read_to_end(terminal: int) -> bytes:
    """Everything that comes out of a terminal until its other end is closed."""
    received = bytearray()
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        received += chunk
    return bytes(received)
