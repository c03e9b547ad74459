"""The server as a child process: started, waited for until it answers, and ended within three seconds."""

from __future__ import annotations

import errno
import os
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil

from explorer.launch.options import LaunchError, Options
from explorer.launch.running import Running
from explorer.runs.home import ROOT

PREFERRED_PORT = 8501  # Streamlit's; links copied yesterday keep working
GENTLE_SECONDS = 2.0  # to end by itself; then it is killed
READY_SECONDS = 60.0
_ANY_HOST = ("", "0.0.0.0", "::", "localhost")


@dataclass
class Server:
    """One process of the server, owned by this one.

    It ends when this process ends, however that happens: it reads a pipe of which only this process has the other end.
    """

    process: subprocess.Popen[bytes]
    started: float
    port: int
    url: str

    @property
    def record(self) -> Running:
        """What a second start has to know."""
        return Running(self.process.pid, self.started, self.port, self.url)

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        return self.process.poll() is None

    def stop(self) -> None:
        """End the process: gently, and by force where that takes too long."""
        with suppress(OSError):  # it is gone already
            self.process.terminate()
        try:
            self.process.wait(GENTLE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def environment(checkpoints: Path, *, viewer: bool) -> dict[str, str]:
    """The environment of the server and of the training that it starts.

    Our own folder comes first on the path of imports, whatever `model.py` lies in the working folder.
    """
    others = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    made = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *others]),
        "HEADLIGHT_CHECKPOINTS": str(checkpoints),
    }
    return made | {"HEADLIGHT_VIEWER": "1"} if viewer else made


def start_server(options: Options, environment: Mapping[str, str], log: IO[bytes] | None = None) -> Server:
    """Start the process; what it prints goes to this terminal, or to `log`.

    Raises:
        LaunchError: the port is taken.
    """
    host = options.streamlit_option("server.address", "localhost")
    port = options.port or _free_port(host)
    if not _is_free(host, port):
        raise LaunchError(f"Port {port} is in use; choose another with --port, or leave the choice to Headlight.")
    command = [sys.executable, "-P", "-m", "explorer.web.serve", "run", str(ROOT / "app.py"), *options.forwarded]
    command += ["--server.port", str(port), "--server.headless", "true", "--logger.hideWelcomeMessage", "true"]
    own_group: dict[str, Any] = (
        {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        if os.name == "nt"
        else {"start_new_session": True}
    )  # Ctrl-C in a terminal goes to a whole group, and this process ends the server itself
    process = subprocess.Popen(
        command, cwd=ROOT, env=dict(environment), stdin=subprocess.PIPE, stdout=log, stderr=log, **own_group
    )
    try:
        started = psutil.Process(process.pid).create_time()
    except psutil.Error:
        started = time.time()  # it has ended already, which the wait for its answer notices
    return Server(process, started, port, _address(options, host, port))


def wait_until_ready(server: Server, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Wait until the server answers; `meanwhile` is called every twentieth of a second.

    Raises:
        LaunchError: it has ended, or has not answered for a minute.
    """
    end = time.monotonic() + READY_SECONDS
    while not answers(server.url):
        if not server.alive:
            code = server.process.returncode
            raise LaunchError(f"The server ended with code {code} before it was ready; what it printed says why.")
        if time.monotonic() > end:
            raise LaunchError(f"The server has not answered for {READY_SECONDS:.0f} seconds, so it was stopped.")
        meanwhile()
        time.sleep(0.05)


def answers(url: str) -> bool:
    """Whether a server at this address says that it is well."""
    try:
        # This machine is asked directly, whatever proxy the environment names, and under another name than that of a
        # certificate.
        own = ssl.create_default_context()
        own.check_hostname, own.verify_mode = False, ssl.CERT_NONE
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=own))
        with opener.open(f"{url}/_stcore/health", timeout=2.0) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError, ValueError):
        return False


def _address(options: Options, host: str, port: int) -> str:
    """Where the server answers on this machine, without a slash at the end."""
    name = "localhost" if host in _ANY_HOST else f"[{host}]" if ":" in host else host
    scheme = "https" if options.streamlit_option("server.sslCertFile", "") else "http"
    base = options.streamlit_option("server.baseUrlPath", "").strip("/")
    return f"{scheme}://{name}:{port}" + (f"/{base}" if base else "")


def _free_port(host: str) -> int:
    """8501 if it is free, else one that the system chooses."""
    if _is_free(host, PREFERRED_PORT):
        return PREFERRED_PORT
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_free(host: str, port: int) -> bool:
    """Whether nothing listens on this port at any address that the host stands for."""
    try:
        addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        return True  # a name that cannot be looked up is for the server to complain about
    for family, kind, protocol, _, address in addresses:
        with socket.socket(family, kind, protocol) as probe:
            if os.name != "nt":  # there, the option would allow two servers on one port
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
            except PermissionError:
                return False
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    return False
    return True
