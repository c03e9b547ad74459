// The types of the browser's own state; those of what is sent are in structs.d.ts. Layers and heads count from 1; head 0
// is the mean over the heads of its layer. Steps, rows and columns count from 0, as in arrays.

import type { DecodingHeader, FormOfMap, Heat, Position, Shape, ViewMount } from "./structs";
export type { Heat };

export type Kind = "encoder" | "decoder" | "cross";
export type Side = "source" | "target";
export type Rgb = number[];
export type Span = [start: number, end: number];
export type Content = string | Node;
export type Find = <E extends Element = HTMLElement>(selector: string) => E;
export type Write = (
  text: string, x: number, y: number, align: CanvasTextAlign, tilt?: number, size?: number, weight?: number,
) => void;

/** What Streamlit passes to a component. A mounted component keeps its state on its root, under the name `Key`. */
export interface Mount<Data, Key extends string, State> {
  data: Data;
  parentElement: ParentNode & { [name in Key]?: State };
  setStateValue: Report;
  setTriggerValue: Report;
}
type Report = (name: string, value: unknown) => void;

export interface Palette {
  source: string;
  target: string;
  masked: string;
  hatch: string;
}

export interface Theme extends Palette {
  /** The attention scale in use, and the theme's default scale: 256 colours each. */
  scale: Rgb[];
  own: Rgb[];
  ink: string;
  ground: string;
  font: string;
  /** Hatching by mask code. */
  patterns: CanvasPattern[];
}

/** Where a map is on its canvas, and the size of its cells, in CSS pixels. */
export interface Plot {
  left: number;
  top: number;
  cell: number;
}

/** One key of a row. */
export interface Cell {
  key: number;
  weight: number;
  mask: number;
  /** From 1; 0 where masked. Equal weights share a rank. */
  rank: number;
}
export interface Row {
  cells: Cell[];
  /** The visible cells, heaviest first. */
  seen: Cell[];
}

export interface Pick {
  layer: number;
  head: number;
}

export interface Column {
  name: string;
  /** The default direction: 1 ascending, -1 descending. */
  first: number;
}
export interface TableRow {
  /** The sort key of each column; null is last. */
  at: (number | null)[];
  cells: Content[];
}
export interface Sort {
  by: number;
  sign: number;
}

export interface Track {
  at: () => number;
  last: () => number;
  go: (step: number) => void;
}
export interface Player {
  playing: () => boolean;
  start: () => void;
  stop: () => void;
}

/** What a view does with the keys that it takes. */
export interface KeyUser {
  /** Its commands by `KeyboardEvent.key`. */
  commands: Record<string, string>;
  /** The same for people: keys, with a space between them, and what they do. */
  help: [keys: string, meaning: string][];
  run: (command: string) => void;
  escape?: () => void;
}
export interface Keys {
  stop: () => void;
  showHelp: () => void;
}

// Diagram of a model: see model_diagram.py

export interface Diagram {
  /** The sublayers of each layer, in the order in which they compute. */
  encoder: string[][];
  decoder: string[][];
  heads: Partial<Record<Kind, number>>;
  norm: string;
  positions: string;
  /** Every block, where all are drawn: the machine. */
  blocks: MachineBlock[];
}
/** A place of attention on screen, for a diagram that is drawn anew only where one of these changes. */
export interface Placed {
  diagram: Diagram | null;
  kind: Kind;
  layer: number;
  width: number;
}
/** A block of the small diagram; it can be chosen if it is a place of attention. */
export interface DiagramBlock {
  kind: string;
  layer: number;
  x: number;
  y: number;
}
export interface DiagramPlan {
  width: number;
  height: number;
  cell: { width: number; height: number };
  blocks: DiagramBlock[];
  /** The names of rows, and other words, centred at their place. */
  labels: { text: string; x: number; y: number; side: string }[];
  /** Lines with an arrow at their end: points, and what flows there. */
  wires: Wiring[];
  frames: { x: number; y: number; width: number; height: number }[];
}

// Stepper

/** One kind of attention between tokens; without weights until they have arrived. */
export interface AttentionMap extends Shape {
  kind: Kind;
  area: number;
  weights: Float32Array | undefined;
  mask: Uint8Array;
  /** Cached means over the heads, by layer. */
  means: Map<number, ArrayLike<number>>;
  rows: string[];
  columns: string[];
}

/** A decoding as the store holds it. */
export interface Decoding extends DecodingHeader {
  seq: string;
  diagram: Diagram | null;
  /** The kinds of attention that the model has. */
  order: Kind[];
  maps: Record<Kind, AttentionMap>;
  forms: Partial<Record<Kind, Partial<Record<string, FormOfMap>>>>;
}

export type Stored = Float32Array | Uint8Array;
export interface Message {
  header: any;
  arrays: Record<string, { values: Stored, shape: number[] }>;
}

/** In a page without a server: the tokens of each step from which a continuation was recorded. */
export type StepperMount = ViewMount & { recorded?: number[][] };

export interface ChosenCell {
  kind: Kind;
  query: number;
  key: number;
  locked: boolean;
}

/** A token that somebody looks at on the stage; a held one stays when the pointer leaves. */
export interface Look {
  side: Side;
  at: number;
  held: boolean;
}
/** The weights of one head [query, key], and their mask codes. */
export interface StageMap {
  values: ArrayLike<number>;
  mask: Uint8Array;
  keys: number;
}
export interface StageLine {
  side: Side;
  /** Row or column of the map, and its tokens. */
  index: number;
  span: Span;
  weight: number;
  mask: number;
}
export interface StageView {
  from: { side: Side; span: Span };
  /** The row or the column that is shown; -1 for the other one. */
  query: number;
  column: number;
  lines: StageLine[];
}
export interface Curve {
  id: string;
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  /** How far an arc within one sentence hangs down; 0 for a curve between the two. */
  bend: number;
  weight: number;
  from: Side;
  to: Side;
  /** The gaps between words through which it leaves its own sentence and reaches the other, from either end. */
  out: Gap[];
  home: Gap[];
}
/** A gap between two words of a line, and the edges of that line. */
export interface Gap {
  x: number;
  near: number;
  far: number;
}
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
  hidden: boolean;
}

export interface StepperFigure {
  box: HTMLElement;
  canvas: HTMLCanvasElement;
  title: HTMLElement;
  about: HTMLElement;
  caption: HTMLElement;
  readout: HTMLElement;
  plot: Plot & { width: number; flat: boolean };
  /** What the map was drawn from, so that it is drawn only after a change. */
  drawn?: string;
}

export interface StepperState {
  find: Find;
  box: HTMLElement;
  details: HTMLDetailsElement;
  theme: Theme;
  figures: Record<Kind, StepperFigure>;
  player: Player;
  observer: ResizeObserver;
  keys: Keys;
  draw: () => void;
  setStateValue: Report;
  setTriggerValue: Report;
  /** The pending animation frame and timer. */
  frame: number;
  reporting: number;
  width: number;
  mount: StepperMount;
  /** Listens to the store no more. */
  deafen: () => void;
  data: Decoding;
  seq: string;
  turn: number;
  kinds: Kind[];
  last: number;
  optionRows: number;
  /** What the diagram shows. */
  placed?: Placed;
  /** The index of the temperature of the bars. */
  heat: number;
  kind: Kind;
  pick: Record<Kind, Pick>;
  step: number;
  cell: ChosenCell | null;
  /** Whether subwords are merged into words, and the tokens of each word. */
  words: boolean;
  spans: Record<Side, Span[]>;
  single: Record<Side, Span[]> | null;
  /** The stage: what somebody looks at, which source chip Tab reaches, where the chips are, what is drawn. */
  look: Look | null;
  rove: number;
  boxes: Record<Side, Box[]>;
  stageSize: { width: number; height: number };
  /** How much the page magnifies the view, as of the last change of its size. */
  zoom: number;
  curves: Curve[];
  moving: number;
  /** The step on the stage and since when, and whether steps follow each other too fast to be animated. */
  staged?: { step: number; at: number };
  hurried: boolean;
  /** Whether the person asks for less motion. */
  still: boolean;
  speed: number;
  laidOut: Kind;
  /** The maps that are drawn, and the data and step (-1 = all steps) they were made for. */
  maps: Record<Kind, AttentionMap>;
  shown: { data: Decoding; step: number } | null;
  bitmaps: Map<string, HTMLCanvasElement>;
  scrolls: boolean;
  scrolled: string;
  sort: Sort;
}

// Views of heads

export interface ViewOptions {
  /** heads, head, lines or text. */
  view: string;
  /** Subwords merged into words; rows labelled by the word that they predict. */
  words: boolean;
  next: boolean;
  /** unit, max or log. */
  scale: string;
  /** theme, cividis or grey. */
  palette: string;
  /** Only rows up to the step in view; all kinds side by side. */
  steps: boolean;
  beside: boolean;
  /** In the view of all heads: sort key, favoured position, maximum of effective keys (0 = any). */
  by: string;
  role: string;
  most: number;
  /** The percentage of each row's weight that its lines hold. */
  mass: number;
}

/** One kind of attention as the views of heads draw it: between tokens or between words. */
export type KindMap = AttentionMap & FormOfMap & {
  form: string;
  weights: Float32Array;
  largest?: number;
};

export interface MapCell {
  kind: Kind;
  query: number;
  key: number;
}
/** A row or a column that is looked at. */
export interface Toward {
  side: "query" | "key";
  at: number;
}
/** How a sentence is shaded: the weights of each token by head, null where masked, and the top of the scale. */
export interface Shading {
  cells: (number[] | null)[];
  heads: number[];
  top: number;
}
/** Where the text of a thumbnail is: beside it, below it on one line or on two, or below it and only its name. */
export type TileForm = "beside" | "line" | "lines" | "name";
export interface TileSize {
  form: TileForm;
  /** Width and height of a cell. */
  x: number;
  y: number;
}
/** The labels of a map, and the room that they take. */
export interface MapLabels {
  m: KindMap;
  names: string[];
  others: string[];
  keys: string[];
  left: number;
  right: number;
  /** How far the labels of keys reach beyond the map, how long they are, and the room above the map. */
  over: number;
  wideKeys: number;
  above: number;
}
export interface Line {
  head: number;
  query: number;
  key: number;
  weight: number;
  colour: string;
  dashes: number[];
}

export interface HeadsFigure {
  box: HTMLElement;
  canvas: HTMLCanvasElement;
  title: HTMLElement;
  about: HTMLElement;
  plot: Plot;
}

export interface HeadsState extends ViewOptions {
  find: Find;
  box: HTMLElement;
  details: HTMLDetailsElement;
  /** Starts and ends the presentation. */
  present: () => void;
  theme: Theme;
  /** Colours of lines, one per head. */
  colours: string[];
  /** The colour scale as pixels, and the pixel of masked cells. */
  inks: Uint32Array;
  grey: number;
  figures: Record<Kind, HeadsFigure>;
  tile?: HTMLButtonElement;
  placed?: Placed;
  player: Player;
  observer: ResizeObserver;
  keys: Keys;
  deafen: () => void;
  draw: () => void;
  setStateValue: Report;
  setTriggerValue: Report;
  /** The pending animation frame and timers. */
  frame: number;
  reporting: number;
  waiting: number;
  width: number;
  mount: ViewMount;
  data: Decoding;
  seq: string;
  turn: number;
  last: number;
  kind: Kind;
  pick: Record<Kind, Pick>;
  /** The head that is pointed at among all heads. */
  peek: (Pick & { kind: Kind }) | null;
  step: number;
  /** The encoder row, and the column or none, as tokens. */
  source: number;
  col: number | null;
  /** Heads whose lines are drawn, and those lines. */
  on: Set<number>;
  drawn: Line[];
  hover: MapCell | null;
  focus: Toward | null;
  brush: { kind: Kind; rows: [number, number]; columns: [number, number] } | null;
  drag: MapCell | null;
  dragged: boolean;
  sort: Sort;
  /** Maps by kind and form, and images of heads. */
  maps: Map<string, KindMap>;
  pictures: Map<string, { canvas: HTMLCanvasElement; corners: number[][] }>;
}

// Pages that stand alone

export interface Recording {
  seq: string;
  text: string;
  detail: string;
  /** Where it leaves the recording that it is a fork of, from 1. */
  step: number;
  /** For each row, the recording to which each token leads. */
  forks: Record<number, number>[];
}
export interface StandaloneData {
  views: ("steps" | "heads")[];
  view: "steps" | "heads";
  at: number;
  place: Position;
  terms: Record<string, [term: string, plain: string, explanation: string]>;
  recordings: Recording[];
}
export interface StandaloneState {
  data: StandaloneData;
  at: number;
  view: "steps" | "heads";
  place: Position;
  turn: number;
  mounted: { __stepper?: StepperState; __heads?: HeadsState } | null;
  unmount: () => void;
  dark: boolean;
}

// Film

export interface FilmFrame {
  step: number;
  rows: string[];
  columns: string[];
  predicted: string[];
  area: number;
  /** [layer, head, query, key], 255 = 1. */
  weights: Uint8Array;
}
export interface Film {
  seq: string;
  kind: Kind;
  layers: number;
  heads: number;
  place: { frame: number; layer: number; head: number };
  frames: FilmFrame[];
}
export interface FilmState extends Pick {
  find: Find;
  box: HTMLElement;
  slider: HTMLInputElement;
  big: HTMLCanvasElement;
  theme: Theme;
  plot: Plot;
  player: Player;
  observer: ResizeObserver;
  setStateValue: Report;
  reporting: number;
  width: number;
  film: Film;
  seq: string;
  frame: number;
  cell: { query: number; key: number } | null;
  thumb: number;
  thumbs: { layer: number; head: number; button: HTMLButtonElement; canvas: HTMLCanvasElement }[];
}

// Grids of roles

/** Layer and head order. */
export interface RoleTile {
  name: string;
  role: string;
  letters: string;
  /** Which categorical colour frames it; -1 without a clear role. */
  colour: number;
  mark: string;
  chosen: boolean;
}
export interface RoleGrid {
  kind: Kind;
  layers: number;
  heads: number;
  /** Rows and columns of a map. */
  bins: number;
  /** The weight at the upper end of the colour scale. */
  largest: number;
  caption: string;
  tiles: RoleTile[];
}
export interface RoleGridState {
  box: HTMLElement;
  click: (head: { kind: string; layer: number; head: number }) => void;
}

// Walk

export interface WalkRow {
  name: string;
  title: string;
  cells: string[];
  words: string;
  reads: number[];
  learned: boolean;
  sum: boolean;
  given: boolean;
}
export interface WalkData {
  part: string;
  chosen: string;
  columns: string[];
  rows: WalkRow[];
}
export interface Wire {
  from: number;
  to: number;
  /** Whether it is a residual connection. */
  skip: boolean;
  lane: number;
}

// Tour

export interface Stop {
  title: string;
  /** What to point at, and what to say about it; null where the page does not have it. */
  place: (S: StepperState) => Element | null;
  words: (S: StepperState) => Content[];
  /** The steps by which the decoding moves on for this stop. */
  ahead?: number;
}
export interface TourState {
  find: Find;
  box: HTMLElement;
  stops: Stop[];
  at: number;
  /** The stepper, and where it was before. */
  stepper: StepperState;
  before: { step: number; kind: Kind; pick: Record<Kind, Pick> };
  seen: Decoding | null;
  watching: number;
  stop: () => void;
}

// The machine: see machine_payload.py and machine_details.py

/** A block of the machine: see machine_blocks.py. */
export interface MachineBlock {
  name: string;
  kind: string;
  stack: string;
  /** From 1; 0 outside the layers. */
  layer: number;
  attention: Kind | "";
  points: string[];
  reads: string[];
}
/** What a plan of the machine makes room for: the open block with its heads or parts, and layers to show unfolded. */
export interface MachineWish {
  open: string;
  heads: number;
  /** How many parts of an open head there are; 0 if no head is open. */
  parts: number;
  /** Whether norms stand before the sublayers. */
  pre: boolean;
  /** By stack, the last one wanted first. */
  unfolded: Record<string, number[]>;
}
export interface MachineBox {
  name: string;
  kind: string;
  stack: string;
  layer: number;
  /** The blocks that it stands for: several, if it is a folded layer. */
  names: string[];
  x: number;
  y: number;
  width: number;
  height: number;
  /** Where the vectors come in and go out. */
  enter: [number, number];
  leave: [number, number];
  /** The circle on the stream where positions are added. */
  sum?: [number, number];
  /** The last of several layers that are folded into one block. */
  last?: number;
}
export interface MachinePlan {
  width: number;
  height: number;
  boxes: MachineBox[];
  frames: { stack: string; layer: number; x: number; y: number; width: number; height: number }[];
  wires: Wiring[];
  /** What is written above a line, from its left end. */
  labels: { text: string; flow: string; x: number; y: number }[];
  /** In how many rows the open block shows its heads or parts. */
  rows: number;
  /** By stack, whether its blocks are narrower than usual. */
  tight: Record<string, boolean>;
}
/** A line with an arrow at its end: its points, and what flows there. */
export interface Wiring {
  points: [number, number][];
  flow: string;
}
/** A symbol, or how parts stand to each other and the parts. */
export type Formula = string | [string, ...Formula[]];

export interface MachinePicture {
  /** Rows of vectors, or a map of weights. */
  kind: "rows" | "map";
  /** Whose rows: of the source, of the target by step, one per step, or of the target at any step. */
  side: "source" | "target" | "step" | "once";
  scale: number;
  at: number;
  rows: number;
  width: number;
}
export interface MachineFacts {
  title: string;
  words: string;
  formula: Formula;
  /** 0 stands for the number of target tokens that were read. */
  shape: number[];
  parameters: number;
  picture: MachinePicture | null;
}
export interface MachineOpened {
  block: string;
  head: number;
  part: string;
}
export interface MachineMount {
  seq: string;
  turn: number;
  start: { step: number; opened: MachineOpened };
}
export interface MachineData {
  seq: string;
  model: string;
  trained: boolean;
  stepwise: boolean;
  diagram: Diagram;
  facts: Record<string, MachineFacts>;
  parts: Partial<Record<Kind, Record<string, { title: string; words: string; formula: Formula }>>>;
  /** By each form of a term in lower case, the address of its explanation. */
  terms: Record<string, string>;
  numbers: number;
  vocabulary: number;
  source: { tokens: string[] };
  target: { tokens: string[]; predicted: string[]; probabilities: number[] };
  alternatives: { tokens: string[][]; probabilities: number[][] };
}
export interface MachineCode {
  functions: { file: string; name: string; first: number; lines: string[] }[];
  /** By the last part of a point's name. */
  places: Record<string, { function: number; marked: number[] }>;
}
export interface MachineDetails {
  seq: string;
  step: number;
  opened: MachineOpened;
  heads: number;
  /** The weight that has the full colour in the maps of heads. */
  full: number;
  numbers: {
    point: string; title: string; shape: number[]; parameters: number; mean: number | null; deviation: number | null; side: Side;
  }[];
  code: MachineCode;
}
/** An array of numbers with its axes. */
export interface Numbers {
  values: Float32Array;
  shape: number[];
}
export interface MachineState {
  find: Find;
  box: HTMLElement;
  theme: Theme;
  player: Player;
  keys: Keys;
  observer: ResizeObserver;
  draw: () => void;
  setStateValue: Report;
  setTriggerValue: Report;
  mount: MachineMount;
  deafen: () => void;
  data: MachineData;
  body: Float32Array;
  /** What has come of the open block. */
  details: MachineDetails | null;
  arrays: Message["arrays"];
  seq: string;
  turn: number;
  step: number;
  last: number;
  /** The source token whose numbers are shown. */
  row: number;
  opened: MachineOpened;
  depth: string;
  unfolded: Record<string, number[]>;
  zoom: number;
  speed: number;
  width: number;
  frame: number;
  reporting: number;
  built: string;
  plan: MachinePlan;
  /** What repaints each picture of the diagram. */
  pictures: (() => void)[];
  /** What says each of its texts anew. */
  texts: (() => void)[];
}

/** The code of some components: modules, each after those that it imports, and what a component consists of at first. */
export interface Pack {
  modules: [name: string, text: string][];
  looks: Record<string, { css: string; html: string } | undefined>;
}
