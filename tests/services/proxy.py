"""A proxy before a store that counts requests and, if asked to, is as bad as a network can be."""

from __future__ import annotations

import http.client
import random
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

FAULTS = ("fails", "throttles", "is late", "breaks off", "loses the answer", "resets")
LATE_SECONDS = 6.0  # twice what a client waits; a busy machine may need a second itself


class Proxy(ThreadingHTTPServer):
    """Forwards each request to a port of this machine; with `fault_rate` some go wrong."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, target: int, *, fault_rate: float = 0.0, seed: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target, self.fault_rate = target, fault_rate
        self.random, self.lock = random.Random(seed), Lock()
        self.requests: Counter[str] = Counter()
        self.gets: list[str] = []
        self.faults: Counter[str] = Counter()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is part of the game."""

    def count(self, method: str, path: str) -> str | None:
        """Count a request; returns what is to go wrong with it."""
        with self.lock:
            is_list = method == "GET" and ("list-type=" in path)
            self.requests["LIST" if is_list else method] += 1
            if method == "GET" and not is_list:
                self.gets.append(path)
            if self.random.random() >= self.fault_rate:
                return None
            fault = self.random.choice(FAULTS)
            self.faults[fault] += 1
            return fault

    def forget(self) -> None:
        with self.lock:
            self.requests.clear()
            self.gets.clear()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def log_message(self, *_: object) -> None:
        pass

    def _forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.server.count(self.command, self.path)
        if fault == "fails":
            return self._answer(500, [], b"<Error><Code>InternalError</Code></Error>")
        if fault == "throttles":
            return self._answer(503, [], b"<Error><Code>SlowDown</Code></Error>")
        if fault == "resets":
            return self._cut()
        connection = http.client.HTTPConnection("127.0.0.1", self.server.target, timeout=60)
        connection.request(self.command, self.path, body, dict(self.headers.items()))
        answer = connection.getresponse()
        content = answer.read()
        headers = [(k, v) for k, v in answer.getheaders() if k.lower() not in _OWN]
        length = answer.getheader("Content-Length")
        connection.close()
        if fault == "loses the answer":
            return self._cut()
        if fault == "is late":
            time.sleep(LATE_SECONDS)
        is_broken = fault == "breaks off"
        return self._answer(answer.status, headers, content, length=length, is_broken=is_broken)

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _forward  # noqa: N815 (as the library asks)

    def _answer(
        self,
        status: int,
        headers: list[tuple[str, str]],
        content: bytes,
        *,
        length: str | None = None,
        is_broken: bool = False,
    ) -> None:
        with suppress(OSError):
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            head = length if self.command == "HEAD" and length else str(len(content))
            if status not in (204, 304):
                self.send_header("Content-Length", head)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content[: len(content) // 2] if is_broken else content)
            self.wfile.flush()
        if is_broken:
            self._cut()

    def _cut(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


_OWN = {"content-length", "connection", "transfer-encoding", "date", "server"}


@contextmanager
def running_proxy(target: int, *, fault_rate: float = 0.0, seed: int = 0) -> Iterator[Proxy]:
    proxy = Proxy(target, fault_rate=fault_rate, seed=seed)
    thread = Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        proxy.server_close()
