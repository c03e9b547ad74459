"""Multi30k: descriptions of photographs in English, German and French (Elliott et al. 2016, 2017)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from platformdirs import user_cache_path

from model.config import DataConfig
from model.data.task import DataError, Example, MissingCorpusError, Prompt, Splits, Task
from model.data.text_files import parallel
from model.folder import write_bytes

ADDRESS = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"
LANGUAGES = {"en": "English", "de": "German", "fr": "French"}
FILES = {"train": "train", "valid": "val", "test": "test_2016_flickr"}
SHA256 = {
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "test_2016_flickr.fr.gz": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
}

ORDER_MATTERS = {"en": "A dog chases a man.", "de": "Ein Hund jagt einen Mann."}
# See Task.most_pieces: 0.0 % of the English and 0.5 % of the German validation sentences have a longer word.
MOST_PIECES = {"en": 6, "de": 8}
LONGEST_WORDS = {"en": 37, "de": 39, "fr": 43}
CONFIDENCE = {("en", "de"): 0.44, ("de", "en"): 0.48}  # see Task.confidence
LICENCE = (
    "The corpus may be used by researchers and educators, for non-commercial research and education; the same terms "
    "apply to models trained on it."
)

PROMPTS = {
    "en": (
        Prompt(
            "Two young children are playing football in the park.",
            "“Football” is American football in German; soccer is “Fußball”, on offer after “spielen”",
            word="im",
            says=("spielen im Park Football",),
            instead="Fußball",
        ),
        Prompt(
            "A man who is wearing a red hat is reading a newspaper.",
            "the relative clause became “mit einem roten Hut”; a comma after “Mann” keeps it",
            word="mit",
            says=("Mann mit einem roten Hut",),
            instead=",",
        ),
        Prompt(
            "A basketball player is trying to throw the ball.",
            "the infinitive goes to the end, and German wants a comma before “den”: it is on offer after “versucht”",
            word="den",
            says=("Basketballspieler versucht den Ball zu werfen",),
            instead=",",
        ),
        Prompt(
            "The dog is not playing with the ball.",
            "the negation is lost; “nicht”, on offer after “spielt”, keeps it",
            word="mit",
            says=("spielt mit dem Ball",),
            instead="nicht",
        ),
        Prompt(
            "A woman is sitting on the bank of a river.",
            "“bank” has two meanings, and the river decides: “Ufer” (shore) leads, “Strand” (beach) is on offer, too",
            word="Ufer",
            says=("Ufer eines Flusses",),
            instead="Strand",
        ),
    ),
    "de": (
        Prompt(
            "Zwei kleine Kinder spielen im Park Fußball.",
            "“Fußball” is “soccer” in American English; “football” is on offer, too",
            word="soccer",
            says=("playing soccer in the park",),
            instead="football",
        ),
        Prompt(
            "Ein Mann, der einen roten Hut trägt, liest eine Zeitung.",
            "“trägt” is at the end of its clause, but English needs it early; with “in”, on offer, it needs no verb",
            word="wearing",
            says=("man wearing a red hat",),
            instead="in",
        ),
        Prompt(
            "Ein Basketballspieler versucht, den Ball zu werfen.",
            "one compound becomes two words; “versucht” is “tries”, or a form with “is”, on offer after “player”",
            word="tries",
            says=("basketball player tries",),
            instead="is",
        ),
        Prompt(
            "Der Hund spielt nicht mit dem Ball.",
            "“nicht” is lost; “not”, on offer after “is”, keeps it",
            word="playing",
            says=("dog is playing with the ball",),
            instead="not",
        ),
        Prompt(
            "Eine Frau sitzt auf einer Bank im Park.",
            "“sitzt” is “is sitting”, as in a sentence; “sitting” alone, as in a caption, is on offer",
            word="is",
            says=("woman is sitting on a bench",),
            instead="sitting",
        ),
    ),
    "fr": (
        Prompt("Deux jeunes enfants jouent au football dans le parc.", "“au” stands for two words"),
        Prompt("Une femme avec un chapeau rouge lit un journal.", "adjective and noun change places"),
        Prompt("Le chien ne joue pas avec la balle.", "the two halves of the negation: what looks at “ne”?"),
    ),
}


def multi30k(src_lang: str, tgt_lang: str, *, words: bool, split_seed: int, data_dir: Path | None, fetch: bool) -> Task:
    """The task for one direction, in subwords or (as in well-known tutorials) in lower-cased spaCy words."""
    name = task_name(src_lang, tgt_lang, words=words)
    source, target = LANGUAGES[src_lang], LANGUAGES[tgt_lang]
    cut = (
        "Lower-cased words; a word that occurs only once in training is unknown."
        if words
        else "Subwords from one vocabulary for both languages, so that no word is unknown."
    )
    return Task(
        name=name,
        title=f"Multi30k: {source} to {target}{', by words' if words else ''}",
        description=(
            f"29,000 descriptions of photographs in {source} and {target}, 1,014 more for validation and the 1,000 of "
            f"the 2016 test set. {cut} The corpus is for research and education; it is read from a folder, or "
            f"downloaded when training is started or a button says so."
        ),
        story=f"Translates descriptions of photographs from {source} to {target}",
        trained_on=f"descriptions of photographs in {source}",
        order_matters=ORDER_MATTERS.get(src_lang, ""),
        confidence=0.0 if words else CONFIDENCE.get((src_lang, tgt_lang), 0.0),
        most_pieces=0 if words else MOST_PIECES.get(src_lang, 0),
        longest_words=LONGEST_WORDS[src_lang],
        data=DataConfig(
            task=name,
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            tokenizer="words" if words else "subwords",
            lowercase=words,
            min_frequency=2 if words else 1,
            split_seed=split_seed,
        ),
        default_preset="small",
        build=partial(read_splits, src_lang, tgt_lang, data_dir, fetch=fetch),
        examples=PROMPTS[src_lang],
        group=by_length,
        licence=LICENCE,
        from_folder=True,
        own_splits={"scenes": partial(_scenes, src_lang)} if {src_lang, tgt_lang} == {"en", "de"} else {},
    )


def _scenes(src_lang: str) -> tuple[Example, ...]:
    from model.data.scenes import examples  # imported here, since most uses of the task do not need it

    return examples(src_lang)


def task_name(src_lang: str, tgt_lang: str, *, words: bool = False) -> str:
    """The name of a task, such as multi30k-en-de or multi30k-en-de-words."""
    return f"multi30k-{src_lang}-{tgt_lang}" + ("-words" if words else "")


MULTI30K_TASKS: Mapping[str, Callable[..., Task]] = {
    task_name(src, tgt, words=words): partial(multi30k, src, tgt, words=words)
    for words in (False, True)
    for src in LANGUAGES
    for tgt in LANGUAGES
    if src != tgt
}


def by_length(example: Example) -> str:
    """The group of an example: the number of words in its source, in three ranges."""
    n = len(example.source.split())
    return "up to 9 words" if n < 10 else "10 to 14 words" if n < 15 else "15 words and more"


def cache_folder() -> Path:
    """The folder for downloads, inside the user's cache folder."""
    return user_cache_path("headlight", appauthor=False, opinion=False) / "multi30k"


def read_splits(src_lang: str, tgt_lang: str, data_dir: Path | None, *, fetch: bool = False) -> Splits:
    """Read the sentence pairs of each split from `data_dir`, the folder named in HEADLIGHT_DATA, or the user's cache.

    Nothing is downloaded unless `fetch` is set: opening a page never contacts another host.

    Raises:
        DataError: a file is missing or damaged, or the numbers of lines differ.
    """
    return {split: _pairs(stem, src_lang, tgt_lang, data_dir, fetch) for split, stem in FILES.items()}


def _pairs(stem: str, src_lang: str, tgt_lang: str, data_dir: Path | None, fetch: bool) -> tuple[Example, ...]:
    source, target = (_find(f"{stem}.{lang}", data_dir or named_folder(), fetch) for lang in (src_lang, tgt_lang))
    return tuple(map(Example, *parallel(source, target, exact=True)))


def named_folder() -> Path | None:
    """The folder of corpora in the environment variable HEADLIGHT_DATA, if it is set."""
    folder = os.environ.get("HEADLIGHT_DATA")
    return Path(folder) if folder else None


def _find(name: str, data_dir: Path | None, fetch: bool) -> Path:
    if data_dir is None:
        path = cache_folder() / f"{name}.gz"
        if path.is_file():
            return path
        if not fetch:
            raise MissingCorpusError(
                "The Multi30k sentences are not on this machine. Download them on the Train page (choose the task, "
                "then 'Download and show some'), or name a folder with them in HEADLIGHT_DATA."
            )
        download(ADDRESS + path.name, path, SHA256[path.name])
        return path
    for folder in (data_dir, data_dir / "multi30k"):
        for path in (folder / f"{name}.gz", folder / name):
            if path.is_file():
                return path
    raise DataError(
        "{data_dir} has neither {name}.gz nor {name}; name the folder with the Multi30k files "
        "(they are at {address}), or leave out {setting} to have them downloaded.",
        data_dir=data_dir,
        name=name,
        address=ADDRESS,
        setting="HEADLIGHT_DATA" if data_dir == named_folder() else "--data-dir",
    )


def download(url: str, path: Path, sha256: str) -> None:
    """Download `url` to `path` with a progress bar; content with another SHA-256 is not stored.

    Raises:
        DataError: no connection, no space, or unexpected content.
    """
    import urllib.error  # imported here, since it takes longer than all other imports of this package
    import urllib.request

    from tqdm import tqdm

    try:
        with (
            urllib.request.urlopen(url, timeout=20) as response,
            tqdm.wrapattr(response, "read", desc=path.name, total=response.length, leave=False) as counted,
        ):
            content = b"".join(iter(partial(counted.read, 1 << 14), b""))
        if response.length:
            raise ConnectionError(f"the connection broke off {response.length:,} bytes before the end")
        digest = hashlib.sha256(content).hexdigest()
        if digest != sha256:
            raise DataError(
                "{url} is not the expected file (SHA-256 {digest}…, expected {sha256}…); "
                "try again, or put the files into a folder yourself and name it with --data-dir.",
                url=url,
                digest=digest[:12],
                sha256=sha256[:12],
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)
    except urllib.error.HTTPError as error:
        raise DataError(
            "{url} is not available (HTTP {code} {reason}); try again later.",
            url=url,
            code=error.code,
            reason=error.reason,
        ) from error
    except OSError as error:  # URLError and time-outs are OSErrors too
        reason = getattr(error, "reason", None) or error.strerror or error
        raise DataError(
            "{name} could not be downloaded from {url} ({reason}); check the connection and the disk and start "
            "again, or fetch the files elsewhere and name their folder with --data-dir.",
            name=path.name,
            url=url,
            reason=reason,
        ) from error
