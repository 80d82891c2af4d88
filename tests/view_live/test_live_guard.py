"""Who may look at a page: its own page with the token, and nobody else; nothing that it does leads outside."""

import asyncio
import http.client
import http.server
import threading
import time

import pytest

import anguilla as ag

pytest.importorskip("viser")
import msgspec
import viser
import websockets

from anguilla.view import guard, shown
from anguilla.view.live import drive, play


@pytest.fixture(scope="module")
def robot():
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000), ag.kirchhoff(2)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.006)))
    return robot


@pytest.fixture(scope="module")
def opened(robot):
    page = play(ag.statics(robot), port=8330)
    yield page
    page.close()


def status(page, path, **headers):
    port = page.server.get_port()
    return guard.status_of(f"127.0.0.1:{port}", path, {"Host": f"127.0.0.1:{port}"} | headers)


def token(page):
    return page.address.split("/")[3]


def test_a_page_is_served_to_those_who_have_its_address(opened):
    port, path = opened.server.get_port(), f"/{token(opened)}/"
    assert len(token(opened)) >= 32 and opened.address == f"http://127.0.0.1:{port}{path}"
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert status(opened, path, Host=f"{name}:{port}") == 200
        assert status(opened, path, Host=f"{name}:{port}", Origin=f"http://{name}:{port}") == 200
    assert status(opened, path + "index.html?dark") == 200
    assert status(opened, path + "../../../etc/passwd") == 404


def test_strangers_are_refused(opened):
    port, path = opened.server.get_port(), f"/{token(opened)}/"
    for wrong in ("/", "", "//", "/x/", f"/{token(opened)[:-1]}/", f"/?token={token(opened)}", "/index.html", "/%00/"):
        assert status(opened, wrong or "*") == 403, wrong
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"127.0.0.2:{port}", ""):
        assert status(opened, path, Host=host) == 403, host
    for origin in ("https://evil.example", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}"):
        assert status(opened, path, Origin=origin) == 403, origin
    assert status(opened, path, Origin=f"http://localhost:{port}") == 403, "another name is another origin"


def test_two_hosts_in_one_request_are_refused():
    door = guard.Guard("127.0.0.1")
    path = f"/{door.token}/"
    assert door.admits(["localhost:80"], [], path, 80)
    assert not door.admits(["localhost:80", "localhost:80"], [], path, 80)
    assert not door.admits([], [], path, 80)
    assert not door.admits(["localhost:80"], ["http://localhost:80"] * 2, path, 80)


def test_a_page_for_other_machines_is_served_by_address_but_not_by_foreign_names():
    door = guard.Guard("0.0.0.0")
    path = f"/{door.token}/"
    assert door.address(80).startswith("http://127.0.0.1:80/")
    assert door.admits(["192.168.1.4:80"], ["http://192.168.1.4:80"], path, 80)
    assert not door.admits(["192.168.1.4:80"], ["http://192.168.1.5:80"], path, 80)
    assert not door.admits(["evil.example:80"], [], path, 80)
    assert not door.admits(["192.168.1.4:80"], [], "/", 80)
    assert not guard.Guard("127.0.0.1").admits(["192.168.1.4:80"], [], path, 80)
    assert guard.Guard("::1").address(80).startswith("http://[::1]:80/")


def visit(page, path, origin, *messages):
    """Open a WebSocket as a page would; return the bytes of the scene that came first."""

    async def talk():
        async with websockets.connect(
            f"ws://127.0.0.1:{page.server.get_port()}{path}",
            origin=origin,
            subprotocols=[f"viser-v{viser.__version__}"],
            compression=None,
            max_size=None,
            proxy=None,
        ) as socket:
            first = await asyncio.wait_for(socket.recv(), 20)
            for message in messages:
                await socket.send(msgspec.msgpack.encode(message))
            await asyncio.sleep(0.5 if messages else 0.0)
            return len(first)

    return asyncio.run(talk())


def test_a_socket_needs_the_token_and_our_own_origin(opened):
    port, path = opened.server.get_port(), f"/{token(opened)}"
    assert visit(opened, path, f"http://127.0.0.1:{port}") > 0
    assert visit(opened, path, None) > 0, "a program of the user's own, which was given the address"
    for wrong, origin in (
        ("", None),
        ("/", f"http://127.0.0.1:{port}"),
        (path, "https://evil.example"),
        (path, "null"),
    ):
        with pytest.raises(websockets.exceptions.InvalidStatus, match="403"):
            visit(opened, wrong, origin)


def test_not_even_our_own_page_can_open_a_tunnel(opened, monkeypatch):
    asked = threading.Event()
    with pytest.raises(ag.AnguillaError, match="tunnel"):
        opened.server.request_share_url()
    monkeypatch.setattr(opened.server, "request_share_url", lambda *a, **k: asked.set())
    monkeypatch.setattr("viser._viser.ViserTunnel", lambda *a, **k: asked.set())
    port = opened.server.get_port()
    visit(
        opened,
        f"/{token(opened)}",
        f"http://127.0.0.1:{port}",
        {"type": "ShareUrlRequest"},
        {"type": "ShareUrlDisconnect"},
    )
    assert not asked.is_set()


def test_a_viser_without_our_guard_is_not_served(robot, monkeypatch):
    import contextlib

    monkeypatch.setattr(guard.Guard, "installed", lambda self: contextlib.nullcontext())
    with pytest.raises(ag.AnguillaError, match="lets strangers in"):
        shown.open_server("arm", "127.0.0.1", 8397)
    with pytest.raises(OSError):
        http.client.HTTPConnection("127.0.0.1", 8397, timeout=1.0).connect()


def test_a_viser_whose_tunnel_cannot_be_closed_is_not_served(monkeypatch):
    monkeypatch.setattr(guard, "OUTSIDE", ("ShareUrlRequest", "SomethingElse"))
    with pytest.raises(ag.AnguillaError, match="tunnel"):
        shown.open_server("arm", "127.0.0.1", 8334)


def test_other_servers_are_left_alone(opened):
    assert websockets.asyncio.server.serve.__module__ == "websockets.asyncio.server"


def test_a_first_step_that_fails_is_told(capsys):
    robot = ag.Robot("heavy", gravity=(0, 0, -9.81e9))
    robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e4, 1000), ag.kirchhoff(3)), at=robot.ground, name="arm")
    page = drive(robot, port=8335, dt=0.05)
    try:
        end = time.monotonic() + 30
        while "stopped" not in page.report.content:
            assert time.monotonic() < end, page.report.content
            time.sleep(0.02)
        assert "heavy" in page.clock.failure and page.clock._thread.is_alive()
    finally:
        page.close()
    said = capsys.readouterr().err
    assert "the motion stopped" in said and "Traceback" not in said


def test_whatever_stops_the_clock_is_told(robot, capsys):
    page = drive(robot, port=8336)
    try:
        page.clock.draw = lambda: 1 / 0
        end = time.monotonic() + 30
        while not page.clock.failure:
            assert time.monotonic() < end
            time.sleep(0.02)
        assert "division by zero" in page.report.content
    finally:
        page.close()
    assert "Traceback" not in capsys.readouterr().err


# in a browser ---------------------------------------------------------------------------------------------------------


def until_connected(page, server, count=1):
    end = time.monotonic() + 40
    while len(server.get_clients()) < count:
        assert time.monotonic() < end, "the page never connected"
        page.wait_for_timeout(100)


@pytest.mark.browser
def test_our_own_page_connects_and_connects_again_when_reloaded(opened, page):
    blocked = []
    page.on("console", lambda message: blocked.append(message.text) if "Content Security" in message.text else None)
    page.goto(opened.address)
    until_connected(page, opened.server)
    first = set(opened.server.get_clients())
    page.reload()
    end = time.monotonic() + 40
    while not set(opened.server.get_clients()) - first:
        assert time.monotonic() < end, "the page never came back"
        page.wait_for_timeout(100)
    page.wait_for_timeout(1000)
    assert all("127.0.0.1" in url or url.startswith(("data:", "blob:")) for url in page.asked), page.asked
    assert not blocked


STRANGER = """<!doctype html><title>waiting</title><script>
const done = [], wanted = [%s];
const say = (text) => { done.push(text); if (done.length === wanted.length + 2) document.title = done.join(" "); };
for (const url of wanted) {
  const socket = new WebSocket(url, ["viser-v%s"]);
  socket.onopen = () => say("open"); socket.onerror = () => say("refused");
}
fetch("%s").then((r) => r.text()).then(() => say("read"), () => say("unread"));
const frame = document.createElement("iframe"); frame.src = "%s";
frame.onload = () => say(frame.contentDocument ? "framed" : "unframed");
document.documentElement.append(frame);
</script>"""


@pytest.mark.browser
def test_a_page_of_another_origin_cannot_connect(opened, page):
    """Not even one that has learnt the token."""
    before = set(opened.server.get_clients())
    sockets = [opened.address.replace("http", "ws").rstrip("/"), f"ws://127.0.0.1:{opened.server.get_port()}"]
    sockets += [url.replace("127.0.0.1", "localhost") for url in sockets]
    listed = ", ".join(f'"{url}"' for url in sockets)
    text = (STRANGER % (listed, viser.__version__, opened.address, opened.address)).encode()

    class Foreign(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args):
            pass

    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    try:
        page.goto(f"http://127.0.0.1:{other.server_port}/")
        page.wait_for_function("document.title !== 'waiting'", timeout=30000)
        said = sorted(page.title().split())
        assert said == ["refused"] * 4 + ["unframed", "unread"], said
        assert set(opened.server.get_clients()) <= before
    finally:
        other.shutdown()
        other.server_close()
