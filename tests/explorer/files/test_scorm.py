"""Packages for learning platforms: SCORM 1.2, with a manifest that validates against the published schemas."""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from lxml import etree

from explorer.browser.lesson_structs import LessonOnSite, LessonStep
from explorer.files.scorm import MANIFEST, PAGE, package
from explorer.lessons.scorm_packages import packages

# A package that brings the published schemas; only they are taken from it.
HAS_SCHEMAS = "plct-bulder-for-sphinx==0.0.5"
IMS = "{http://www.imsproject.org/xsd/imscp_rootv1p1p2}"
ADL = "{http://www.adlnet.org/xsd/adlcp_rootv1p2}"
NASTY = '<script>&"\x00\x1b ]]> مرحبا ' + "x" * 300


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> etree.XMLSchema:
    folder = tmp_path_factory.mktemp("schemas")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--retries=0", "--no-deps", HAS_SCHEMAS]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"the published schemas are not at hand: {done.stderr.strip().splitlines()[-1][:200]}")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if "/scorm-templates/" in name and name.endswith(".xsd"):
                (folder / Path(name).name).write_bytes(archive.read(name))
    return etree.XMLSchema(etree.parse(folder / "adlcp_rootv1p2.xsd"))


def manifest(content: bytes) -> etree._Element:
    """The manifest of a package, which fits the standard's schemas and names the files that are there."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[:2] == [MANIFEST, PAGE]
        names, text = set(archive.namelist()), archive.read(MANIFEST)
    root = etree.fromstring(text)
    (resource,) = root.iter(f"{IMS}resource")
    assert resource.get(f"{ADL}scormtype") == "sco"
    assert {resource.get("href"), *(file.get("href") for file in resource)} <= names
    (item,) = root.iter(f"{IMS}item")
    assert item.get("identifierref") == resource.get("identifier")
    (organizations,) = root.iter(f"{IMS}organizations")
    assert organizations.get("default") == organizations[0].get("identifier")
    assert [each.text for each in root[0]] == ["ADL SCORM", "1.2"]
    identifiers = root.xpath("//@identifier")
    assert len(set(identifiers)) == len(identifiers)
    return root


@pytest.mark.parametrize("title", ["What is attention?", NASTY])
def test_the_manifest_names_what_is_there(title: str) -> None:
    root = manifest(package("attention", title, b"<!doctype html>"))
    titles = [each.text for each in root.iter(f"{IMS}title")]
    assert len(set(titles)) == 1
    assert titles[0].startswith(title[:9])
    assert len(titles[0]) <= 200
    assert not list(root.iter(f"{ADL}masteryscore"))


@pytest.mark.nightly  # it downloads them
def test_the_manifest_fits_the_published_schemas_and_a_broken_one_does_not(schema: etree.XMLSchema) -> None:
    for title in ("A", NASTY):
        written = zipfile.ZipFile(io.BytesIO(package("a", title, b""))).read(MANIFEST)
        assert schema.validate(etree.fromstring(written)), schema.error_log
    text = zipfile.ZipFile(io.BytesIO(package("a", "A", b""))).read(MANIFEST)
    for right, wrong in (
        (b"<organizations default", b"<organizations name"),
        (b'scormtype="sco"', b'scormtype="page"'),
        (b' identifier="item"', b""),
        (b'identifier="item"', b'identifier="resource"'),
        (b"<title>A</title>", b"<heading>A</heading>"),
    ):
        assert right in text
        assert not schema.validate(etree.fromstring(text.replace(right, wrong))), wrong


@pytest.mark.parametrize("name", ["a b", "", "../a"])
def test_a_name_that_no_platform_could_use_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"^The name .*\.$"):
        package(name, "A", b"")


def lesson(name: str, *, here: bool = True) -> LessonOnSite:
    step = LessonStep("One", "<p>text</p>", "", "", {}, False, [], "", None, None)
    return LessonOnSite(name, name.title(), "", 5, "en", [0], "" if here else "no", [], [step] if here else [])


def test_each_lesson_that_the_site_has_is_a_package_and_all_are_one() -> None:
    made = dict(
        packages(
            [lesson("attention"), lesson("train", here=False), lesson("masks")],
            lambda shown: " ".join(each.name for each in shown).encode(),
        )
    )
    pages = {}
    for file, content in made.items():
        assert manifest(content).get("identifier", "").startswith("headlight-")
        pages[file] = zipfile.ZipFile(io.BytesIO(content)).read(PAGE)
    assert pages == {"attention.zip": b"attention", "masks.zip": b"masks", "lessons.zip": b"attention masks"}
    assert not dict(packages([lesson("train", here=False)], lambda shown: b""))
