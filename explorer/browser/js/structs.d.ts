// Made from explorer/browser/structs.py by `python -m explorer.browser.typescript`; not to be edited.

export interface Place {
  kind: "encoder" | "decoder" | "cross";
  layer: number;
  head: number;
  row: number;
  col: number | null;
  step: number;
}

export interface Position {
  kind: "encoder" | "decoder" | "cross";
  layer: number;
  head: number;
  step: number;
  row: number;
  column: number | null;
  view: string;
}

export interface Source {
  tokens: string[];
  words: number[];
  unknown: number[];
}

export interface Target {
  tokens: string[];
  words: number[];
  predicted: string[];
  predicted_ids: number[];
  probabilities: number[] | null;
  chosen: number[];
  by: string;
}

export interface Alternatives {
  tokens: string[][];
  ids: number[][];
  probabilities: number[][];
}

export interface Heat {
  temperatures: number[];
  log_sums: number[][];
}

export interface Checks {
  error: number;
  leaks: number;
  heads: number;
}

export interface Shape {
  layers: number;
  heads: number;
  queries: number;
  keys: number;
}

export interface FormOfMap {
  rows: string[];
  predicted: string[];
  columns: string[];
  row_spans: [number, number][];
  column_spans: [number, number][];
  effective: ((number | null)[])[];
  shares: Record<string, ((number | null)[])[]>;
  roles: string[][];
}

export interface DecodingHeader {
  model: string;
  trained: boolean;
  edits: string[];
  source: Source;
  target: Target;
  alternatives: Alternatives;
  heat: Heat | null;
  diagram: any;
  checks: Checks;
  shapes: Record<"encoder" | "decoder" | "cross", Shape>;
  subwords: boolean;
}

export interface DecodingMessage {
  seq: string;
  decoding: DecodingHeader | null;
  forms: Record<"encoder" | "decoder" | "cross", Record<"tokens" | "words" | "words-next", FormOfMap>>;
}

export interface ViewMount {
  seq: string;
  turn: number;
  start: Position;
  explains: boolean;
  compact: boolean;
}

export interface ViewReport {
  seq: string;
  turn: number;
  place: Position;
  wanted: ("encoder" | "decoder" | "cross")[];
}

export interface ForkReport {
  seq: string;
  place: Position;
  token_id: number;
}
