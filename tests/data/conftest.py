"""A small web server that can resume, and break off."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Site:
    """What the server holds, how it behaves, and which ranges were asked for."""

    def __init__(self, url):
        self.url = url
        self.files = {}
        self.ranges = []
        self.resumes = True
        self.break_after = None


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        site = self.server.site
        asked = self.headers.get("Range")
        site.ranges.append(asked)
        content = site.files.get(self.path.strip("/"))
        if content is None:
            self.send_error(404)
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and site.resumes else 0
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start : site.break_after])

    def log_message(self, *_):
        pass


@pytest.fixture
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.site
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("WOLA_DATA", str(folder))
    return folder
