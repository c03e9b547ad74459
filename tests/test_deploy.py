"""The files in deploy/ agree with each other, with the wheel and with the documentation; nothing builds a container."""

import re

import yaml

from tests.paths import ROOT

DEPLOY = ROOT / "deploy"
IGNORED = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
COPIED = [line.removeprefix("!/") for line in IGNORED if line.startswith("!")]
SERVING = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1].strip()) for line in lines]


def only(name: str) -> str:
    """The arguments of an instruction that occurs once in the final image."""
    (found,) = [arguments for instruction, arguments in instructions() if instruction == name]
    return found


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
