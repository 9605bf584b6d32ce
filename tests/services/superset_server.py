"""A real Superset for tests: its own environment, a fresh metadata database, asked over REST."""

import json
import os
import secrets
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

_CONFIG = """
SECRET_KEY = {secret!r}
SQLALCHEMY_DATABASE_URI = "sqlite:///{directory}/superset.db"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
"""
USER, PASSWORD = "admin", "admin"
_ADMIN = ("fab", "create-admin", "--username", USER, "--password", PASSWORD)
_NAMES = ("--firstname", "a", "--lastname", "b", "--email", "a@example.org")
_PATIENCE = 180.0


class Superset:
    """A running Superset, spoken to as its administrator."""

    def __init__(self, address: str) -> None:
        self.address = address
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(cookies)
        self._token = ""

    def log_in(self) -> None:
        who = {"username": USER, "password": PASSWORD, "provider": "db"}
        self._token = self.post("/api/v1/security/login", who)["access_token"]

    def get(self, path: str) -> Any:
        return self._ask(path, None, {})

    def post(self, path: str, content: Any) -> Any:
        return self._ask(path, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def upload(self, path: str, field: str, file: Path, **values: str) -> Any:
        """Send a file as a form does."""
        mark = secrets.token_hex(16)
        disposition = "Content-Disposition: form-data; name="
        parts = [
            f'--{mark}\r\n{disposition}"{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in values.items()
        ]
        named = f'{disposition}"{field}"; filename="{file.name}"'
        kind = "Content-Type: application/zip"
        parts.append(f"--{mark}\r\n{named}\r\n{kind}\r\n\r\n".encode() + file.read_bytes())
        body = b"".join(parts) + f"\r\n--{mark}--\r\n".encode()
        return self._ask(path, body, {"Content-Type": f"multipart/form-data; boundary={mark}"})

    def _ask(self, path: str, body: bytes | None, headers: dict[str, str]) -> Any:
        if self._token:
            headers = {**headers, "Authorization": f"Bearer {self._token}"}
        request = urllib.request.Request(self.address + path, body, headers)
        try:
            with self._opener.open(request, timeout=_PATIENCE) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.code} {error.read().decode()[:2000]}") from error


@contextmanager
def superset_server(program: Path, directory: Path) -> Iterator[Superset]:
    """A Superset that runs until the block ends."""
    config = directory / "superset_config.py"
    secret = secrets.token_hex(32)
    config.write_text(_CONFIG.format(secret=secret, directory=directory), encoding="utf-8")
    environment = {
        **os.environ,
        "SUPERSET_CONFIG_PATH": str(config),
        "SUPERSET_HOME": str(directory),
        "FLASK_APP": "superset",
        "PYTHONPATH": "",
    }
    for command in (("db", "upgrade"), (*_ADMIN, *_NAMES), ("init",)):
        subprocess.run(
            [str(program), *command],
            env=environment,
            cwd=directory,
            check=True,
            capture_output=True,
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(program), "run", "-p", str(port), "--with-threads"],
            env=environment,
            cwd=directory,
            stdout=log,
            stderr=log,
        )
    try:
        served = Superset(f"http://127.0.0.1:{port}")
        _wait(served, process)
        served.log_in()
        yield served
    finally:
        process.terminate()
        process.wait()


def _wait(superset: Superset, process: subprocess.Popen[bytes]) -> None:
    """Wait until it answers."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError("Superset ended before it answered")
        try:
            with urllib.request.urlopen(f"{superset.address}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError("Superset did not answer")
