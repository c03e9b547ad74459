"""What every encoder-decoder here has on its two ends: embeddings going in, scores of words coming out."""

from __future__ import annotations

from torch import Tensor, nn

from model.config import PAD, ModelConfig
from model.recorder import AttentionRecorder


class EmbeddedModel(nn.Module):
    """Source and target embedding and the output projection, with matrices shared as the configuration says."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.src_embedding = nn.Embedding(config.src_vocab_size, config.d_model, padding_idx=PAD)
        self.tgt_embedding = nn.Embedding(config.tgt_vocab_size, config.d_model, padding_idx=PAD)

    def _add_output(self) -> None:
        """Called after the layers are made, so that parameters stand in the order in which they are used."""
        config = self.config
        self.output = nn.Linear(config.d_model, config.tgt_vocab_size, bias=False)
        if config.share_embeddings in ("target", "all"):
            self.output.weight = self.tgt_embedding.weight
        if config.share_embeddings == "all":
            self.src_embedding.weight = self.tgt_embedding.weight

    def tied_names(self) -> dict[str, str]:
        """Which parameter names are only aliases, and of which name: {alias: canonical}."""
        shared = {"none": (), "target": ("output",), "all": ("output", "src_embedding")}[self.config.share_embeddings]
        return {f"{name}.weight": "tgt_embedding.weight" for name in shared}

    def logits(self, hidden: Tensor, *, record: AttentionRecorder | None = None) -> Tensor:
        """Scores of every target token, [.., d_model] -> [.., tgt_vocab]."""
        scores: Tensor = self.output(hidden)
        if record is not None:
            record.note("output", scores)
        return scores
