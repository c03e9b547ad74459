// Generated from the structs of explorer/browser by `python -m explorer.browser.typescript`. Do not edit.

export interface CellHeader {
  kind: "encoder" | "decoder" | "cross";
  layer: number;
  head: number;
  row: number;
  column: number;
  query: string;
  predicted: string;
  tokens: string[];
  scaled: boolean;
  gated: boolean;
}

export interface CellMessage extends CellHeader {
  part: "cell";
  seq: string;
}

export interface CellReport {
  seq: string;
  kind: "encoder" | "decoder" | "cross";
  layer: number;
  head: number;
  row: number;
  column: number;
}

export interface MachineStage {
  point: string;
  block: string;
  title: string;
  side: "source" | "target";
  op: "ids" | "lookup" | "times" | "plus" | "copy" | "linear" | "split" | "rotate" | "dot" | "divide" | "mask" | "softmax" | "mix" | "join" | "multiply" | "norm" | "rms" | "relu" | "gelu" | "gelu_tanh" | "silu" | "other";
  reads: string[];
  columns: number;
  weight: string;
  width: number;
  bias: boolean;
  factor: number;
  group: number;
}

export interface Place {
  kind: "encoder" | "decoder" | "cross";
  layer: number;
  head: number;
  row: number;
  column: number | null;
  step: number;
}

export interface Block {
  name: string;
  kind: string;
  stack: string;
  layer: number;
  attention: "encoder" | "decoder" | "cross" | "";
  points: string[];
  reads: string[];
}

export interface ModelDiagram {
  encoder: string[][];
  decoder: string[][];
  heads: Record<"encoder" | "decoder" | "cross", number>;
  norm: string;
  positions: string;
}

export interface ViewOptions {
  view: "heads" | "head" | "lines" | "text";
  words: boolean;
  next: boolean;
  steps: boolean;
  beside: boolean;
  content: boolean;
  guess: boolean;
  scale: string;
  palette: string;
  direction: string;
  by: string;
  role: string;
  most: number;
  mass: number;
  heads: number[];
}

export interface Position extends Place {
  options: ViewOptions | null;
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
  given: number;
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
  diagram: ModelDiagram | null;
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

export interface MachinePicture {
  kind: "rows" | "map";
  side: "source" | "target" | "step" | "once";
  scale: number;
  at: number;
  rows: number;
  width: number;
}

export interface MachinePart {
  title: string;
  words: string;
  formula: any;
}

export interface MachineFacts extends MachinePart {
  shape: number[];
  parameters: number;
  picture: MachinePicture | null;
}

export interface MachineMessage {
  part: "machine";
  seq: string;
  stepwise: boolean;
  blocks: Block[];
  facts: Record<string, MachineFacts>;
  parts: Record<"encoder" | "decoder" | "cross", Record<string, MachinePart>>;
  terms: Record<string, string>;
  numbers: number;
  vocabulary: number;
  stages: MachineStage[];
}

export interface Opened {
  block: string;
  head: number;
  part: string;
}

export interface MachinePlace extends Opened {
  step: number;
  follow: string;
}

export interface MachineMount {
  seq: string;
  turn: number;
  start: MachinePlace;
}

export interface Departure extends MachinePlace {
  seq: string;
  place: "attention" | "cell" | "positions" | "masks" | "translate";
  row: number;
  column: number;
}

export interface PointNumbers {
  point: string;
  title: string;
  shape: number[];
  parameters: number;
  mean: number | null;
  deviation: number | null;
  side: "source" | "target";
}

export interface CodeFunction {
  file: string;
  name: string;
  first: number;
  lines: string[];
}

export interface CodePlace {
  function: number;
  marked: number[];
}

export interface Code {
  functions: CodeFunction[];
  places: Record<string, CodePlace>;
}

export interface MachineDetails {
  part: "details";
  seq: string;
  step: number;
  opened: Opened;
  heads: number;
  full: number;
  numbers: PointNumbers[];
  code: Code;
}

export interface MachineWords {
  machine: MachineMessage;
  points: Record<string, Record<string, PointNumbers>>;
  reads: Record<string, string>;
  functions: CodeFunction[];
  places: Record<string, Record<string, CodePlace>>;
}

export interface FrameHeader {
  step: number;
  rows: string[];
  columns: string[];
  predicted: string[];
}

export interface FilmPlace {
  frame: number;
  layer: number;
  head: number;
}

export interface FilmReport extends FilmPlace {
  seq: string;
}

export interface FilmHeader {
  seq: string;
  kind: "encoder" | "decoder" | "cross";
  layers: number;
  heads: number;
  place: FilmPlace;
  frames: FrameHeader[];
}

export interface RoleTile {
  name: string;
  role: string;
  letters: string;
  colour: number;
  mark: string;
  chosen: boolean;
}

export interface RoleGridHeader {
  kind: "encoder" | "decoder" | "cross";
  layers: number;
  heads: number;
  bins: number;
  top: number;
  caption: string;
  tiles: RoleTile[];
}

export interface RoleGridsHeader {
  choosing: boolean;
  grids: RoleGridHeader[];
}

export interface GridHead {
  kind: "encoder" | "decoder" | "cross";
  layer: number;
  head: number;
}

export interface Words {
  language: string;
  decimal: string;
  messages: Record<string, string | string[]>;
}

export interface TensorSlice {
  name: string;
  head: number;
  row: number;
  rows: number;
  column: number;
  columns: number;
}

export interface NumbersRequest {
  seq: string;
  step: number;
  slices: TensorSlice[];
}

export interface MachineNumbers extends NumbersRequest {
  part: "numbers";
}

export interface RowWeights {
  seq: string;
  kind: "encoder" | "decoder" | "cross";
  layer: number;
  head: number;
  row: number;
  weights: number[];
  to: number;
}

export interface SiteFile {
  address: string;
  bytes: number;
  sha256: string;
}

export interface SiteExample {
  source: string;
  hint: string;
  word: string;
  offer: string;
  step: number;
  token: number;
}

export interface SiteDoubt {
  data: string;
  longest: number;
  longest_words: number;
  low: number;
  usual: number;
  letters: boolean;
  most_pieces: number;
  sources: string[];
  spellings: string[];
  years: [number, number];
  not_a_source: string;
}

export interface GridShape {
  layers: number;
  heads: number;
}

export interface SiteModel {
  name: string;
  title: string;
  trained: boolean;
  story: string;
  facts: string[];
  limit: number;
  shapes: Record<"encoder" | "decoder" | "cross", GridShape>;
  examples: SiteExample[];
  doubt: SiteDoubt;
  files: Record<string, SiteFile>;
  rules: Record<string, SiteFile>;
  machine: SiteFile;
  earlier: Record<string, SiteFile>;
  steps: number;
}

export interface SiteLanguage {
  code: string;
  name: string;
  unasked: boolean;
  address: string;
}

export interface SiteHeader {
  page: string;
  pages: string[];
  root: string | null;
  languages: SiteLanguage[];
  examples: string;
  query: Record<string, string>;
  terms: Record<string, [string, string, string]>;
  models: SiteModel[];
  views: string[];
  more: string[];
  lessons: string[];
  words: Words | null;
}

export interface RecordingHeader {
  seq: string;
  text: string;
  detail: string;
  step: number;
  forks: Record<number, number>[];
}

export interface StandaloneHeader {
  views: ("steps" | "heads")[];
  view: "steps" | "heads";
  at: number;
  place: Position;
  terms: Record<string, [string, string, string]>;
  words: Words | null;
  recordings: RecordingHeader[];
}

export interface LessonTerm {
  name: string;
  values: Record<string, string>;
}

export interface LessonQuestion {
  text: string;
  choices: string[];
  salt: string;
  accepted: string[];
  number: number | null;
  within: number;
  here: LessonTerm | null;
  wrong: string;
  solution: string;
}

export interface LessonSolution {
  answer: string;
  right: string;
  opens: boolean;
}

export interface LessonStep {
  title: string;
  text: string;
  needs: string;
  page: string;
  query: Record<string, string>;
  after: boolean;
  controls: string[];
  do: string;
  done: LessonTerm | null;
  question: LessonQuestion | null;
}

export interface LessonOnSite {
  name: string;
  title: string;
  about: string;
  minutes: number;
  language: string;
  parts: number[];
  why: string;
  recap: string[];
  steps: LessonStep[];
  picture: string;
}

export interface MapHeader {
  rows: string[];
  ends: string[];
  columns: string[];
  row_title: string;
  column_title: string;
  unit: string;
  top: number;
  signed: boolean;
  numbers: boolean;
  frames: [number, number][];
  caption: string;
  places: number[];
}
