"""Serves the page of some stores over HTTP, live and read only."""

import ipaddress
import json
import socket
import sys
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from wola.bench.store import Store
from wola.report.page.document import page_document, policy
from wola.report.page.watched_stores import WatchedStores, first_data

#: So many runs are asked for at once, at most.
MOST_KEYS = 200

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": f"{policy('server')}; frame-ancestors 'none'",
}


class PageServer(ThreadingHTTPServer):
    """A server of the page; `port` 0 picks a free one. Open as a context manager.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, PageServer([Store.open(folder)], port=0) as server:
    ...     server.url.startswith("http://localhost:")
    True
    """

    daemon_threads = True

    def __init__(self, stores: Sequence[Store], *, host: str = "localhost", port: int) -> None:
        self.host = host
        self.watched = WatchedStores(stores).__enter__()
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Answer)

    def server_bind(self) -> None:
        """Takes the address; the name of the machine is not looked up, which may take long."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.host, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says what went wrong, unless somebody has only closed a page."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Gives the address back, and takes away what was kept for reading."""
        super().server_close()
        self.watched.__exit__(None, None, None)

    @property
    def url(self) -> str:
        """Where to look."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.server_port}/"

    def knows(self, host: str) -> bool:
        """Whether a Host header is one by which this server can be meant.

        A page of somebody else whose name was made to lead here (DNS rebinding) has its own name
        there; an address can not be such a name.
        """
        name = urlsplit(f"//{host}").hostname or ""
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in ("localhost", self.host.lower())
        return True


class _Answer(BaseHTTPRequestHandler):
    server: PageServer
    server_version, sys_version = "wola", ""
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """Answers with the page, the rows since a stamp, or the curves of some runs."""
        if not _meant(self.server, self.headers.get("Host", "")):
            self._send(HTTPStatus.MISDIRECTED_REQUEST, "text/plain", "This is not that server.\n")
            return
        path, _, query = self.path.partition("?")
        asked = _fields(query)
        if asked is None:
            self._send(HTTPStatus.BAD_REQUEST, "text/plain", f"At most {MOST_KEYS} runs at once.\n")
        elif path == "/":
            page = page_document(first_data(), {}, place="server")
            self._send(HTTPStatus.OK, "text/html", page)
        elif path == "/rows":
            self._send_json(self.server.watched.since(asked.get("since", [""])[0]))
        elif path == "/curves":
            self._send_json(self.server.watched.details(asked.get("run", [])))
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", "There is nothing here.\n")

    do_HEAD = do_GET  # noqa: N815

    def _refuse(self) -> None:
        self.close_connection = True
        text = "This server only reads: GET and HEAD.\n"
        self._send(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain", text, Allow="GET, HEAD")

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse  # noqa: N815

    def _send_json(self, value: Any) -> None:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._send(HTTPStatus.OK, "application/json", text)

    def _send(self, status: HTTPStatus, kind: str, text: str, **more: str) -> None:
        body = text.encode(errors="replace")
        self.send_response(status)
        sizes = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}
        for name, value in {**_HEADERS, **sizes, **more}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: the terminal is for the address alone."""


def _fields(query: str) -> dict[str, list[str]] | None:
    try:
        return parse_qs(query, max_num_fields=MOST_KEYS, errors="replace")
    except ValueError:
        return None


def _meant(server: PageServer, host: str) -> bool:
    try:
        return server.knows(host)
    except ValueError:
        return False
