"""An imported MarianMT or BART model computes what `transformers` computes: logits, attention, translations, ids."""

from pathlib import Path
from typing import Any

import pytest
import torch

from model.checkpoint import LoadedModel, load_model
from model.config import EOS, PAD, UNK, DecodeConfig
from model.decoding.decode import decode_batch
from model.importing.import_folder import import_folder
from tests.model.importing import bart_peer, peer

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_gradients")]

MODELS: dict[str, dict[str, Any]] = {
    "marian": {},
    "marian, relu, not scaled": {"activation_function": "relu", "scale_embedding": False},
    "marian, gelu, deep decoder": {"activation_function": "gelu", "encoder_layers": 1, "decoder_layers": 4},
    "marian, separate": {"separate": True},
    "marian, separate, untied": {"separate": True, "tie_word_embeddings": False},
    "marian, untied": {"tie_word_embeddings": False},
    "marian, another start": {"decoder_start_token_id": 3},
    "marian, fp16": {"half": True},
    "marian, labels": {"labels": (">>deu<<", ">>fra<<")},
    "bart": {},
    "bart, scaled, relu, deep encoder, fp16": {
        "scale_embedding": True,
        "activation_function": "relu",
        "encoder_layers": 3,
        "decoder_layers": 1,
        "half": True,
    },
    "bart, a first token that is set": {"generation": {"forced_bos_token_id": 0}, "one_file": True},
    "bart, untied, another start": {"tie_word_embeddings": False, "decoder_start_token_id": 0},
}


class Pair:
    """A model in `transformers` and the same one imported, with the way from their ids to ours.

    The way is the rule that the documentation states: specials first, the rest in their order.
    """

    def __init__(self, folder: Path, name: str = "marian", *, half: bool = False, **settings: Any) -> None:
        self.family, self.half = name.split(",")[0], half
        if self.family == "marian":
            kind = {key: settings[key] for key in ("separate", "labels") if key in settings}
            self.theirs = peer.marian(**settings)
            self.source_folder = peer.save(self.theirs, folder / "theirs", half=half, **kind)
            vocabs = peer.vocabularies(**({"separate": False} | kind))
            self.tokenizer = peer.tokenizer(self.source_folder)
            special = [{names["<pad>"]: PAD, names["</s>"]: EOS, names["<unk>"]: UNK} for names in vocabs]
            sizes = [len(names) for names in vocabs]
        else:
            one_file = settings.pop("one_file", False)
            self.theirs = bart_peer.bart(**settings)
            self.source_folder = bart_peer.save(self.theirs, folder / "theirs", half=half, one_file=one_file)
            self.tokenizer = bart_peer.tokenizer()
            special, sizes = [{1: PAD, 2: EOS, 3: UNK}], [self.theirs.config.vocab_size]
        ids = [
            names | {i: 4 + n for n, i in enumerate(i for i in range(size) if i not in names)}
            for names, size in zip(special, sizes, strict=True)
        ]
        self.source, self.target = ids[0], ids[-1]
        self.pads = [next(i for i, own in names.items() if own == PAD) for names in (ids[0], ids[-1])]
        self.found = import_folder(self.source_folder, folder / "ours")
        self.ours: LoadedModel = load_model(folder / "ours")

    def prepared(self, text: str) -> str:
        """What `transformers` is given: it normalises punctuation only on request."""
        return self.tokenizer.normalize(text) if self.family == "marian" else text


DAILY = {
    "marian",
    "marian, separate, untied",
    "bart, scaled, relu, deep encoder, fp16",
    "bart, a first token that is set",
}


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=[] if name in DAILY else pytest.mark.nightly) for name in MODELS]
)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    with torch.inference_mode():
        return Pair(tmp_path_factory.mktemp("pair"), request.param, **MODELS[request.param])


def test_logits_and_attention_of_a_padded_batch(pair: Pair) -> None:
    lengths, begin = [(9, 7), (4, 3), (1 + (pair.family == "bart"), 5)], 0 if pair.family == "bart" else None
    first = begin, pair.theirs.config.decoder_start_token_id
    batch = peer.padded_batch(lengths, (pair.source, pair.target), pair.pads, first)
    columns = [pair.target[i] for i in range(len(pair.target))]
    peer.assert_computes_the_same(pair.theirs, pair.ours.transformer, batch, columns)
    assert pair.half == any("16 bits" in remark for remark in pair.found.remarks), "what was converted is said"
    is_set = pair.theirs.generation_config.forced_bos_token_id is not None
    assert is_set == any("begins with <s>" in remark for remark in pair.found.remarks)


@pytest.mark.parametrize("beams", [1, 4])
def test_translations_are_the_same_ids(pair: Pair, beams: int) -> None:
    """From text: tokenized by each side's own tokenizer, searched by its own search."""
    theirs = pair.tokenizer([pair.prepared(text) for text in peer.SENTENCES], return_tensors="pt", padding=True)
    expected = pair.theirs.generate(**theirs, num_beams=beams, do_sample=False, max_length=40)
    rows = [[*pair.ours.source.encode(text).ids, EOS] for text in peer.SENTENCES]
    for row, ours in zip(theirs.input_ids.tolist(), rows, strict=True):
        assert [pair.source[i] for i in row if i != pair.pads[0]] == ours
    src = torch.tensor([row + [PAD] * (max(map(len, rows)) - len(row)) for row in rows])
    search = pair.found.search
    config = DecodeConfig(
        method="beam" if beams > 1 else "greedy",
        beam_size=beams,
        length_penalty=search["length_penalty"],
        alpha=search["alpha"],
        max_length=39,
    )
    # Of MarianMT, a beam that is cut off is weighed otherwise: `transformers` forces </s> onto it.
    everything, finished = beams == 1 or pair.family == "bart", 0
    for row, (best, *_) in zip(expected.tolist(), decode_batch(pair.ours.model, src, config), strict=True):
        if best.finished or everything:
            assert list(best.path)[:38] == [pair.target[i] for i in row[1:] if i != pair.pads[1]][:38]
        if best.finished:
            text = pair.tokenizer.decode(row[1:], skip_special_tokens=True, clean_up_tokenization_spaces=False)
            mine = pair.ours.target.decode(best.tokens, unknown="")
            assert mine == text if pair.family == "bart" else mine.split() == text.split()
            finished += 1
    assert finished, "no sentence ended, so nothing was compared"


@pytest.mark.parametrize("text", ["“so”", "a bench—and reads"])
def test_punctuation_is_normalised_here_and_only_on_request_by_transformers(tmp_path: Path, text: str) -> None:
    """`MarianTokenizer.__call__` leaves quotation marks and dashes as they are; its method `normalize` does not."""
    pair = Pair(tmp_path)
    ours = [*pair.ours.source.encode(text).ids, EOS]
    asked, plain = ([pair.source[i] for i in pair.tokenizer(each).input_ids] for each in (pair.prepared(text), text))
    assert asked == ours != plain


def test_a_model_saved_without_its_output_projection(tmp_path: Path) -> None:
    theirs = bart_peer.bart()
    theirs.final_logits_bias.zero_()
    for name, bare in (("one", False), ("other", True)):
        import_folder(bart_peer.save(theirs, tmp_path / f"their {name}", bare=bare), tmp_path / name)
    one, other = (load_model(tmp_path / name).transformer for name in ("one", "other"))
    assert (one.config.output_bias, other.config.output_bias) == (True, False)
    weights = other.state_dict()
    assert all(torch.equal(weights[name], each) for name, each in one.state_dict().items() if name != "output.bias")
    assert "None is stated" in load_model(tmp_path / "one").card
