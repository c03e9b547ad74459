"""The two ends of every encoder-decoder: embeddings, and an output projection that may share their matrix."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.config import PAD, ModelConfig
from model.tap import Part


class EncoderDecoder(Part):
    """The two ends of a model: embeddings of tokens, and scores of target tokens."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.dropout = nn.Dropout(config.dropout)
        if config.has_encoder:
            self.src_embedding = nn.Embedding(config.src_vocab_size, config.d_model, padding_idx=PAD)
        self.tgt_embedding = nn.Embedding(config.tgt_vocab_size, config.d_model, padding_idx=PAD)

    def add_output(self) -> None:
        """Add the output projection; call it after adding the layers, so that parameters are in the order of use."""
        config = self.config
        self.output = nn.Linear(config.d_model, config.tgt_vocab_size, bias=config.output_bias)
        if config.share_embeddings in ("target", "all"):
            self.output.weight = self.tgt_embedding.weight
        if config.share_embeddings == "all" and config.has_encoder:
            self.src_embedding.weight = self.tgt_embedding.weight

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights: Xavier for projections, N(0, 1/d_model) for embeddings and positions.

        The embedding of <pad> starts at 0. It stays there unless it is tied to the output projection, which trains it
        as one of its rows. It never reaches a real token, since padding is masked.
        """
        for name, parameter in self.named_parameters():  # each tied matrix appears once
            if "embedding" in name:
                nn.init.normal_(parameter, std=self.config.d_model**-0.5, generator=generator)
                if not name.startswith("positions"):
                    parameter[PAD].zero_()
            elif parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter, generator=generator)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
            else:  # the scale of a norm
                nn.init.ones_(parameter)

    def tied_names(self) -> dict[str, str]:
        """Aliases among the parameter names, with the canonical name of each: {alias: canonical}."""
        tied = {"none": (), "target": ("output",), "all": ("output", "src_embedding")}
        shared = tied[self.config.share_embeddings]
        return {f"{name}.weight": "tgt_embedding.weight" for name in shared if hasattr(self, name)}

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores of every target token, [.., d_model] -> [.., tgt_vocab]."""
        return self.point("logits", self.output(hidden))


def count_parameters(model: nn.Module) -> int:
    """Number of trainable parameters; a tied matrix counts once."""
    return sum(parameter.numel() for parameter in model.parameters())
