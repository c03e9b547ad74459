"""Prepare a run before its first update: task, tokenizers, encoded data, initial model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from model.architectures import Model, make_model
from model.checkpoint import LoadedModel
from model.config import ModelConfig, from_dict, to_dict
from model.data import Task
from model.data.batching import resampling
from model.data.proposal import are_sentences
from model.data.task import Example
from model.scoring import evenly_spaced
from model.text.tokenizer import Tokenizer
from model.text.tokenizer_kinds import build_tokenizers
from model.training.corpus import Corpus, fitting_pairs
from model.training.device import Runtime, check_batch, check_weights
from model.training.evaluation import ValidationSet
from model.training.growth import grown
from model.training.randomness import generator
from model.training.settings import Settings


@dataclass(frozen=True, eq=False)
class Setup:
    """A run that is ready to train. `origin` is stored in config.json: preset, assignments, initial model."""

    name: str
    task: Task
    settings: Settings
    source: Tokenizer
    target: Tokenizer
    model: Model
    corpus: Corpus
    valid: ValidationSet
    runtime: Runtime
    n_skipped: int = 0
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def with_bleu(self) -> bool:
        """Whether BLEU is meaningful, which it is not for strings of letters or single words."""
        if self.settings.training.select_by == "bleu":
            return True
        if self.task.name == "files":
            return are_sentences([example.target for example in self.valid.examples])
        return self.settings.data.tokenizer != "characters"


def prepare(
    name: str,
    task: Task,
    settings: Settings,
    runtime: Runtime,
    *,
    tokenizers: tuple[Tokenizer, Tokenizer] | None = None,
    start_from: LoadedModel | None = None,
    origin: Mapping[str, Any] | None = None,
) -> Setup:
    """Encode the task's data, build or reuse the tokenizers, and initialise the weights from the seed or from a model.

    Raises:
        DataError: the data cannot be obtained.
        TrainingError: no example fits the model.
        ConfigError: the settings contradict each other, or ask for more memory than there is.
    """
    training = settings.training
    examples = task.splits["train"]
    if start_from is not None:
        tokenizers = (start_from.source, start_from.target)
    source, target = tokenizers or build_tokenizers(
        settings.data,
        (example.source for example in examples),
        (example.target for example in examples),
        joint=not settings.model.has_encoder,
    )
    model_config = from_dict(
        ModelConfig, {**to_dict(settings.model), "src_vocab_size": len(source), "tgt_vocab_size": len(target)}
    )
    check_weights(model_config, on_cpu=runtime.torch_device.type == "cpu")
    fitting, pairs = fitting_pairs(examples, source, target, model_config, what="training")
    valid, valid_pairs = fitting_pairs(task.splits["valid"], source, target, model_config, what="validation")
    limit = model_config.max_positions if model_config.has_encoder else model_config.max_positions // 2
    dropout = training.bpe_dropout
    corpus = Corpus(
        pairs,
        seed=training.seed,
        max_tokens=training.max_tokens,
        gradient_accumulation_steps=training.gradient_accumulation_steps,
        processes=runtime.processes,
        # One position is for <eos> or <sos>.
        resample=resampling(fitting, source, target, pairs, dropout=dropout, seed=training.seed, longest=limit - 1)
        if dropout
        else None,
    )
    check_batch(model_config, training, corpus, runtime)
    return Setup(
        name=name,
        task=task,
        settings=replace(settings, model=model_config),
        source=source,
        target=target,
        model=fresh_model(model_config, training.seed, start_from),
        corpus=corpus,
        valid=ValidationSet(valid, valid_pairs, evenly_spaced(len(valid), training.eval_sentences)),
        runtime=runtime,
        n_skipped=len(examples) - len(fitting),
        origin=origin or {},
    )


def fresh_model(config: ModelConfig, seed: int, start_from: LoadedModel | None) -> Model:
    """A model with weights initialised from the seed, or taken from a model of the same or smaller sizes.

    Raises:
        ConfigError: the other model does not fit; see :func:`model.training.growth.grown`.
    """
    model = make_model(config)
    model.reset_parameters(generator(seed, "weights"))
    if start_from is not None:
        weights = grown(start_from.name, start_from.model.state_dict(), model.state_dict(), config)
        model.load_state_dict(weights)
    return model


def test_examples(setup: Setup) -> tuple[Example, ...]:
    """The examples for the final scores: the test split of the task, or validation if it has none."""
    return setup.task.splits.get("test") or setup.task.splits["valid"]
