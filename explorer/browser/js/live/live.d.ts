/** The section "model" of a folder's config.json; settings of training are left out. */
export interface ModelConfig {
  src_vocab_size: number;
  tgt_vocab_size: number;
  architecture: "transformer" | "decoder" | "lstm";
  separator: boolean;
  d_model: number;
  d_ff: number;
  n_encoder_layers: number;
  n_decoder_layers: number;
  n_encoder_heads: number;
  n_decoder_heads: number;
  activation: "relu" | "gelu" | "silu";
  norm_first: boolean;
  positions: "sinusoidal" | "learned" | "rope" | "alibi" | "none";
  rope_base?: number;
  rope_halves?: boolean;
  attention_gate: boolean;
  max_positions: number;
  share_embeddings: "none" | "target" | "all";
  causal: boolean;
  scale_scores: boolean;
  scale_embeddings: boolean;
  embedding_factor: number;
  residual: boolean;
  banned_tokens: number[];
  first_token: number;
  norm_embeddings: boolean;
}
