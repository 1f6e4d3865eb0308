import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.report.browser.store import fill, keep, scenarios
from tests.report.page.test_watched_stores import files_and_times
from tests.report.serving import serving
from wola.bench.store import Store
from wola.report.serve import PageServer


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return fill(Store.open(tmp_path / "store"), scenarios()[:4])


@pytest.fixture
def server(store: Store) -> Iterator[PageServer]:
    with serving(store, fresh=0) as made:
        yield made


def ask(
    server: PageServer, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = HTTPConnection("localhost", server.server_port, timeout=10)
    connection.putrequest(method, "/", skip_host=True)
    # As it is: the library would refuse the paths that are to be tried.
    connection._buffer[0] = f"{method} {path} HTTP/1.1".encode()  # type: ignore[attr-defined]
    for name, value in {"Host": f"localhost:{server.server_port}", **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def test_the_page_and_its_rows_are_served(server: PageServer) -> None:
    status, headers, body = ask(server, "/")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert body.startswith(b"<!doctype html>")
    news = json.loads(ask(server, "/rows?since=")[2])
    assert len(news["rows"]) == 4
    assert json.loads(ask(server, f"/rows?since={news['stamp']}")[2])["rows"] == []


def test_curves_are_served_by_key(server: PageServer) -> None:
    rows = json.loads(ask(server, "/rows")[2])["rows"]
    keys = [row[0] for row in rows]
    found = json.loads(ask(server, "/curves?" + "&".join(f"run={key}" for key in keys))[2])
    assert set(found) == set(keys)
    assert all("accuracy" in details for details in found.values())


def test_new_runs_are_served_as_they_come(server: PageServer, store: Store) -> None:
    stamp = json.loads(ask(server, "/rows")[2])["stamp"]
    key = keep(store, scenarios()[7])
    news = json.loads(ask(server, f"/rows?since={stamp}")[2])
    assert [row[0] for row in news["rows"]] == [key[:16]]


def test_a_head_request_has_the_head_alone(server: PageServer) -> None:
    status, headers, body = ask(server, "/", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) == len(ask(server, "/")[2])


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_whoever_wants_to_write_is_refused(server: PageServer, method: str) -> None:
    status, headers, _ = ask(server, "/rows", method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


TRAVERSALS = [
    "/../store.json",
    "/../../../../../../etc/passwd",
    "/%2e%2e/store.json",
    "/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/..%5c..%5cetc/passwd",
    "//etc/passwd",
    "/etc/passwd",
    "etc/passwd",
    "file:///etc/passwd",
    "http://localhost/etc/passwd",
    "/store.json",
    "/index.parquet",
    "/runs/",
    "/curves/../store.json",
    "/curves/../../etc/passwd",
    "/store.json%00.html",
    "/rows\x00",
    "/link/passwd",
]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_file_is_served_whatever_the_path(server: PageServer, store: Store, path: str) -> None:
    (store.path / "link").symlink_to("/etc")
    status, _, body = ask(server, path)
    assert status in (400, 404)
    assert b"root:" not in body
    assert b"semantics" not in body


@pytest.mark.parametrize(
    "key",
    [
        "../../store.json",
        "%2e%2e%2f%2e%2e%2fstore.json",
        "/etc/passwd",
        "%00",
        "..%00",
        "%ff%fe",
        "a" * 5000,
    ],
)
def test_no_file_is_served_whatever_the_key(server: PageServer, key: str) -> None:
    ask(server, "/rows")
    status, _, body = ask(server, f"/curves?run={key}")
    assert (status, body) == (200, b"{}")


def test_more_keys_than_allowed_are_refused(server: PageServer) -> None:
    assert ask(server, "/curves?" + "&".join(["run=0"] * 500))[0] == 400


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:{port}", 200),
        ("127.0.0.1:{port}", 200),
        ("[::1]:{port}", 200),
        ("LOCALHOST", 200),
        ("evil.example", 421),
        ("evil.example:{port}", 421),
        ("localhost.evil.example:{port}", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost:{port}@evil.example", 421),
        ("[bad", 421),
        ("", 421),
    ],
)
def test_a_name_that_was_made_to_lead_here_is_refused(
    server: PageServer, host: str, status: int
) -> None:
    assert ask(server, "/rows", Host=host.format(port=server.server_port))[0] == status


def test_only_this_machine_is_listened_to(server: PageServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"


def test_serving_writes_nothing_into_the_store(server: PageServer, store: Store) -> None:
    before = files_and_times(store.path)
    rows = json.loads(ask(server, "/rows")[2])["rows"]
    ask(server, f"/curves?run={rows[0][0]}")
    ask(server, "/")
    assert files_and_times(store.path) == before


def test_half_a_request_keeps_nobody_waiting(server: PageServer) -> None:
    with socket.create_connection(("localhost", server.server_port)) as slow:
        slow.sendall(b"GET / HT")
        assert ask(server, "/")[0] == 200


def test_a_port_in_use_is_an_error_of_the_system(server: PageServer, store: Store) -> None:
    with pytest.raises(OSError, match="in use"):
        PageServer([store], port=server.server_port)


def test_an_address_of_the_new_kind_is_written_in_brackets(store: Store) -> None:
    try:
        server = PageServer([store], host="::1", port=0)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with server:
        assert server.url == f"http://[::1]:{server.server_port}/"
