"""Who may look at a page: those who were given its address, from this page itself, and nobody else.

Every request and every WebSocket must name the address we listen on (Host), come from our own page if a page sent it
(Origin), and carry the token that is part of the address. Pages are told to ask nothing of the network, and the
handlers with which viser would open a tunnel to the outside are removed. All of this is tried when a page opens; a page
that is not protected is closed again.
"""

from __future__ import annotations

import dataclasses
import gzip
import hmac
import html
import http.client
import ipaddress
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from anguilla.errors import AnguillaError

__all__ = ["Guard"]

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
OUTSIDE = ("ShareUrlRequest", "ShareUrlDisconnect")  # messages of viser's client that concern its tunnel
REFUSED = "Refused: open the address that the program printed, with its token, on the machine that it names.\n"
_patching = threading.Lock()


class Guard:
    """The door of one page.

    Args:
        host: the address that is listened on. On a loopback address only loopback names are served; else also the names
            and addresses of this machine.
        title: what the tab of the browser shows.

    Attributes:
        token: the secret part of the address, new for every page.

    """

    def __init__(self, host: str, title: str = "Anguilla") -> None:
        self.host, self.title, self.token = host, title, secrets.token_urlsafe(24)

    def address(self, port: int) -> str:
        """What to open in a browser."""
        return f"http://{self._named()}:{port}/{self.token}/"

    def _named(self) -> str:
        """The address to connect to, when listening on all of them too."""
        every = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}
        return every.get(self.host, bracketed(self.host))

    def admits(self, hosts: list[str], origins: list[str], path: str, port: int) -> bool:
        """Whether a request may pass, by all of its Host and Origin headers, its path and the port it came in by."""
        if len(hosts) != 1 or len(origins) > 1 or not self._is_ours(hosts[0], port):
            return False
        if origins and origins[0].lower() != f"http://{hosts[0].lower()}":
            return False
        given = path.partition("?")[0].split("/")
        return len(given) > 1 and hmac.compare_digest(given[1].encode(), self.token.encode())

    def _is_ours(self, host: str, port: int) -> bool:
        name, _, number = host.lower().rpartition(":")
        if number != str(port):
            return False
        if name in LOOPBACK or name == bracketed(self.host.lower()):
            return True
        # a foreign site can make its own name lead here, but not an address written in numbers
        return not is_loopback(self.host) and (is_address(name) or name == socket.gethostname().lower())

    def asked(self, inner: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return the handler of requests that lets pass to another one what is admitted."""

        def answer(connection: Any, request: Any) -> Any:
            headers, port = request.headers, connection.local_address[1]
            hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
            if not self.admits(hosts, origins, request.path, port):
                return connection.respond(403, REFUSED)
            rest = request.path[1 + len(self.token) :]
            response = inner(
                connection, dataclasses.replace(request, path=rest if rest.startswith("/") else "/" + rest)
            )
            if response is not None:
                entitle(response, self.title)
                for name, value in page_headers(hosts[0]).items():
                    response.headers[name] = value
            return response

        return answer

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Servers of websockets that are opened meanwhile are guarded."""
        import websockets.asyncio.server as library

        original = library.serve

        def serve(*args: Any, process_request: Any = None, **options: Any) -> Any:
            inner = process_request or (lambda connection, request: None)
            return original(*args, process_request=self.asked(inner), **options)

        with _patching:
            library.serve = serve  # type: ignore[assignment, misc]  # viser has no door of its own for this
            try:
                yield
            finally:
                library.serve = original  # type: ignore[misc]

    def verify(self, server: Any) -> None:
        """Close the ways to the outside and try the door; raise an AnguillaError if a stranger would get in."""
        port, problem = server.get_port(), ""
        if not close_tunnel(server):
            problem = "its tunnel to the outside could not be closed"
        else:
            try:
                if self._lets_strangers_in(port):
                    problem = "it lets strangers in"
            except (OSError, http.client.HTTPException) as error:
                problem = f"it does not answer ({error})"
        if problem:
            raise AnguillaError(
                f"the viewer is not opened because {problem}: this version of viser is not known to anguilla; "
                "install another one, or write a page with anguilla.animate."
            )

    def _lets_strangers_in(self, port: int) -> bool:
        own, foreign, token = f"{self._named()}:{port}", "stranger.invalid", f"/{self.token}/"
        wanted = [
            (token, {"Host": own}, 200),
            ("/", {"Host": own}, 403),
            (token, {"Host": f"{foreign}:{port}"}, 403),
            (token, {"Host": own, "Origin": f"http://{foreign}"}, 403),
        ]
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        key = {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
        wanted += [(path, headers | upgrade | key, status) for path, headers, status in wanted[1:]]
        return any(status_of(own, path, headers) != status for path, headers, status in wanted)


def entitle(response: Any, title: str) -> None:
    """Write the title of the tab into an answer that is viser's page."""
    packed = response.headers.get("Content-Encoding") == "gzip"
    if "text/html" not in response.headers.get("Content-Type", "") or not response.body:
        return
    text = gzip.decompress(response.body) if packed else response.body
    text = text.replace(b"<title>Viser</title>", f"<title>{html.escape(title)}</title>".encode())
    response.body = gzip.compress(text) if packed else text
    if "Content-Length" in response.headers:
        del response.headers["Content-Length"]
        response.headers["Content-Length"] = str(len(response.body))


def page_headers(host: str) -> dict[str, str]:
    """Headers by which a browser keeps a page from asking the network, and other pages from framing or reading it."""
    sources = [
        "default-src 'none'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "worker-src 'self' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        f"connect-src 'self' data: blob: ws://{host}",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    return {
        "Content-Security-Policy": "; ".join(sources),
        "Referrer-Policy": "no-referrer",  # the address has the token in it
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }


def close_tunnel(server: Any) -> bool:
    """Remove the handlers of a viser server that lead outside; return whether there were some and none is left."""
    from viser.infra import WebsockMessageHandler

    inners = [value for value in vars(server).values() if isinstance(value, WebsockMessageHandler)]
    found = 0
    for inner in inners:
        tables = [value for value in vars(inner).values() if isinstance(value, dict)]
        for table in tables:
            for kind in [key for key in table if getattr(key, "__name__", "") in OUTSIDE]:
                del table[kind]
                found += 1
    server.request_share_url = _no_tunnel
    return found == len(OUTSIDE)


def _no_tunnel(*_: Any, **__: Any) -> None:
    raise AnguillaError("anguilla opens no tunnel from the viewer to the internet.")


def status_of(host: str, path: str, headers: dict[str, str]) -> int:
    """Status of the answer to a request to one of our own ports."""
    connection = http.client.HTTPConnection(host, timeout=5.0)
    try:
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


def bracketed(host: str) -> str:
    """An address as it is written before a port."""
    return f"[{host}]" if ":" in host else host


def is_address(name: str) -> bool:
    """Whether a name is an address in numbers."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can be reached from this machine only."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host.strip("[]")).is_loopback)
