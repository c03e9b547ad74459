"""The README and docs/: links and anchors resolve, pictures exist, and what is made from the code is up to date."""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml
from PIL import Image

from tests.docs import markdown
from tests.docs.generated import PARTS, documents, renewed
from tests.docs.pictures import MOVING
from tests.paths import ROOT

DOCUMENTS = documents()
PAGES = [path for path in DOCUMENTS if path.is_relative_to(ROOT / "docs")]
MAX_README = 150
MAX_MOVING = 1_000_000


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def anchors(path: Path) -> set[str]:
    """The anchors of a page that are the same on a code host and on the site."""
    headings = markdown.headings(text_of(path))
    return {markdown.github_anchor(each) for each in headings} & {markdown.site_anchor(each) for each in headings}


def broken(path: Path, links: Sequence[str]) -> list[str]:
    """The links of a document that lead nowhere; those of the site lead to docs/ only."""
    found = []
    for link in links:
        file, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (path.parent / unquote(file)).resolve() if file else path
        reached = target.exists() and (path not in PAGES or target.is_relative_to(ROOT / "docs"))
        if not reached or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_pictures_are_there(path: Path) -> None:
    assert broken(path, markdown.links(text_of(path))) == []
    assert [address for address, alternative in markdown.pictures(text_of(path)) if not alternative] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_generated_parts_are_up_to_date(path: Path) -> None:
    assert renewed(text_of(path)) == text_of(path), "renew it: python -m tests.docs"


def test_every_generated_part_is_in_a_document() -> None:
    named = re.findall(r"<!-- generated: (.+?) -->", "".join(map(text_of, DOCUMENTS)))
    assert sorted(named) == sorted(PARTS)


def test_a_list_of_the_lessons_has_all_of_them_in_every_language() -> None:
    in_english, in_german = (PARTS[name]().splitlines() for name in ("lessons", "lessons de"))
    assert len(in_english) == len(in_german) == 2 + len(list((ROOT / "explorer" / "lessons" / "content").glob("*.md")))


def test_the_readme_is_short() -> None:
    assert len(text_of(ROOT / "README.md").splitlines()) <= MAX_README
    assert MOVING.stat().st_size <= MAX_MOVING
    with Image.open(MOVING) as picture:
        assert getattr(picture, "n_frames", 1) > 5


def test_every_page_is_in_the_menu_of_the_site() -> None:
    settings = yaml.safe_load(text_of(ROOT / "mkdocs.yml"))
    pages = re.findall(r"[\w/-]+\.md", str(settings["nav"]))
    assert sorted(pages) == sorted(path.relative_to(ROOT / "docs").as_posix() for path in PAGES)
    assert settings["theme"]["font"] is False, "no fonts from another host"


def test_the_site_builds(tmp_path: Path) -> None:
    """MkDocs finds nothing wrong, and no page loads anything from another host."""
    build = pytest.importorskip("mkdocs.commands.build", reason="MkDocs comes with docs/requirements.txt")
    from mkdocs.config import load_config

    build.build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True))
    html = "".join(text_of(page) for page in tmp_path.rglob("*.html"))
    loaded = re.findall(r"<(?:script|img|link|iframe)[^>]*?(?:src|href)=\"?(https?://[^\"> ]+)", html)
    assert loaded == []


# The map of the rooms in docs/architecture.md.


def rooms() -> list[tuple[list[str], list[str]]]:
    """The rows of the map: the places in the first column, and the files that the second one names."""
    found = []
    for line in text_of(ROOT / "docs" / "architecture.md").splitlines():
        if line.startswith("| `"):
            places, rest = line.strip("|").split("|", 1)
            found.append((re.findall(r"`([^`]+)`", places), re.findall(r"`([\w/]+(?:\.\w+|/))`", rest)))
    return found


def test_the_map_names_what_exists() -> None:
    missing = []
    for places, files in rooms():
        folders = [ROOT / place.replace("<page>", "probe") for place in places]
        # `model/tap.py`, `points.py`: a bare name is in the folder of the first place of its row.
        first = folders[0] if folders[0].is_dir() else folders[0].parent
        for place, folder in zip(places, folders, strict=True):
            if not folder.exists() and not (first / place).exists():
                missing.append(place)
        homes = {first, *(folder for folder in folders if folder.is_dir()), ROOT}
        homes |= {home / "js" for home in homes}
        missing += [file for file in files if not any((home / file).exists() for home in homes)]
    assert not missing


def test_every_package_is_on_the_map() -> None:
    named = {place for places, _ in rooms() for place in places}
    explorer = {f"explorer/{path.name}/" for path in (ROOT / "explorer").iterdir() if (path / "__init__.py").exists()}
    model = {f"model/{path.name}/" for path in (ROOT / "model").iterdir() if (path / "__init__.py").exists()}
    assert {place.replace("<page>/", "") for place in named} >= explorer | model


@pytest.mark.parametrize("path", [*DOCUMENTS, ROOT / "mkdocs.yml"], ids=lambda path: path.name)
def test_files_that_the_text_names_exist(path: Path) -> None:
    """Paths from the project's root, such as `model/tap.py` and `explorer/screens/`."""
    tops = "|".join(("app\\.py", "pages", "explorer", "model", "tests", "deploy", "docs", "checkpoints"))
    named = re.findall(rf"`((?:{tops})/[\w./-]*)`", text_of(path))
    assert [name for name in named if not (ROOT / name).exists()] == []
