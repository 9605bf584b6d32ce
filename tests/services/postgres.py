"""A Postgres server of its own for tests: started on a temporary directory, stopped after them."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OPTIONS = "-c listen_addresses='' -c fsync=off -c full_page_writes=off -c unix_socket_directories"


def server_programs() -> Path | None:
    """Where `initdb` and `pg_ctl` are: on the path, or where Debian puts them."""
    found = shutil.which("pg_ctl")
    if found:
        return Path(found).resolve().parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    return installed[-1].parent if installed else None


@contextmanager
def postgres_server(programs: Path) -> Iterator[str]:
    """The address of a running server; root starts it as `postgres`, since it refuses root."""
    with tempfile.TemporaryDirectory(prefix="orchbench-pg-") as name:
        directory = Path(name)
        as_user = []
        if os.geteuid() == 0:
            account = pwd.getpwnam("postgres")
            os.chown(directory, account.pw_uid, account.pw_gid)
            as_user = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}"]
            as_user.append("--clear-groups")
        data = directory / "data"

        def run(*command: str) -> None:
            subprocess.run(
                [*as_user, *command],
                check=True,
                cwd=directory,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

        initdb, control = str(programs / "initdb"), str(programs / "pg_ctl")
        run(initdb, "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"{_OPTIONS}={directory}"
        run(control, "-D", str(data), "-w", "-l", str(directory / "log"), "-o", options, "start")
        try:
            yield f"postgresql://postgres@/postgres?host={directory}"
        finally:
            run(control, "-D", str(data), "-m", "immediate", "stop")
