"""The project's own files: dependencies, versions, and what code hosts and tools read."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.paths import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKED = {
    requirement.name: requirement
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#") and (requirement := Requirement(line))
}
RANGES = {requirement.name: requirement for requirement in map(Requirement, PROJECT["dependencies"])}


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_every_dependency_is_locked_within_its_range() -> None:
    assert sorted(RANGES) == sorted(LOCKED)
    for name, requirement in LOCKED.items():
        (pin,) = requirement.specifier
        assert pin.operator == "=="
        assert RANGES[name].specifier.contains(pin.version), name


@pytest.mark.parametrize("name", sorted(RANGES))
def test_a_range_has_two_ends_and_leaves_room(name: str) -> None:
    bounds = {bound.operator: bound.version for bound in RANGES[name].specifier}
    assert set(bounds) == {">=", "<"}, "no exact version: the wheel lives beside other packages"
    assert not SpecifierSet(f">={bounds['<']}").contains(bounds[">="])


def test_the_version_is_the_same_everywhere() -> None:
    releases = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", text("CHANGELOG.md"), re.MULTILINE)
    citation = yaml.safe_load(text("CITATION.cff"))
    assert releases[0] == (PROJECT["version"], str(citation["date-released"]))
    assert releases == sorted(releases, key=lambda release: tuple(map(int, release[0].split("."))), reverse=True)
    assert "## [Unreleased]" in text("CHANGELOG.md")
    assert citation["version"] == PROJECT["version"]
    assert (citation["license"], citation["type"], citation["cff-version"]) == (PROJECT["license"], "software", "1.2.0")
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in PROJECT["authors"]]


def steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


def test_the_matrix_has_every_python_of_the_classifiers_and_three_systems() -> None:
    matrix = yaml.safe_load(text(".github/workflows/matrix.yml"))["jobs"]["tests"]["strategy"]["matrix"]
    pythons = re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert matrix["python"] == pythons
    assert SpecifierSet(PROJECT["requires-python"]).contains(pythons[0])
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


def test_a_commit_is_checked_as_ci_checks_it() -> None:
    """The hooks run the linters and type checkers of .ci/run, and no others."""
    hooks = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    ci = text(".ci/run")
    scripts = json.loads(text("tests/js/package.json"))["scripts"]
    for hook in hooks:
        assert hook["language"] == "system"
        if hook["entry"].startswith("npm"):
            assert hook["entry"].split()[-1] in scripts
            assert hook["entry"] in ci
        else:
            tool = hook["entry"].split()
            assert re.search(rf"^ +{tool[0]}\b.*{' '.join(tool[1:])}", ci, re.MULTILINE), hook["entry"]
    checks = set(re.findall(r"^ {4}(ruff \w+|mypy)\b", ci, re.MULTILINE))
    assert checks == {hook["entry"] for hook in hooks if not hook["entry"].startswith("npm")}
