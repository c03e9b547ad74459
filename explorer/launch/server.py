"""The server's process: found if it runs already, started, waited for until it answers, and ended with its starter."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import filelock
import psutil
from platformdirs import user_data_path

from explorer.launch.options import LaunchError, Options
from explorer.runs.home import ROOT
from explorer.runs.viewer_mode import viewing

PREFERRED_PORT = 8501  # Streamlit's; links copied yesterday keep working
GENTLE_SECONDS = 2.0  # to end by itself; then it is killed
READY_SECONDS = 60.0
START_SECONDS = 90.0  # how long a start waits for another one that is under way
# In the environment of a server that ends with the process that started it: what it was started for.
STARTER = "HEADLIGHT_STARTER"
_ANY_HOST = ("", "0.0.0.0", "::", "localhost")


@dataclass(frozen=True)
class Server:
    """A server: its process, its port and the address to open.

    One that this process has started ends with it, however that happens: it reads a pipe of which only this process has
    the other end.
    """

    process: psutil.Process
    port: int
    url: str

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        with suppress(psutil.Error):
            return bool(self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE)
        return False

    def stop(self) -> None:
        """End the process: gently, and by force where that takes too long."""
        with suppress(psutil.NoSuchProcess):  # it is gone already
            self.process.terminate()
            try:
                self.process.wait(GENTLE_SECONDS)
            except (psutil.TimeoutExpired, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()


@contextmanager
def one_start_at_a_time() -> Iterator[None]:
    """Hold the lock of all starts of this user; the system frees it if the process is killed.

    Raises:
        LaunchError: another start has held it for too long, or there is no folder for it.
    """
    folder = user_data_path("headlight", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(folder / "start.lock", timeout=START_SECONDS):
            yield
    except filelock.Timeout:
        raise LaunchError("Another start of Headlight has not come to an end; stop it and try again.") from None
    except OSError as error:
        raise LaunchError(f"{folder} cannot be written ({error.strerror or error}); free it for this user.") from None


def wishes(options: Options, checkpoints: Path) -> str:
    """What makes two starts mean the same server, whatever their port and model, in a few letters."""
    meant = [str(ROOT), str(checkpoints), options.viewer or viewing(), options.forwarded]
    return hashlib.sha256(json.dumps(meant).encode()).hexdigest()[:16]


def find_server(options: Options, wished: str) -> Server | None:
    """A server of this user that runs for the same wishes: it has them in its environment."""
    for process in psutil.process_iter():
        try:
            command = process.cmdline()
            if str(ROOT / "app.py") not in command or process.environ().get(STARTER) != wished:
                continue
        except (psutil.Error, OSError):  # it has ended meanwhile, or is somebody else's
            continue
        port = int(command[command.index("--server.port") + 1])
        if options.port in (0, port):
            return Server(process, port, _address(options, options.host, port))
    return None


def environment(checkpoints: Path, wished: str, *, viewer: bool) -> dict[str, str]:
    """The environment of the server and of the training that it starts.

    Our own folder comes first on the path of imports, whatever `model.py` lies in the working folder.
    """
    others = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    made = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *others]),
        "HEADLIGHT_CHECKPOINTS": str(checkpoints),
        STARTER: wished,
    }
    return made | {"HEADLIGHT_VIEWER": "1"} if viewer else made


def start_server(options: Options, environment: Mapping[str, str], log: IO[bytes] | None = None) -> Server:
    """Start the process; what it prints goes to this terminal, or to `log`.

    Raises:
        LaunchError: the port is taken.
    """
    port = options.port or _free_port(options.host)
    if not _is_free(options.host, port):
        raise LaunchError(f"Port {port} is in use; choose another with --port, or leave the choice to Headlight.")
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(ROOT / "app.py"), *options.forwarded]
    command += ["--server.port", str(port), "--server.headless", "true", "--logger.hideWelcomeMessage", "true"]
    own_group: dict[str, Any] = (
        {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        if os.name == "nt"
        else {"start_new_session": True}
    )  # Ctrl-C in a terminal goes to a whole group, and this process ends the server itself
    process = psutil.Popen(
        command, cwd=ROOT, env=dict(environment), stdin=subprocess.PIPE, stdout=log, stderr=log, **own_group
    )
    return Server(process, port, _address(options, options.host, port))


def end_with_the_starter() -> None:
    """In the server: end it once the process that started it is gone; the system then closes the pipe between them."""

    def wait() -> None:
        # Not sys.stdin: a thread that waits in it holds a lock that the interpreter needs in order to end.
        while os.read(0, 64):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GENTLE_SECONDS)
        os._exit(1)

    threading.Thread(target=wait, name="starter", daemon=True).start()


def wait_until_ready(server: Server) -> None:
    """Wait until a server that was just started answers.

    Raises:
        LaunchError: it has ended, or has not answered for a minute.
    """
    end = time.monotonic() + READY_SECONDS
    while not answers(server.url):
        if not server.alive:
            code = server.process.wait()
            raise LaunchError(f"The server ended with code {code} before it was ready; what it printed says why.")
        if time.monotonic() > end:
            raise LaunchError(f"The server has not answered for {READY_SECONDS:.0f} seconds, so it was stopped.")
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
