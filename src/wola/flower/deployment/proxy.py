"""The proxy before a SuperLink: an nginx configuration that passes the nodes' API alone."""

import shutil
from dataclasses import dataclass
from pathlib import Path

_CONFIGURATION = """\
# What the outside sees of a SuperLink: the fleet API, which nodes use and which checks their keys.
# The control API (register nodes, start runs) and the runtime API stay on the server itself.
daemon off;
pid "{folder}/nginx.pid";
error_log stderr warn;

events {{
    worker_connections 1024;
}}

http {{
    access_log off;
    server_tokens off;
    client_body_temp_path "{folder}/body";
    proxy_temp_path "{folder}/proxy";
    fastcgi_temp_path "{folder}/fastcgi";
    uwsgi_temp_path "{folder}/uwsgi";
    scgi_temp_path "{folder}/scgi";

    server {{
        listen {listen} ssl;
        ssl_certificate "{certificate}";
        ssl_certificate_key "{key}";
        ssl_protocols TLSv1.2 TLSv1.3;
        # Flower sends arrays in pieces of 5 MiB; they pass through memory, never through a file.
        client_max_body_size 8m;
        client_body_buffer_size 8m;

        location /v1/fleet/ {{
            proxy_pass https://{superlink};
            proxy_http_version 1.1;
            proxy_max_temp_file_size 0;
            proxy_set_header Host $host;
            proxy_ssl_verify on;
            proxy_ssl_trusted_certificate "{authority}";
            proxy_ssl_name {name};
        }}

        location / {{
            return 403;
        }}
    }}
}}
"""


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """Where the proxy listens and what it passes on.

    `listen` (address:port, or port) is open to nodes, `superlink` (address:port) is the SuperLink,
    `certificate` and `key` are the server's, `authority` certified it for `name`; `folder` is for
    what nginx writes.
    """

    listen: str
    superlink: str
    certificate: Path
    key: Path
    authority: Path
    name: str
    folder: Path

    def configuration(self) -> str:
        """The text of an nginx.conf; everything outside ``/v1/fleet/`` is answered with 403.

        >>> here = Path("/etc/wola")
        >>> proxy = Proxy(listen="9443", superlink="127.0.0.1:8000", name="localhost",
        ...     certificate=here / "server.pem", key=here / "server.key",
        ...     authority=here / "ca.crt", folder=here)
        >>> [line.strip() for line in proxy.configuration().splitlines() if "proxy_pass" in line]
        ['proxy_pass https://127.0.0.1:8000;']
        """
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return _CONFIGURATION.format(**fields)


def nginx() -> str | None:
    """The path of nginx, if it is installed; Debian keeps it where only root looks."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
