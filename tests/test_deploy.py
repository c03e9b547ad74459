"""The files in deploy/: nothing here builds a container; each command of the image runs in an environment of its own.

What that does not show: that the base images exist as named, what Docker makes of the files, and a Space's own setup.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
import yaml

from tests.browser import free_port
from tests.paths import ROOT

DEPLOY = ROOT / "deploy"
KNOWN = {"FROM", "ENV", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"}
IGNORED = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
COPIED = [line.removeprefix("!/") for line in IGNORED if line.startswith("!")]
SERVING = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile as pairs of instruction and arguments."""
    text = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1].strip()) for line in lines]


def only(name: str) -> str:
    """The arguments of an instruction that occurs once in the final image."""
    (found,) = [arguments for instruction, arguments in instructions() if instruction == name]
    return found


def test_the_image_is_small_and_runs_as_nobody_special() -> None:
    steps, names = instructions(), [name for name, _ in instructions()]
    assert set(names) <= KNOWN
    wanted = re.search(r'requires-python = ">=3\.(\d+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for base in (arguments.split()[0] for name, arguments in steps if name == "FROM"):
        version = re.fullmatch(r"python:3\.(\d+)-slim", base)
        assert int(version[1]) >= int(wanted[1])
    user = names.index("USER")
    assert only("USER") == "headlight"
    assert user < names.index("CMD")
    assert "RUN" not in names[user:], "nothing is installed by the user that serves"
    assert "HEADLIGHT_VIEWER=1" in steps[user + 1][1]
    assert f"http://localhost:{only('EXPOSE')}/_stcore/health" in only("HEALTHCHECK")
    command = json.loads(only("CMD"))
    assert command[command.index("--port") + 1] == only("EXPOSE")


def test_the_build_gets_the_projects_files_and_no_more() -> None:
    """The list of what is copied names what the wheel is made of, and all of it exists."""
    assert IGNORED[1] == "*"
    assert {name for name in COPIED if not (ROOT / name).exists()} == set()
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    wheel = set(re.findall(r'"/([^"]+)"', project[project.index("\ninclude = [") : project.index("\nexclude = [")]))
    assert set(COPIED) == wheel | {"pyproject.toml", "requirements.txt", "README.md", "LICENSE", ".gitignore"}
    for name, arguments in instructions():
        if name == "COPY" and not arguments.startswith("--from"):
            source = arguments.split()[0]
            assert source == "." or source in COPIED


def test_compose_and_the_documentation_agree() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    app, proxy = services["services"]["headlight"], services["services"]["proxy"]
    assert (DEPLOY / app["build"]["context"] / app["build"]["dockerfile"]).resolve() == DEPLOY / "Dockerfile"
    assert app["volumes"] == [f"{next(iter(services['volumes']))}:{only('VOLUME')}"]
    assert "ports" not in app, "only the proxy is reached from outside"
    (template,) = [DEPLOY / volume.split(":")[0] for volume in proxy["volumes"] if "template" in volume]

    def rules(text: str) -> set[str]:
        lines = {line.split("#")[0].strip() for line in text.splitlines()}
        return {line for line in lines if line and not re.match("server_name|ssl_|auth_basic_user|proxy_pass", line)}

    (told,) = re.findall(r"```nginx\n(.*?)```", SERVING, re.DOTALL)
    ours = template.read_text(encoding="utf-8")
    assert rules(told) == rules(ours)
    assert f"proxy_pass http://headlight:{only('EXPOSE')};" in ours
    assert f"server_name ${{{next(iter(proxy['environment']))}}};" in ours
    secrets = {path.rsplit("/", 1)[1] for path in re.findall(r"/etc/nginx/secrets/[\w.]+", ours)}
    head = (DEPLOY / "compose.yaml").read_text(encoding="utf-8").split("services:")[0]
    assert {name for name in secrets if name not in head} == set()


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.skipif(os.name == "nt", reason="these are commands for a POSIX shell")
def test_the_commands_of_the_image(tmp_path: Path) -> None:
    """Each RUN line, the server and its health check, with folders of the image moved into a temporary one.

    pip finds the libraries in this environment and downloads nothing; the user is not made.
    """
    image = tmp_path / "image"
    (image / "home" / "headlight").mkdir(parents=True)
    (image / "tmp").mkdir()
    venv = image / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    for name in ("useradd", "chown"):
        (venv / "bin" / name).write_text('#!/bin/sh\ntest "$(echo "$@" | grep -c headlight)" = 1\n', encoding="utf-8")
        (venv / "bin" / name).chmod(0o755)

    def moved(text: str) -> str:
        return re.sub(r"(?<![\w.:/-])/(source|wheel|data|home)\b", rf"{image}/\1", text)

    environment = {
        "PATH": f"{venv / 'bin'}:/usr/bin:/bin",
        "HOME": str(image / "tmp"),
        "TMPDIR": str(image / "tmp"),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip's spelling of: with the build tools that are here
        **{name: value for name, value in os.environ.items() if name == "PYTHONPYCACHEPREFIX"},
    }
    folder, ran = image, 0
    for name, arguments in instructions():
        if name == "WORKDIR":
            folder = Path(moved(arguments))
            folder.mkdir(parents=True, exist_ok=True)
        elif name == "ENV":
            environment |= dict(pair.split("=", 1) for pair in shlex.split(moved(arguments)))
        elif name == "COPY" and not arguments.startswith("--from"):
            for source in COPIED if arguments.split()[0] == "." else [arguments.split()[0]]:
                (folder / source).parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(["cp", "-r", str(ROOT / source), str(folder / source)], check=True)
        elif name == "RUN":
            shell = ["/bin/sh", "-euc", moved(arguments)]
            done = subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{shell[-1]}\n{done.stdout}\n{done.stderr}"
            ran += 1
    assert ran >= 5
    assert (image / "data").is_dir()

    port = str(free_port())
    command = [port if part == only("EXPOSE") else part for part in json.loads(only("CMD"))]
    command[0] = str(venv / "bin" / command[0])
    health = [part.replace(only("EXPOSE"), port) for part in json.loads(only("HEALTHCHECK").split("CMD ")[1])]
    begun = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "Starting Headlight …\n"
        assert f"http://localhost:{port}/" in process.stdout.readline()
        starting = time.monotonic() - begun
        subprocess.run(health, check=True, env=environment, capture_output=True)
        assert (image / "data" / "headlight" / "checkpoints" / "reverse" / "config.json").is_file()
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert time.monotonic() - begun < max(3, starting), "on a busy machine, as long as starting"
    finally:
        process.kill()
        process.wait()
    assert subprocess.run(health, check=False, env=environment, capture_output=True).returncode == 1
