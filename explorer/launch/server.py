"""The server's process: find a running one, start one, wait until it answers, and end it with its starter."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from explorer.launch.options import LaunchError, Options
from explorer.runs.home import ROOT
from explorer.runs.viewer_mode import viewing

GENTLE_SECONDS = 2.0  # to end by itself; then it is killed
READY_SECONDS = 60.0
# In the environment of a server that was started by this command: the hash of the options (see `wishes`).
STARTER = "HEADLIGHT_STARTER"
_LOCALHOST = ("127.0.0.1", "0.0.0.0", "::")
_APP = ROOT / "app.py"


def is_alive(server: psutil.Process) -> bool:
    """Whether the server's process still runs."""
    with suppress(psutil.Error):
        return bool(server.is_running() and server.status() != psutil.STATUS_ZOMBIE)
    return False


def stop(server: psutil.Process) -> None:
    """Terminate the process; kill it if it does not end in time."""
    with suppress(psutil.NoSuchProcess):  # it is gone already
        server.terminate()
        try:
            server.wait(GENTLE_SECONDS)
        except (psutil.TimeoutExpired, subprocess.TimeoutExpired):
            server.kill()
            server.wait()


def wishes(options: Options, checkpoints: Path) -> str:
    """A hash of the options that distinguish one server from another; port and model do not."""
    options_of_server = [str(ROOT), str(checkpoints), options.viewer or viewing(), options.forwarded]
    return hashlib.sha256(json.dumps(options_of_server).encode()).hexdigest()[:16]


def find_server(options: Options, wished: str) -> psutil.Process | None:
    """A running server of this user that was started with the same options, which its environment names."""
    for process in psutil.process_iter():
        try:
            if str(_APP) not in process.cmdline() or process.environ().get(STARTER) != wished:
                continue
        except (psutil.Error, OSError):  # it has ended meanwhile, or is somebody else's
            continue
        if options.port in (0, urlsplit(address(process, options)).port):
            return process
    return None


def environment(checkpoints: Path, wished: str, *, viewer: bool) -> dict[str, str]:
    """The environment of the server and of the training that it starts.

    Our own folder comes first on the path of imports, whatever `model.py` lies in the working folder.
    """
    others = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *others]),
        "HEADLIGHT_CHECKPOINTS": str(checkpoints),
        STARTER: wished,
    }
    return variables | {"HEADLIGHT_VIEWER": "1"} if viewer else variables


def start_server(options: Options, environment: Mapping[str, str]) -> psutil.Popen:
    """Start the server; its output goes to this terminal.

    It ends whenever this process ends, because it reads from a pipe whose other end only this process holds. Without a
    port, Streamlit takes the first free one from 8501 on.
    """
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(_APP), *options.forwarded]
    command += ["--server.headless", "true", "--logger.hideWelcomeMessage", "true"]
    if options.port:
        command += ["--server.port", str(options.port)]
    own_group: dict[str, Any] = (
        {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        if os.name == "nt"
        else {"start_new_session": True}
    )  # Ctrl-C in a terminal goes to a whole group, and this process ends the server itself
    return psutil.Popen(command, cwd=ROOT, env=dict(environment), stdin=subprocess.PIPE, **own_group)


def end_with_the_starter() -> None:
    """In the server: end it once the process that started it has ended, which closes the pipe between them."""

    def wait() -> None:
        # Not sys.stdin: a thread that waits in it holds a lock that the interpreter needs in order to end.
        while os.read(0, 64):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GENTLE_SECONDS)
        os._exit(1)

    threading.Thread(target=wait, name="starter", daemon=True).start()


def wait_until_ready(server: psutil.Process, options: Options) -> str:
    """Wait until a server answers; returns its address, or "" if it has ended before.

    Raises:
        LaunchError: it has not answered for a minute.
    """
    end = time.monotonic() + READY_SECONDS
    while is_alive(server):
        url = address(server, options)
        if url and answers(url):
            return url
        if time.monotonic() > end:
            raise LaunchError(
                "The server has not answered for {ready_seconds:.0f} seconds.", ready_seconds=READY_SECONDS
            )
        time.sleep(0.05)
    return ""


def answers(url: str) -> bool:
    """Whether a server at this address reports that it is healthy."""
    try:
        # The request goes to this machine, so no proxy is used; the certificate names another host than localhost.
        own = ssl.create_default_context()
        own.check_hostname, own.verify_mode = False, ssl.CERT_NONE
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=own))
        with opener.open(f"{url}/_stcore/health", timeout=2.0) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError, ValueError):
        return False


def address(server: psutil.Process, options: Options) -> str:
    """Where a server listens on this machine, without a slash at the end; empty if it does not listen yet."""
    try:
        connections = server.net_connections("tcp")
    except psutil.Error:  # it has ended
        return ""
    local = next((each.laddr for each in connections if each.status == psutil.CONN_LISTEN), None)
    if local is None:
        return ""
    name = "localhost" if local.ip in _LOCALHOST else f"[{local.ip}]" if ":" in local.ip else local.ip
    scheme = "https" if options.streamlit_option("server.sslCertFile") else "http"
    base = options.streamlit_option("server.baseUrlPath").strip("/")
    return f"{scheme}://{name}:{local.port}" + (f"/{base}" if base else "")
