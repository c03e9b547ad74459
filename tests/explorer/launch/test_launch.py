"""Starting with one command: its options, the folder of models, running servers, the window, and the last words."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from explorer.launch import models_folder as places
from explorer.launch import server, start, window
from explorer.launch.command import main
from explorer.launch.options import LaunchError, Options, parse
from explorer.launch.window import AppWindow, NoWindowError
from explorer.runs import command
from explorer.site import command as site
from model import commands, evaluate, hold_out, import_model, relabel, reproduce, train, translate
from model.experiments import __main__ as experiments
from model.folder import SHIPPED
from tests.browser import free_port
from tests.paths import CHECKPOINTS, ROOT


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv(places.VARIABLE, raising=False)


def test_options_are_ours_or_streamlits(monkeypatch: pytest.MonkeyPatch) -> None:
    given = "--window --port 8600 --model dates --viewer --server.address 0.0.0.0 --client.toolbarMode=viewer"
    options = parse(given.split())
    forwarded = ("--server.address", "0.0.0.0", "--client.toolbarMode=viewer")
    assert options == Options("window", 8600, "dates", None, True, forwarded)
    assert options.streamlit_option("server.address") == "0.0.0.0"
    assert options.streamlit_option("client.toolbarMode") == "viewer"
    assert parse([]) == Options()
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "headlight")
    assert Options().streamlit_option("server.baseUrlPath") == "headlight"
    assert Options(forwarded=("--server.baseUrlPath", "x")).streamlit_option("server.baseUrlPath") == "x"


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ("trian", "There is no command 'trian'. Did you mean 'train'?"),
        ("dates", f"There is no command 'dates'. Known: {', '.join(sorted(commands.SUBCOMMANDS))}."),
        ("--viewer train", "A command comes first: python -m explorer train …"),
        ("--modle dates", "There is no option '--modle'. Did you mean '--model'?"),
        ("--server.port 9000", "Choose the port with --port, not with --server.port."),
        ("--server.port=9000", "Choose the port with --port, not with --server.port."),
        ("--model revers --no-open", "there is no model 'revers'. Did you mean 'reverse'?"),
        *((f"--port {port}", f"invalid port number value: '{port}'") for port in ("0", "70000", "x")),
    ],
)
def test_a_mistake_is_answered_with_what_was_meant(given: str, answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(given.split())
    assert answer in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:'model.translate' found in sys.modules:RuntimeWarning")  # imported above
def test_a_command_gets_its_arguments_and_the_folder_of_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["headlight"])
    monkeypatch.setenv("PYTHONPATH", "")
    with pytest.raises(SystemExit, match="0"):
        main(["translate", "--help"])
    assert "one line of text per sentence" in capsys.readouterr().out
    monkeypatch.setenv(places.VARIABLE, str(tmp_path))
    with pytest.raises(SystemExit, match="2"):
        main(["translate", "--model", "reverse", "abc"])
    assert capsys.readouterr().err == f"there is no model 'reverse'. There is no model in {tmp_path} yet.\n"


@pytest.mark.parametrize("given", [["--no-open"], ["evaluate", "--help"]])
def test_a_missing_library_is_one_sentence(
    given: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'psutil'", name="psutil")

    monkeypatch.setattr(start, "run", missing)
    monkeypatch.setattr("runpy.run_module", missing)
    monkeypatch.setattr(sys, "argv", ["headlight"])
    monkeypatch.setenv("PYTHONPATH", "")
    with pytest.raises(SystemExit, match="2"):
        main(given)
    assert capsys.readouterr().err.startswith("Headlight needs the library 'psutil', which is not installed: ")


def test_starting_imports_nothing_heavy() -> None:
    heavy = "{'torch', 'streamlit', 'numpy', 'spacy', 'webview'}"
    code = f"import sys, explorer.launch.start; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_installed_headlight_uses_the_data_folder_and_brings_its_models(tmp_path: Path) -> None:
    folder = places.models_folder(installed=True)
    assert folder == tmp_path / "data" / "headlight" / "checkpoints"
    assert {path.name for path in folder.iterdir()} == set(SHIPPED)
    weights, card = folder / "reverse" / "model.safetensors", folder / "reverse" / "README.md"
    assert weights.read_bytes() == (CHECKPOINTS / "reverse" / "model.safetensors").read_bytes()
    # An update: same size, other content. What is a person's own stays.
    before = weights.stat().st_mtime_ns
    card.write_bytes(b"x" * card.stat().st_size)
    (folder / "mine").mkdir()
    assert places.models_folder(installed=True) == folder
    assert card.read_bytes() == (CHECKPOINTS / "reverse" / "README.md").read_bytes()
    assert weights.stat().st_mtime_ns == before
    assert (folder / "mine").is_dir()
    assert not list(folder.rglob("*.tmp"))


def test_a_folder_that_is_named_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    own.mkdir()
    assert places.models_folder(installed=False) == CHECKPOINTS, "a clone uses its own"
    assert places.models_folder(own, installed=True) == own
    monkeypatch.setenv(places.VARIABLE, str(own))
    assert places.models_folder(installed=False) == own
    assert places.with_models_folder(["--task", "dates"]) == ["--checkpoints", str(own), "--task", "dates"]
    assert places.with_models_folder(["--checkpoints=x", "y"]) == ["--checkpoints=x", "y"]
    with pytest.raises(LaunchError, match=r"There is no folder .*nowhere for models; create it"):
        places.models_folder(tmp_path / "nowhere")
    assert list(own.iterdir()) == []
    monkeypatch.delenv(places.VARIABLE)
    (tmp_path / "data").write_text("a file")
    with pytest.raises(LaunchError, match=r"cannot be written \(Not a directory\); name another folder"):
        places.models_folder(installed=True)


@pytest.mark.parametrize("installed", [False, True])
def test_every_command_says_how_it_is_started(monkeypatch: pytest.MonkeyPatch, installed: bool) -> None:
    parsers = [
        train.parser, translate.parser, evaluate.parser, relabel.parser, hold_out.parser, reproduce.parser,
        import_model.parser, experiments.parser, site.parser,
    ]  # fmt: skip
    monkeypatch.setattr(commands, "INSTALLED", installed)
    monkeypatch.setattr(command, "INSTALLED", installed)
    for (name, subcommand), parser in zip(commands.SUBCOMMANDS.items(), parsers, strict=True):
        module, usage = subcommand.module, parser().format_help()
        words = f"headlight {name}" if installed else f"python -m {module}"
        assert usage.startswith(f"usage: {words} ")
        assert ("python -m" in usage) is not installed
        assert command.quoted_command(["python", "-m", module, "--a", "b c"]) == f"{words} --a 'b c'"
    assert command.quoted_command(["python", "-m", "model.notebook"]) == "python -m model.notebook"


def test_our_folder_is_the_first_on_the_path_of_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    made = server.environment(tmp_path / "models", "wishes", viewer=True)
    assert made["PYTHONPATH"].split(os.pathsep) == [str(ROOT), str(tmp_path)]
    assert (made["HEADLIGHT_CHECKPOINTS"], made["HEADLIGHT_VIEWER"]) == (str(tmp_path / "models"), "1")
    for name in ("PYTHONPATH", "HEADLIGHT_VIEWER"):
        monkeypatch.delenv(name, raising=False)
    made = server.environment(tmp_path, "wishes", viewer=False)
    assert made["PYTHONPATH"] == str(ROOT)
    assert "HEADLIGHT_VIEWER" not in made


LISTEN = """
import socket, sys, time
listener = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
listener.bind((sys.argv[1], int(sys.argv[2])))
listener.listen()
print(1, flush=True)
time.sleep(60)
"""


@contextmanager
def listening(host: str, port: int, wished: str = "") -> Iterator[psutil.Process]:
    """A process that looks like a server and listens, but answers nothing."""
    command = [sys.executable, "-c", LISTEN, host, str(port), str(ROOT / "app.py")]
    process = psutil.Popen(command, env=os.environ | {server.STARTER: wished}, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as said:
        try:
            assert said.readline(), "it does not listen"
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process at once")
def test_a_second_start_finds_what_it_would_have_started(tmp_path: Path) -> None:
    options, port = Options(forwarded=("--server.address", "127.0.0.1")), free_port()
    wished = server.wishes(options, tmp_path)
    assert server.wishes(dataclasses.replace(options, port=8601, model="dates"), tmp_path) == wished
    others = [
        server.wishes(options, tmp_path / "others"),
        server.wishes(dataclasses.replace(options, viewer=True), tmp_path),
        server.wishes(Options(forwarded=("--server.address", "0.0.0.0")), tmp_path),
    ]
    assert len({wished, *others}) == 4
    with listening("127.0.0.1", port, wished) as process:
        running = server.find_server(options, wished)
        assert running is not None
        assert running.pid == process.pid
        assert server.is_alive(running)
        assert server.find_server(dataclasses.replace(options, port=port), wished) == running
        assert server.find_server(dataclasses.replace(options, port=port + 1), wished) is None
        assert not server.answers(server.address(running, options)), "it accepts connections, but is no server of ours"
    assert not server.is_alive(running)
    assert server.find_server(options, wished) is None
    assert server.wait_until_ready(running, options) == ""


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process at once")
def test_a_server_that_does_not_listen_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "GENTLE_SECONDS", 0.2)
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    deaf = psutil.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert deaf.stdout is not None
    with deaf.stdout as said:
        said.readline()
    server.stop(deaf)
    assert deaf.poll() == -signal.SIGKILL


@pytest.mark.parametrize(
    ("host", "forwarded", "url"),
    [
        ("127.0.0.1", (), "http://localhost:{port}"),
        ("0.0.0.0", ("--server.baseUrlPath", "/a/"), "http://localhost:{port}/a"),
        ("127.0.0.2", (), "http://127.0.0.2:{port}"),
        ("::1", ("--server.sslCertFile", "x.pem"), "https://[::1]:{port}"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no address 127.0.0.2")
def test_the_address_to_open(host: str, forwarded: tuple[str, ...], url: str) -> None:
    if ":" in host and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    port = free_port()
    with listening(host, port) as process:
        assert server.address(process, Options(forwarded=forwarded)) == url.format(port=port)
    assert server.address(process, Options()) == ""


def test_a_page_is_opened_with_its_model_where_there_is_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "http://localhost:8501"
    assert start._page(address, Options()) == f"{address}/"
    assert start._page(address, Options(model="my.model")) == f"{address}/?model=my.model"
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert not start._opens(Options())
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert start._opens(Options())
    assert not start._opens(Options(way="none"))
    monkeypatch.setattr("sys.platform", "darwin")
    assert window.has_screen()


class Event:
    """An event as pywebview has them: handlers are added with +=."""

    def __init__(self) -> None:
        self.handlers: list[Callable[[], Any]] = []

    def __iadd__(self, handler: Callable[[], Any]) -> Event:
        self.handlers.append(handler)
        return self

    def set(self) -> list[Any]:
        return [handler() for handler in self.handlers]


class ShownError(Exception):
    """What pywebview raises without a backend."""


Pywebview = Callable[..., Mock]


@pytest.fixture
def pywebview(monkeypatch: pytest.MonkeyPatch) -> Pywebview:
    monkeypatch.setattr(window, "_adapt_qt", lambda view: None)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")

    def install(during: Callable[[Mock], None] = lambda shown: None, agrees: bool = True) -> Mock:
        """`during` is what happens while the window is open."""
        events = SimpleNamespace(before_show=Event(), closing=Event(), closed=Event())
        gone = threading.Event()
        shown = Mock(events=events, native=None, gone=gone, destroy=gone.set)
        shown.create_confirmation_dialog.return_value = agrees

        def start(**options: Any) -> None:
            during(shown)
            events.closed.set()

        backend = Mock(settings={}, WebViewException=ShownError, start=Mock(side_effect=start))
        backend.create_window.return_value = shown
        monkeypatch.setitem(sys.modules, "webview", backend)
        return backend

    return install


def test_the_window_keeps_what_the_page_keeps(pywebview: Pywebview, tmp_path: Path) -> None:
    backend = pywebview()
    AppWindow("http://localhost:8600/", tmp_path / "window", str).show()
    (_, url), options = backend.create_window.call_args
    assert url == "http://localhost:8600/"
    kept = {"private_mode": False, "storage_path": str(tmp_path / "window")}
    assert kept.items() <= backend.start.call_args.kwargs.items()
    assert (tmp_path / "window").is_dir()
    assert options["text_select"]
    assert backend.settings["OPEN_EXTERNAL_LINKS_IN_BROWSER"]


@pytest.mark.parametrize(
    ("question", "agrees", "by", "closes", "asked"),
    [
        ("", False, "hand", True, []),
        ("?", False, "hand", False, ["?"]),
        ("?", True, "hand", True, ["?"]),
        ("?", False, "signal", True, []),
    ],
)
def test_closing_asks_where_training_goes_on_unless_a_signal_closes(
    pywebview: Pywebview, tmp_path: Path, question: str, agrees: bool, by: str, closes: bool, asked: list[str]
) -> None:
    answers: list[Any] = []

    def during(shown: Mock) -> None:
        if by == "signal":
            opened.close()
            assert shown.gone.is_set()
        answers.extend(shown.events.closing.set())

    backend = pywebview(during, agrees)
    opened = AppWindow("http://x/", tmp_path, lambda: question)
    opened.show()
    dialogs = backend.create_window.return_value.create_confirmation_dialog.call_args_list
    assert (answers, [call.args[1] for call in dialogs]) == ([closes], asked)


def test_without_a_backend_or_a_screen_it_is_the_browser(
    pywebview: Pywebview, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(shown: Mock) -> None:
        raise ShownError("You must have either QT or GTK")

    pywebview(fail)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert not start._in_window("http://localhost:8600/", str)
    said = capsys.readouterr().out
    assert said.startswith("There is no backend for windows (`pip install")
    assert said.endswith("opens in the browser.\n")
    monkeypatch.setitem(sys.modules, "webview", None)
    with pytest.raises(NoWindowError, match="There is no pywebview"):
        window._import_backend()
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NoWindowError, match="There is no screen for a window"):
        window._import_backend()
