"""Imported models without an encoder compute what `transformers` computes, from ids to continuations."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from model import import_model, translate
from model.checkpoint import load_model
from model.config import EOS, PAD, SOS, DecodeConfig
from model.decoding.decode import decode_batch, decode_recorded
from model.fast.decoding import fast_decoder
from model.importing.import_folder import import_folder
from model.importing.source_folder import ImportFailed
from model.recording import AttentionRecorder
from model.trace import AttentionTrace, kinds_of
from tests.model.importing import decoder_peers as peers
from tests.model.importing.peer import PUBLISHED, SENTENCES, difference, print_differences, with_configurations

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_gradients")]

FAMILIES = tuple(peers._CLASSES)
MORE = ["ein Rad  auf\nder Bank", "im Jahr 1990's, 12345 Räder.\n\n", "über 🙂 das e\u0301 Gras", " two dogs"]

SIZES: dict[str, dict[str, Any]] = {
    "gpt2": {"n_embd": 768, "n_layer": 12, "n_head": 12},
    "gpt_neo": {"hidden_size": 768, "num_layers": 12, "num_heads": 12, "attention_types": [[["global", "local"], 6]]},
    "opt": {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "ffn_dim": 3072},
    "llama": {  # SmolLM2-135M
        "hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
        "intermediate_size": 1536, "rope_parameters": {"rope_theta": 1e5, "rope_type": "default"},
    },
    "qwen2": {  # Qwen2.5-0.5B
        "hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2,
        "intermediate_size": 4864, "rope_parameters": {"rope_theta": 1e6, "rope_type": "default"},
    },
}  # fmt: skip
"""The sizes of published models."""


def configuration(family: str, seed: int) -> dict[str, Any]:
    """Random sizes and switches of a family; the first is an ordinary one."""
    if seed in (0, PUBLISHED):
        return {} if seed == 0 else SIZES[family]
    draw = random.Random(f"{family} {seed}")
    layers, heads, width = draw.randint(1, 4), draw.choice([1, 2, 8]), draw.choice([16, 32, 48])
    activation = draw.choice(["relu", "gelu", "gelu_new"])
    if family == "gpt2":
        return {
            "n_embd": width, "n_layer": layers, "n_head": heads, "n_inner": draw.choice([None, 17]),
            "activation_function": activation, "layer_norm_epsilon": draw.choice([1e-5, 1e-3]),
            "tie_word_embeddings": seed % 2 == 0,
        }  # fmt: skip
    if family == "gpt_neo":
        return {
            "hidden_size": width, "num_layers": layers, "num_heads": heads, "intermediate_size": draw.choice([None, 9]),
            "activation_function": activation, "attention_types": [[["global"], layers]], "max_position_embeddings": 50,
        }  # fmt: skip
    common = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads}
    if family == "opt":
        return common | {"ffn_dim": 40, "activation_function": activation, "word_embed_proj_dim": width}
    groups = draw.choice([n for n in (1, 2, 4, 8) if heads % n == 0])
    theta = draw.choice([1e4, 1e5, 1e6])
    return common | {
        "intermediate_size": draw.choice([24, 40]), "num_key_value_heads": groups, "rms_norm_eps": 1e-5,
        "rope_parameters": {"rope_theta": theta, "rope_type": "default"}, "tie_word_embeddings": seed % 2 == 0,
        **({"head_dim": draw.choice([4, 6])} if family == "llama" else {}),
    }  # fmt: skip


class Pair:
    """A model in `transformers` and the same one imported, with the way from their ids to ours."""

    def __init__(self, folder: Path, family: str, seed: int) -> None:
        self.family, self.tokenizer = family, peers.library(family)
        # Of stepped weights: steps add up their terms in another order than a whole text does.
        self.most = 1e-4 if seed == PUBLISHED else 1e-5
        self.theirs = peers.model(family, seed=max(seed, 0), **configuration(family, seed))
        theirs = folder / "theirs"
        theirs.mkdir()
        peers.save_tokenizer(family, theirs)
        self.theirs.save_pretrained(theirs)
        self.found = import_folder(theirs, folder / "ours")
        self.ours = load_model(folder / "ours")
        self.end = self.theirs.config.eos_token_id
        rest = [i for i in range(self.theirs.config.vocab_size) if i != self.end]
        self.ids = {self.end: EOS} | {i: 4 + n for n, i in enumerate(rest)}
        self.columns = [self.ids[i] for i in range(len(self.ids))]

    def both(self, text: str) -> tuple[list[int], list[int]]:
        """Their ids of a text and ours."""
        return self.tokenizer.encode(text).ids, list(self.ours.model_config.prompt(self.ours.source.encode(text).ids))


@pytest.fixture(
    scope="module",
    params=with_configurations(FAMILIES),
)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    with torch.inference_mode():
        return Pair(tmp_path_factory.mktemp("pair"), *request.param)


def test_ids_and_text_are_the_same(pair: Pair) -> None:
    for text in (*SENTENCES, *MORE):
        theirs, ours = pair.both(text)
        begins = [SOS] if pair.family == "opt" else []
        assert begins + [pair.ids[i] for i in theirs[len(begins) :]] == ours
        assert pair.ours.target.decode(ours) == pair.tokenizer.decode(theirs)
        encoding = pair.ours.source.encode(text)
        assert encoding.words == tuple(sorted(encoding.words))
        assert max(encoding.offsets)[1] <= len(encoding.text)


def test_logits_and_attention_of_padded_texts(pair: Pair) -> None:
    """Both read the same batch, padded at the left: rounding depends on the shapes of products, too."""
    texts, recorder = (SENTENCES[0], SENTENCES[2][:30], "a"), AttentionRecorder()
    rows = [pair.both(text) for text in texts]
    longest = max(len(ours) for _, ours in rows)
    theirs = torch.tensor([[pair.end] * (longest - len(row)) + row for row, _ in rows])
    ids = torch.tensor([[PAD] * (longest - len(row)) + row for _, row in rows])
    real = ids != PAD
    expected = pair.theirs(
        input_ids=theirs,
        attention_mask=real.long(),
        position_ids=(real.cumsum(-1) - 1).clamp(min=0),
        output_attentions=True,
    )
    assert expected.logits.std() > 0.1, "a test at tiny scale would be blind"
    logits = pair.ours.transformer(ids[:, :0], ids, tap=recorder)[..., pair.columns]
    largest = max(1.0, float(expected.logits.abs().max()))
    of_logits, of_weights = difference(logits[real], expected.logits[real], 1e-5 * largest) / largest, 0.0
    assert len(expected.attentions) == pair.ours.model_config.n_decoder_layers
    for layer, weights in enumerate(expected.attentions):
        for n, length in enumerate(real.sum(-1).tolist()):
            own, its = (each[n, :, -length:, -length:] for each in (recorder.calls["decoder", layer][0], weights))
            of_weights = max(of_weights, difference(own, its))
    print_differences(of_logits, of_weights)


def test_continuations_and_their_records_are_the_same(pair: Pair) -> None:
    """Our search reads the prompt at once and goes on with the fast steps."""
    texts = [*SENTENCES[:2], "die Frau"]
    rows = [pair.ours.source.encode(text).ids for text in texts]
    src = torch.tensor([[*row, EOS, *[PAD] * (max(map(len, rows)) - len(row))] for row in rows])
    together, largest = decode_batch(pair.ours.model, src, DecodeConfig(max_length=10)), 0.0
    for text, (best, *_) in zip(texts, together, strict=True):
        theirs, _ = pair.both(text)
        expected = pair.theirs.generate(
            torch.tensor([theirs]), max_new_tokens=10, do_sample=False, pad_token_id=pair.end
        )[0].tolist()
        wanted = [pair.ids[i] for i in expected[len(theirs) :]]
        assert list(best.path) == wanted
        recorded = decode_recorded(
            pair.ours.model, pair.ours.source.encode(text), pair.ours.target, DecodeConfig(max_length=10)
        )
        assert list(recorded.answer) == wanted
        read = torch.tensor([expected[: len(recorded.path)]])
        full = pair.theirs(input_ids=read, output_attentions=True)
        probabilities = full.logits[0].softmax(-1).amax(-1)
        torch.testing.assert_close(
            torch.from_numpy(recorded.trace.top_probabilities[:, 0]), probabilities, rtol=0, atol=1e-4
        )
        for layer, weights in enumerate(full.attentions):
            largest = max(largest, difference(torch.from_numpy(recorded.trace.decoder[layer]), weights[0], pair.most))
    print(f"largest difference of attention, step by step: {largest:.1e}")


def test_in_float64_steps_compute_what_transformers_computes_at_once(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So whatever differs more in float32 is rounding."""
    theirs, ours = copy.deepcopy(pair.theirs).double(), copy.deepcopy(pair.ours.transformer).double()
    text, mine = pair.both(SENTENCES[0])
    with monkeypatch.context() as patch:
        patch.setattr(torch, "float32", torch.float64)  # to which transformers converts norms, scores and softmax
        full = theirs(input_ids=torch.tensor([text]), output_attentions=True)
    recorder, decoder = AttentionRecorder(), fast_decoder(ours)
    state, rows = decoder.start(torch.tensor([mine[:1]])), []
    for token in mine[1:]:
        logits, state = decoder.step(torch.tensor([token]), state, tap=recorder)
        rows.append(logits[0, pair.columns])
    largest = max(1.0, float(full.logits.abs().max()))
    differences = [difference(torch.stack(rows), full.logits[0, 1:], 1e-10 * largest) / largest]
    for layer, weights in enumerate(full.attentions):
        for n, row in enumerate(recorder.calls["decoder", layer], start=1):
            differences.append(difference(row[0, :, 0], weights[0, :, n, : n + 1], 1e-10))
    print(f"in float64, step by step: logits {differences[0]:.1e}, attention {max(differences[1:]):.1e}")


@pytest.mark.parametrize(
    ("family", "changes", "says"),
    [
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx=True"),
        ("gpt2", {"activation_function": "quick_gelu"}, "activation_function='quick_gelu'"),
        ("gpt2", {"attention_sinks": 4}, "'attention_sinks', which this program does not know"),
        ("opt", {"do_layer_norm_before": False}, "do_layer_norm_before=False"),
        ("opt", {"word_embed_proj_dim": 16}, "word_embed_proj_dim=16"),
        ("gpt_neo", {"attention_types": [[["sparse"], 4]]}, "sparse"),
        ("llama", {"rope_scaling": {"factor": 8.0, "rope_type": "llama3"}}, "rope_scaling"),
        ("llama", {"rope_parameters": {"rope_theta": 1e4, "factor": 2.0}}, "'rope_parameters', which this program"),
        ("llama", {"rope_parameters": {"rope_type": "yarn"}}, "rope_type='yarn'"),
        ("llama", {"attention_bias": True}, "attention_bias=True"),
        ("qwen2", {"use_sliding_window": True}, "use_sliding_window=True"),
        ("qwen2", {"vocab_size": 20}, "ids from 0 to 19"),
    ],
)
def test_what_cannot_be_computed_is_refused_by_name(family: str, changes: Any, says: str, tmp_path: Path) -> None:
    folder = peers.save(family, tmp_path / "theirs")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | changes), encoding="utf-8")
    with pytest.raises(ImportFailed, match=says):
        import_folder(folder, tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"normalizer": {"type": "NFKC"}}, "text cut by NFKC [+] "),
        ({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "x+"}}}, "Split .*x\\+"),
    ],
)
def test_unknown_tokenizers_are_refused_by_name(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    folder = peers.save("llama", tmp_path / "theirs")
    values = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    (folder / "tokenizer.json").write_text(json.dumps(values | changes), encoding="utf-8")
    with pytest.raises(ImportFailed, match=says):
        import_folder(folder, tmp_path / "ours")


def test_the_commands_import_continue_and_write_the_kind_that_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = peers.save("qwen2", tmp_path / "theirs")
    where = ["--checkpoints", str(tmp_path)]
    assert import_model.main([str(folder), "--name", "own", *where]) == 0
    assert "Qwen2, 3 layers" in capsys.readouterr().out
    options = ["--model", "own", *where, "--max-length", "4"]
    assert translate.main([*options, "--json", "--beam", "2", "--trace", str(tmp_path / "own.npz"), "two dogs"]) == 0
    found = json.loads(capsys.readouterr().out)
    trace = AttentionTrace.load_npz(tmp_path / "own.npz")
    assert kinds_of(trace) == ("decoder",)
    assert trace.read_tokens[: len(found["source_tokens"])] == tuple(found["source_tokens"])
    assert [step["token"] for step in found["steps"]] == list(trace.predicted_tokens[len(found["source_tokens"]) - 1 :])
    assert found["translation"] == found["hypotheses"][0]["text"]
    assert translate.main([*options, "--beam", "2", "two dogs"]) == 0
    assert capsys.readouterr().out == found["translation"] + "\n"


def test_a_window_is_the_longest_text_and_old_buffers_are_passed_over(tmp_path: Path) -> None:
    import safetensors.torch

    folder = peers.save("gpt_neo", tmp_path / "theirs")
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    weights["transformer.h.0.attn.attention.bias"] = torch.ones(1, 1, 64, 64, dtype=torch.bool)
    safetensors.torch.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    found = import_folder(folder, tmp_path / "ours")
    assert found.model.max_positions == 40
    assert any("last 40 tokens" in remark for remark in found.remarks)
