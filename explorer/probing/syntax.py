"""Score attention by part of speech and dependency relation (with a spaCy pipeline), or by function and content words.

All scores are between words: weights are summed over the tokens of a key word and averaged over those of a query word.
"""

from __future__ import annotations

import functools
import tomllib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import attention_maps, merge
from explorer.decoding.names import index_name
from explorer.locale.messages import t
from explorer.locale.text import fixed, listed, rounded
from explorer.probing import pattern_shares as formulas
from explorer.probing.roles import with_interval
from explorer.probing.sample import targets_of
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.recorded_batches import Observed, Sample
from model.config import AttentionKind, DataConfig
from model.text.tokenizer import Encoding, Tokenizer
from model.trace import VISIBLE

if TYPE_CHECKING:
    from spacy.language import Language

FILE = Path(__file__).parent / "function_words.toml"

WordClass = Literal["function", "content", "punctuation"]


@functools.cache
def _lists() -> dict[str, dict[str, str]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


@functools.cache
def function_words() -> dict[str, frozenset[str]]:
    """The function words of each language that has a list, in lower case."""
    return {name: frozenset(" ".join(classes.values()).split()) for name, classes in _lists().items()}


def determiners(lang: str) -> frozenset[str]:
    """The determiners of a language, in lower case; empty if it has no list."""
    return frozenset(_lists().get(lang, {}).get("determiners", "").split())


def languages() -> str:
    """The languages with a list, as a phrase."""
    return listed(sorted(function_words()))


def word_class(word: str, lang: str) -> WordClass:
    """Classify a word: a function word if its language lists it, punctuation without any letter or digit, else content.

    Raises:
        KeyError: the language has no list.
    """
    bare = word.strip().lower().replace("’", "'")
    if bare in function_words()[lang]:
        return "function"
    return "content" if any(letter.isalnum() for letter in bare) else "punctuation"


def classes_of(sentences: Sequence[Encoding], lang: str) -> list[tuple[WordClass, ...]] | None:
    """By sentence, the word class of every token; None if the language has no list."""
    return [_classes(sentence, lang) for sentence in sentences] if lang in function_words() else None


def target_classes(config: DataConfig, target: Tokenizer, sample: Sample) -> list[tuple[WordClass, ...]] | None:
    """Word classes of the target tokens; None for character-level models and for languages without a list."""
    return None if config.tokenizer == "characters" else classes_of(targets_of(sample, target), config.tgt_lang)


def _classes(sentence: Encoding, lang: str) -> tuple[WordClass, ...]:
    spans: dict[int, tuple[int, int]] = {}
    for word, (start, end) in zip(sentence.words, sentence.offsets, strict=True):
        first, last = spans.get(word, (start, end))
        spans[word] = min(first, start), max(last, end)
    classes = {word: word_class(sentence.text[start:end], lang) for word, (start, end) in spans.items()}
    return tuple(classes[word] for word in sentence.words)


PIPELINES = {"en": "en_core_web_sm", "de": "de_core_news_sm"}
LEAST_ROWS = 20  # words, or sentences, that a claim about a kind of word needs as evidence
OFFSET_MARGIN = 0.1  # above the offset baseline (Voita et al. 2019, §5.2)

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Parsed:
    """The grammar of a sentence, with one entry per token, <eos> last.

    tags: coarse part of speech, '' for <eos>. relations: the dependency relation of the token's word, '' for none.
    heads: the first token of the word that it depends on, -1 for the root and <eos>.
    """

    tags: tuple[str, ...]
    relations: tuple[str, ...]
    heads: tuple[int, ...]


def load_pipeline(lang: str) -> Language | None:
    """Load the trained pipeline of a language; None if there is none or it is not installed."""
    name = PIPELINES.get(lang)
    if name is None:
        return None
    import spacy

    if not spacy.util.is_package(name):
        return None
    return spacy.load(name, disable=["ner", "lemmatizer"])


def parse(nlp: Language, sentences: Sequence[Encoding]) -> list[Parsed]:
    """Parse every sentence; a token belongs to the spaCy word in which it begins."""
    documents = nlp.pipe(sentence.text for sentence in sentences)
    parsed = []
    for source, document in zip(sentences, documents, strict=True):
        word_at = [0] * (
            len(document.text) + 1
        )  # the word of each character; white space belongs to the word before it
        for word in document:
            word_at[word.idx :] = [word.i] * (len(word_at) - word.idx)
        words = [word_at[min(start, len(word_at) - 1)] for start, _ in source.offsets]
        first = {word: i for i, word in reversed(list(enumerate(words)))}
        rows = [document[word] for word in words] if len(document) else []
        root = [word.head.i == word.i for word in rows]
        parsed.append(
            Parsed(
                tags=(*(word.pos_ for word in rows), ""),
                relations=(*("" if is_root else word.dep_ for word, is_root in zip(rows, root, strict=True)), ""),
                heads=(
                    *(-1 if is_root else first.get(word.head.i, -1) for word, is_root in zip(rows, root, strict=True)),
                    -1,
                ),
            )
        )
    return parsed


@dataclass(frozen=True, eq=False)
class TagScores:
    """Weight on each part of speech: mean [layer, head], that of uniform attention, and number of sentences.

    `gain` [layer, head]: the mean minus that of uniform attention in the same sentences, with intervals that hold for
    all heads and parts of speech at once.
    """

    mean: dict[str, Scores]
    gain: dict[str, Estimate]
    uniform: dict[str, float]
    sentences: dict[str, int]


def by_tag(observed: Sequence[Observed], tags: Sequence[Sequence[str]], kind: AttentionKind) -> TagScores:
    """Measure the weight on each part of speech, over the sentences that contain it; `tags` are those of source tokens.

    Raises:
        ValueError: `kind` is decoder self-attention, whose keys are not source words.
    """
    if kind == "decoder":
        raise ValueError("the keys of decoder self-attention are target words; only the source is parsed.")
    own: dict[str, list[Scores]] = defaultdict(list)
    chance: dict[str, list[float]] = defaultdict(list)
    for item, token_tags in zip(observed, tags, strict=True):
        maps = attention_maps(item.trace, kind, "words")
        word_tags = np.array([token_tags[start] for start, _ in maps.column_spans])
        uniform, _ = merge(
            formulas.uniform_like(item.trace.mask(kind) == VISIBLE).astype(np.float32),
            item.trace.mask(kind),
            maps.row_spans,
            maps.column_spans,
        )
        for tag in set(word_tags.tolist()) - {""}:
            weight, expected = (
                part[..., word_tags == tag].sum(axis=-1).mean(axis=-1) for part in (maps.weights, uniform)
            )
            own[tag].append(weight)
            chance[tag].append(float(expected))
    gains = {
        tag: bootstrap.of_mean(np.stack(values) - np.array(chance[tag])[:, None, None]) for tag, values in own.items()
    }
    comparisons = sum(item.value.size for item in gains.values())
    return TagScores(
        {tag: np.mean(values, axis=0) for tag, values in own.items()},
        {tag: bootstrap.widened(item, comparisons) for tag, item in gains.items()},
        {tag: float(np.mean(values)) for tag, values in chance.items()},
        {tag: len(values) for tag, values in own.items()},
    )


@dataclass(frozen=True, eq=False)
class RelationScores:
    """How often a word's largest weight is on the word that it depends on, by relation.

    accuracy, weight: [layer, head] by relation: share of the words, and mean weight; rows: the number of words;
    offset: the commonest distance to the word that it depends on, and its share (0 to 1): the baseline.
    """

    accuracy: dict[str, Scores]
    weight: dict[str, Scores]
    rows: dict[str, int]
    offset: dict[str, tuple[int, float]]

    def clear(self, relation: str) -> list[tuple[int, int]]:
        """The heads (from 0) that beat the offset baseline by the margin, over enough words."""
        if self.rows[relation] < LEAST_ROWS:
            return []
        beyond = self.accuracy[relation] >= self.offset[relation][1] + OFFSET_MARGIN
        return [(int(layer), int(head)) for layer, head in np.argwhere(beyond)]


def by_relation(observed: Sequence[Observed], parsed: Sequence[Parsed]) -> RelationScores:
    """Score encoder attention from each word to its syntactic head (Voita et al. 2019, §5.2; Clark et al. 2019, §4).

    An attention head that always looks one word to the left finds many syntactic heads without knowing any grammar. The
    baseline is therefore the best fixed distance of each relation; <eos> is not a candidate.
    """
    hits: dict[str, list[Scores]] = defaultdict(list)
    weights: dict[str, list[Scores]] = defaultdict(list)
    offsets: dict[str, Counter[int]] = defaultdict(Counter)
    for item, grammar in zip(observed, parsed, strict=True):
        maps = attention_maps(item.trace, "encoder", "words")
        word_of = {token: i for i, (start, end) in enumerate(maps.row_spans) for token in range(start, end)}
        favourite = maps.weights[..., :-1].argmax(axis=-1)  # [layer, head, word]
        for i, (start, _) in enumerate(maps.row_spans):
            head = grammar.heads[start]
            if head < 0 or word_of[head] == i:
                continue
            relation, goal = grammar.relations[start], word_of[head]
            hits[relation].append((favourite[..., i] == goal).astype(np.float64))
            weights[relation].append(maps.weights[..., i, goal].astype(np.float64))
            offsets[relation][goal - i] += 1
    best = {relation: counts.most_common(1)[0] for relation, counts in offsets.items()}
    return RelationScores(
        {relation: np.mean(values, axis=0) for relation, values in hits.items()},
        {relation: np.mean(values, axis=0) for relation, values in weights.items()},
        {relation: len(values) for relation, values in hits.items()},
        {relation: (offset, count / len(hits[relation])) for relation, (offset, count) in best.items()},
    )


def tag_rows(scores: TagScores) -> list[dict[str, Any]]:
    """One table row for uniform attention and one per head; one column per part of speech, the commonest first."""
    tags = sorted(scores.mean, key=lambda tag: -scores.sentences[tag])
    rows: list[dict[str, Any]] = [{t("head"): t("uniform")} | {tag: round(scores.uniform[tag], 3) for tag in tags}]
    shape = next(iter(scores.mean.values())).shape if tags else (0, 0)
    for place in np.ndindex(shape):
        rows.append({t("head"): index_name(*place)} | {tag: round(float(scores.mean[tag][place]), 3) for tag in tags})
    return rows


def head_tag_rows(scores: TagScores, layer: int, head: int) -> list[dict[str, Any]]:
    """One table row per part of speech, the commonest first: the weight of one head (from 0) beside uniform attention.

    The intervals of the differences hold for all heads and parts of speech at once.
    """
    return [
        {
            t("kind of word"): tag,
            t("weight"): fixed(float(scores.mean[tag][layer, head]), 2),
            t("uniform"): fixed(scores.uniform[tag], 2),
            t("above uniform"): with_interval(*scores.gain[tag].at(layer, head), signed=True),
            t("sentences"): scores.sentences[tag],
        }
        for tag in sorted(scores.mean, key=lambda tag: -scores.sentences[tag])
    ]


def tag_sentence(scores: TagScores) -> str:
    """Name the head that exceeds uniform attention most, and on which part of speech."""
    if not scores.gain:
        return t("No word of the sample has a part of speech.")
    gains = [
        (float(item.low[layer, head]), tag, layer, head)
        for tag, item in scores.gain.items()
        if scores.sentences[tag] >= LEAST_ROWS
        for layer, head in np.ndindex(item.value.shape)
    ]
    comparisons = sum(item.value.size for item in scores.gain.values())
    low, tag, layer, head = max(gains, default=(0.0, "", 0, 0))
    if low <= 0:
        return t(
            "No head is above uniform attention on any part of speech, beyond chance in {n} comparisons.", n=comparisons
        )
    gain, least, most = (fixed(part, 2, signed=True) for part in scores.gain[tag].at(layer, head))
    return t(
        "Most clearly above uniform attention, of {n} heads and parts of speech: {head} on {tag} ({weight} instead "
        "of {uniform}, by {gain}, {least} to {most}, over {sentences}). The interval holds for all {n} at once.",
        n=comparisons,
        head=index_name(layer, head),
        tag=tag,
        weight=fixed(float(scores.mean[tag][layer, head]), 2),
        uniform=fixed(scores.uniform[tag], 2),
        gain=gain,
        least=least,
        most=most,
        sentences=t("{n} sentence", "{n:,} sentences", n=scores.sentences[tag]),
    )


def relation_rows(scores: RelationScores) -> list[dict[str, Any]]:
    """One table row per relation, the commonest first: its best head beside the best fixed distance."""
    rows = []
    for relation in sorted(scores.rows, key=lambda name: -scores.rows[name]):
        values = scores.accuracy[relation]
        layer, head = divmod(int(values.argmax()), values.shape[1])
        offset, baseline = scores.offset[relation]
        rows.append(
            {
                t("relation"): relation,
                t("words"): scores.rows[relation],
                t("best head"): index_name(layer, head),
                t("accuracy (%)"): rounded(100 * float(values[layer, head]), 1),
                t("mean weight"): rounded(float(scores.weight[relation][layer, head]), 3),
                t("best distance"): f"{offset:+d}",
                t("its accuracy (%)"): rounded(100 * baseline, 1),
                t("heads beyond the margin"): ", ".join(index_name(*place) for place in scores.clear(relation))
                or t("none"),
            }
        )
    return rows


def relation_sentence(scores: RelationScores) -> str:
    """State how many relations at least one head has learned, and the rule for that."""
    clear = sorted(relation for relation in scores.rows if scores.clear(relation))
    rule = t(
        "A head has learned a relation if it finds the right word {points:.0f} percentage points more often than the "
        "best fixed distance, over at least {words}.",
        points=100 * OFFSET_MARGIN,
        words=t("{n} word", "{n:,} words", n=LEAST_ROWS),
    )
    relations = t("{n} relation", "{n:,} relations", n=len(scores.rows))
    if clear:
        counted = t(
            "{n} of {relations} has such a head: {named}.",
            "{n} of {relations} have such a head: {named}.",
            n=len(clear),
            relations=relations,
            named=", ".join(clear),
        )
    else:
        counted = t("0 of {relations} have such a head.", relations=relations)
    return f"{counted} {rule}"
