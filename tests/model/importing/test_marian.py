"""An imported MarianMT model computes what `transformers` computes: logits, attention, translations, token ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model.checkpoint import LoadedModel, load_model
from model.config import EOS, PAD, SOS, DecodeConfig
from model.decoding.decode import decode_batch, decode_recorded
from model.importing.import_folder import import_folder
from model.recording import AttentionRecorder
from tests.model.importing import peer
from tests.model.importing.comparison import assert_same_computation

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "relu, not scaled": {"activation_function": "relu", "scale_embedding": False},
    "gelu, deep decoder": {"activation_function": "gelu", "encoder_layers": 1, "decoder_layers": 4},
    "separate": {"separate": True},
    "separate, untied": {"separate": True, "tie_word_embeddings": False},
    "untied": {"tie_word_embeddings": False},
    "another start": {"decoder_start_token_id": 3},
    "fp16": {"half": True},
    "labels": {"labels": (">>deu<<", ">>fra<<")},
}


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.inference_mode():
        yield


class Pair:
    """A model in `transformers` and the same one imported, with the way from their ids to ours."""

    def __init__(self, folder: Path, *, half: bool = False, **settings: Any) -> None:
        separate, labels = settings.get("separate", False), settings.get("labels", ())
        self.theirs = peer.marian(**settings)
        self.source_folder = peer.save(self.theirs, folder / "theirs", separate=separate, labels=labels, half=half)
        self.found = import_folder(self.source_folder, folder / "ours")
        self.ours: LoadedModel = load_model(folder / "ours")
        vocabs = peer.vocabularies(separate=separate, labels=labels)
        self.source, self.target = (self._ids(vocab) for vocab in (vocabs[0], vocabs[-1]))
        self.pads = vocabs[0]["<pad>"], vocabs[-1]["<pad>"]

    @staticmethod
    def _ids(vocab: dict[str, int]) -> dict[int, int]:
        """Our id of each of their ids, by the rule that the README states: specials first, the rest in their order."""
        special = {vocab["<pad>"]: PAD, vocab["</s>"]: EOS, vocab["<unk>"]: 3}
        rest = [i for i in range(len(vocab)) if i not in special]
        return special | {i: 4 + n for n, i in enumerate(rest)}

    def batch(self, *lengths: tuple[int, int]) -> tuple[torch.Tensor, ...]:
        """Random sources and targets of these lengths, padded, in their ids and in ours."""
        generator = torch.Generator().manual_seed(7)
        theirs, ours = [], []
        for side, ids in enumerate((self.source, self.target)):
            n = max(length[side] for length in lengths)
            rows = torch.full((len(lengths), n), self.pads[side])
            for row, length in zip(rows, lengths, strict=True):
                row[: length[side]] = torch.randint(1, len(ids) - 1, (length[side],), generator=generator)
            if side == 1:
                rows[:, 0] = self.theirs.config.decoder_start_token_id
            theirs.append(rows)
            mapped = torch.tensor([[ids[i] for i in row] for row in rows.tolist()])
            if side == 1:
                mapped[:, 0] = SOS
            ours.append(mapped)
        return (*theirs, *ours)

    def logits_in_their_order(self, logits: torch.Tensor) -> torch.Tensor:
        """Our logits without <sos>, in the order of their ids."""
        return logits[..., [self.target[i] for i in range(len(self.target))]]


@pytest.fixture(scope="module", params=VARIANTS, ids=str)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(tmp_path_factory.mktemp("pair"), **VARIANTS[request.param])


def test_logits_and_attention_of_a_padded_batch(pair: Pair) -> None:
    src, tgt, our_src, our_tgt = pair.batch((9, 7), (4, 3), (1, 5))
    assert_same_computation(pair.ours, pair.theirs, (src, tgt), (our_src, our_tgt), pair.logits_in_their_order)


@pytest.mark.parametrize("beams", [1, 4])
def test_translations_are_the_same_ids(pair: Pair, beams: int) -> None:
    """From text: tokenized by each side's own tokenizer, searched by its own search."""
    tokenizer = peer.tokenizer(pair.source_folder)
    theirs = tokenizer([tokenizer.normalize(text) for text in peer.SENTENCES], return_tensors="pt", padding=True)
    expected = pair.theirs.generate(**theirs, num_beams=beams, do_sample=False, max_length=40)
    encodings = [pair.ours.source.encode(text) for text in peer.SENTENCES]
    for row, encoding in zip(theirs.input_ids.tolist(), encodings, strict=True):
        assert [pair.source[i] for i in row if i != pair.pads[0]] == [*encoding.ids, EOS]
    longest = max(map(len, encodings)) + 1
    src = torch.tensor([[*e.ids, EOS] + [PAD] * (longest - len(e) - 1) for e in encodings])
    search = pair.found.search
    config = DecodeConfig(
        method="beam" if beams > 1 else "greedy",
        beam_size=beams,
        length_penalty=search.length_penalty,
        alpha=search.alpha,
        max_length=39,
    )
    found = decode_batch(pair.ours.model, src, config)
    finished = 0
    for row, hypotheses in zip(expected.tolist(), found, strict=True):
        wanted = [pair.target[i] for i in row[1:] if i != pair.pads[1]]
        best = hypotheses[0]
        if best.finished:
            assert [*best.tokens, EOS] == wanted
            text = tokenizer.decode(row[1:], skip_special_tokens=True)
            assert pair.ours.target.decode(best.tokens, unknown="").split() == text.split()
            finished += 1
        elif beams == 1:  # a beam that is cut off is weighed otherwise: `transformers` forces </s> onto it
            assert list(best.tokens)[:38] == wanted[:38]
    assert finished, "no sentence ended, so nothing was compared"


def test_stepped_equals_whole_and_recording_changes_nothing(pair: Pair) -> None:
    encoding = pair.ours.source.encode(peer.SENTENCES[0])
    decoded = decode_recorded(pair.ours.model, encoding, pair.ours.target, DecodeConfig(max_length=8))
    src, tgt = torch.tensor([[*encoding.ids, EOS]]), torch.tensor([[SOS, *decoded.path[:-1]]])
    recorder = AttentionRecorder()
    pair.ours.transformer(src, tgt, tap=recorder)
    np.testing.assert_allclose(decoded.trace.cross, recorder.weights("cross"), atol=1e-5)
    assert decoded.trace.cross.sum(axis=-1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["“so”", "a bench—and reads"])
def test_punctuation_is_normalised_here_and_only_on_request_by_transformers(tmp_path: Path, text: str) -> None:
    """`MarianTokenizer.__call__` leaves quotation marks and dashes as they are; its method `normalize` does not."""
    pair = Pair(tmp_path)
    tokenizer = peer.tokenizer(pair.source_folder)

    def their_ids(text: str) -> list[int]:
        return [pair.source[i] for i in tokenizer(text).input_ids]

    ours = [*pair.ours.source.encode(text).ids, EOS]
    assert their_ids(tokenizer.normalize(text)) == ours
    assert their_ids(text) != ours
