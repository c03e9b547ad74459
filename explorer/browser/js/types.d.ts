// The types of the browser's own state; those of messages are in structs.d.ts. Layers and heads count from 1; head 0 is
// the mean over the heads of its layer. Steps, rows and columns count from 0, as in arrays.

import type {
  Block as MachineBlock,
  CellMessage,
  CellReport,
  DecodingHeader,
  Departure,
  FilmHeader,
  ForkReport,
  FrameHeader,
  Heat,
  MachineDetails,
  MachineMessage,
  MachineMount,
  MachinePicture,
  ModelDiagram as Diagram,
  NumbersRequest,
  Opened as MachineOpened,
  Position,
  Shape,
  MachineStage,
  TensorSlice,
  ViewMount,
  ViewOptions,
} from "./structs";
import type { withDigits } from "./cell_numbers";
import type { listenToKeys } from "./keys";
import type { numbersAt } from "./machine_strips";
import type { plotOf, Sheet } from "./maps";
import type { createPlayer } from "./player";
import type { stageView } from "./stage_lines";
import type { rankedRow } from "./weights";
export type {
  Diagram,
  ForkReport,
  Heat,
  MachineBlock,
  MachineDetails,
  MachineMount,
  MachineOpened,
  MachinePicture,
  Position,
};

export type Kind = "encoder" | "decoder" | "cross";
export type Side = "source" | "target";
export type Rgb = number[];
export type Span = [start: number, end: number];
export type Content = string | Node;
export type Find = <E extends Element = HTMLElement>(selector: string) => E;

/** The arguments that Streamlit passes to a component. A mounted component stores its state on its root, under the name `Key`. */
export interface Mount<Data, Key extends string, State> extends Messenger {
  data: Data;
  parentElement: ParentNode & { [name in Key]?: State };
}
/** Functions by which a component sends messages to Streamlit. */
export interface Messenger {
  setStateValue: (name: string, value: unknown) => void;
  setTriggerValue: (name: string, value: unknown) => void;
}

/**
 * The source of a view's decodings: a server or a recording. A view reports its place to the source and requests more;
 * data arrive in the store, which calls its listeners. No view knows which source it has.
 */
export interface Source {
  /** The place on screen, and the kinds of attention or the parts of the machine that it needs. */
  report: (report: any) => void;
  /** Requests an action of the user: to continue decoding from another token ("fork"), or to open another view. */
  ask: (what: string, value: unknown) => void;
  /** Requests numbers of the machine by their places. */
  want?: (request: NumbersRequest) => void;
  /** Whether decoding can continue from this token at this step, counted from 1. */
  canFork: (step: number, token: number) => boolean;
  /** Whether a link of the machine can lead to this page or panel; without it, all can. */
  leadsTo?: (place: Departure["place"]) => boolean;
}
/** The arguments that a view is mounted with, by the code that creates its source. */
export interface ViewOf<Data, Key extends string, State> {
  data: Data;
  parentElement: ParentNode & { [name in Key]?: State };
  source: Source;
}
/** The state of every view. */
export interface ViewState {
  find: Find;
  box: HTMLElement;
  theme: Theme;
  source: Source;
  player: Player;
  keys?: Keys;
  observer: ResizeObserver;
  draw: () => void;
  /** Stops listening to the store. */
  unsubscribe?: () => void;
  reportOf: () => object;
  /** The delay of a report in ms; whether reports are also sent during playback. */
  pause?: () => number;
  followed?: boolean;
  /** Called after a step, to clear what belonged to the previous one. */
  stepped?: () => void;
  /** The pending animation frame and report. */
  frame: number;
  reporting: number;
  width: number;
  data: unknown;
  seq: string;
  turn: number;
  step: number;
  last: number;
}

export interface Palette {
  source: string;
  target: string;
  masked: string;
  hatch: string;
  /** Of a frame around a cell that differs from a map beside it. */
  frame: string;
}

export interface Theme extends Palette {
  /** The attention scale in use, and the theme's default scale: 256 colours each. */
  scale: Rgb[];
  own: Rgb[];
  /** The scale in use as pixels, and the pixel of masked cells. */
  inks: Uint32Array;
  grey: number;
  ink: string;
  ground: string;
  font: string;
  /** Hatching by mask code. */
  patterns: CanvasPattern[];
}

/** The place of a map on its canvas, and the size of its cells and of the canvas, in CSS pixels. */
export type Plot = ReturnType<typeof plotOf>;

/** The keys of a row, and one of them. */
export type Row = ReturnType<typeof rankedRow>;
export type Cell = Row["cells"][number];

export interface Pick {
  layer: number;
  head: number;
}

export interface Sort {
  by: number;
  sign: number;
}

/** The keys that a view handles. */
export interface KeyUser {
  /** Its commands by `KeyboardEvent.key`. */
  commands: Record<string, string>;
  /** The same for the list of keys: keys, separated by spaces, and their effect. */
  help: () => [keys: string, meaning: string][];
  run: (command: string) => void;
  escape?: () => void;
}
export type Player = ReturnType<typeof createPlayer>;
export type Keys = ReturnType<typeof listenToKeys>;

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
  /** The kinds of attention that the model has. */
  order: Kind[];
  /** Which sentence is written from right to left. */
  leftwards: Record<Side, boolean>;
  maps: Record<Kind, AttentionMap>;
}

export type Stored = Float32Array | Uint8Array;
export interface Message {
  header: any;
  arrays: Record<string, { values: Stored; shape: number[] }>;
}

export interface MapCell {
  kind: Kind;
  query: number;
  key: number;
}
export interface ChosenCell extends MapCell {
  locked: boolean;
}

/** The token on the stage that is pointed at; a held one stays when the pointer leaves. */
export interface Look {
  side: Side;
  at: number;
  held: boolean;
}
export type StageView = ReturnType<typeof stageView>;
export interface Curve {
  id: string;
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  /** The bend of an arc within one sentence; 0 for a curve between the two. */
  bend: number;
  weight: number;
  /** Whether three others have more weight. */
  faint: boolean;
  from: Side;
  to: Side;
  /** The ways from its ends to its words, past other lines of words. */
  stems?: { x: number; y: number }[][];
}
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
  hidden: boolean;
}

export interface HeadsFigure {
  box: HTMLElement;
  canvas: HTMLCanvasElement;
  title: HTMLElement;
  about: HTMLElement;
  plot: Plot;
  /** How large the reader wants the cells, and how to change that; what the map was last scrolled to. */
  wish: { zoom: number };
  zoom: (by: number) => void;
  followed?: string;
}
export interface StepperFigure extends HeadsFigure {
  labels?: import("./maps.js").Labels;
  caption: HTMLElement;
  readout: HTMLElement;
  /** A key of everything that the map was drawn from, so that it is drawn again only after a change. */
  drawn?: string;
  /** What to know about its numbers. */
  numbers?: string;
  /** Whether the screen shows any of the canvas, at the last layout. */
  inSight?: boolean;
}

export interface StepperState extends ViewState {
  details: HTMLDetailsElement;
  figures: Record<Kind, StepperFigure>;
  mount: ViewMount;
  data: Decoding;
  optionRows: number;
  /** The index of the temperature of the bars. */
  heat: number;
  kind: Kind;
  pick: Record<Kind, Pick>;
  cell: ChosenCell | null;
  /** Whether subwords are merged into words, and the tokens of each word. */
  words: boolean;
  spans: Record<Side, Span[]>;
  /** Whether the maps fill the screen of a presentation instead of the sentences. */
  mapped: boolean;
  /** Whether each step waits for a guess, whether it did at the last drawing, and the guesses by step. */
  guess: boolean;
  guessed?: boolean;
  guesses: Map<number, import("./guess.js").Guess>;
  direction: ViewOptions["direction"];
  /** The options of the page's address, of which the stepper has `words`, `guess` and `direction`. */
  options: ViewOptions | null;
  single: Record<Side, Span[]> | null;
  /** The stage: the token pointed at, the source chip that Tab reaches, the positions of the chips, the curves. */
  look: Look | null;
  rove: number;
  boxes: Record<Side, Box[]>;
  stageSize: { width: number; height: number };
  /** The page's magnification of the view, as of the last change of its size. */
  zoom: number;
  curves: Curve[];
  moving: number;
  /** The step on the stage and since when, and whether steps follow each other too fast for an animation. */
  staged?: { step: number; at: number };
  hurried: boolean;
  /** Whether the user prefers reduced motion. */
  still: boolean;
  laidOut: Kind;
  /** The maps that are drawn, and the decoding and step (-1 = all steps) for which they were chosen. */
  maps: Record<Kind, AttentionMap>;
  mapsFor: { data: Decoding; step: number } | null;
  sheets: Map<string, Sheet>;
  scrolls: boolean;
  scrolled: string;
  /** What the words of each side were last scrolled for. */
  scrolledFor: Record<Side, string>;
  sort: Sort;
}

// Views of heads

/** The labels of one kind of attention, and the scores of its heads [layer][head]; null if no row has such a key, or a choice. */
export interface FormOfMap {
  rows: string[];
  predicted: string[];
  columns: string[];
  row_spans: Span[];
  column_spans: Span[];
  /** The effective number of keys, the share of the weight by relative position, and the favoured position. */
  effective: (number | null)[][];
  shares: Record<string, (number | null)[][]>;
  roles: string[][];
}

/** One kind of attention as the views of heads draw it: between tokens or between words. */
export type KindMap = AttentionMap &
  FormOfMap & {
    form: string;
    weights: Float32Array;
    /** Its largest weight, once it is known. */
    largest?: number;
    /** In a map over words only: the mean share of each row that was left out, by head. */
    left?: Float64Array;
  };

/** The row or column in focus. */
export interface Focus {
  side: "query" | "key";
  at: number;
}
export interface Line {
  head: number;
  query: number;
  key: number;
  weight: number;
  colour: string;
  dashes: number[];
}

export interface HeadsState extends Omit<ViewOptions, "heads">, ViewState {
  /** Where it was on its page when it was drawn, in pixels. */
  top: number;
  details: HTMLDetailsElement;
  /** Starts and ends the presentation. */
  present: () => void;
  /** Colours of lines, one per head. */
  colours: string[];
  figures: Record<Kind, HeadsFigure>;
  tile?: HTMLButtonElement;
  /** The timer of a drawing that waits for weights. */
  waiting: number;
  mount: ViewMount;
  data: Decoding;
  kind: Kind;
  pick: Record<Kind, Pick>;
  /** The head that is pointed at among all heads. */
  peek: (Pick & { kind: Kind }) | null;
  /** The encoder row, and the column or none, as tokens. */
  encoderRow: number;
  col: number | null;
  /** Heads whose lines are drawn, and those lines. */
  on: Set<number>;
  drawn: Line[];
  hover: MapCell | null;
  focus: Focus | null;
  brush: { kind: Kind; rows: [number, number]; columns: [number, number] } | null;
  drag: MapCell | null;
  dragged: boolean;
  sort: Sort;
  /** Maps by kind and form, and images of heads. */
  maps: Map<string, KindMap>;
  pictures: Map<string, Sheet>;
  /** The height of the line above the pictures, and what it was measured for. */
  leadRoom?: { at: string; high: number };
}

// Film

export interface FilmFrame extends FrameHeader {
  area: number;
  /** [layer, head, query, key] */
  weights: Float32Array;
  mask: Uint8Array;
  /** All heads of all layers. */
  sheet?: Sheet;
}
export type Film = Omit<FilmHeader, "frames"> & { frames: FilmFrame[] };
/** Its steps are the frames. */
export interface FilmState extends Pick, ViewState {
  data: Film;
  /** Ends the large map. */
  endMap: () => void;
  thumb: number;
  thumbs: { layer: number; head: number; button: HTMLButtonElement; canvas: HTMLCanvasElement }[];
}

// One cell

/** The numbers of one row of a head as on screen. Keys and dimensions count from 0. */
export type CellNumbers = ReturnType<typeof withDigits>;
/** A piece of a sentence: words, or a key by its index. */
export type CellText = string | { key: number };
export interface CellState {
  find: Find;
  box: HTMLElement;
  theme: Theme;
  header: CellMessage;
  numbers: CellNumbers;
  mask: Uint8Array;
  /** The chosen key and dimension; no dimension while the sum is shown. */
  key: number;
  dimension: number | null;
  lines: CellLine[];
  /** Reports the chosen key, if the page wants to know; the keys reported that no message has answered. */
  moved: ((report: CellReport) => void) | undefined;
  reporting: number;
  pending: number[];
  observer: ResizeObserver;
  unsubscribe: () => void;
  /** Ends the row of the map above, once it has been drawn. */
  endStrip?: () => void;
  width: number;
  frame: number;
}
/** The elements of the row of one key. */
export interface CellLine {
  box: HTMLElement;
  products: HTMLCanvasElement;
  weighted: HTMLCanvasElement;
}

// Tour

export interface Stop {
  title: () => string;
  /** The element to point at (null if the page does not have it), and the text about it. */
  place: (S: StepperState) => Element | null;
  words: (S: StepperState) => Content[];
  /** The number of steps that the decoding advances for this stop. */
  ahead?: number;
}

// The machine

/** The input of a plan of the machine: the open block with its heads or parts, and the layers to unfold. */
export interface MachineWish {
  open: string;
  heads: number;
  /** The number of parts of the open head with those that follow it; 0 if no head is open. */
  inside: number;
  /** The number of parts that follow the heads, if no head is open. */
  after: number;
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
  /** The blocks in the box: several, if it is a folded layer. */
  names: string[];
  x: number;
  y: number;
  width: number;
  height: number;
  /** The points where the vectors enter and leave. */
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
  /** Texts above a line, from its left end. */
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
/** A symbol, or an arrangement followed by its parts. */
export type Formula = string | [string, ...Formula[]];

/** A decoding with its machine. */
export type MachineData = Decoding & MachineMessage & { diagram: Diagram; target: { probabilities: number[] } };
/** An array of numbers with its axes. */
export interface Numbers {
  values: Float32Array;
  shape: number[];
}
/** A point at this step: names of rows and columns, the first column on screen, and how many there are in all. */
export interface MachineMatrix {
  rows: string[];
  /** The row of the point that is the first one here. */
  base: number;
  columns: string[];
  first: number;
  width: number;
  numbers: Numbers | undefined;
  /** The columns of the point that are shown, if they are not adjacent. */
  ids?: number[];
  /** Whether the columns are words that run from right to left. */
  leftwards?: boolean;
  /** The place of each column from the left; empty if they are in order. */
  places?: number[];
}
/** One number of a point: rows and columns count from 0, heads from 1. */
export interface MachineSpot {
  point: string;
  head: number;
  row: number;
  column: number;
}
/** Two numbers that are multiplied, and where they are from; a parameter has no place. */
export interface OriginTerm {
  a: number;
  b: number;
  from: MachineSpot;
  with?: MachineSpot;
}
/** A stop of a followed token: what opens there, and the point, if it has one. */
export interface TrailStop {
  block: string;
  part: string;
  stage: MachineStage | undefined;
  /** On the short way: the layers that this stop is the result of. */
  layers?: [number, number];
}
/** A row of numbers in the picture of a stage: a strip of colours or, with names, cells. `lit` is the followed number, or −1. */
export interface MachineStrip {
  name: string;
  values: ArrayLike<number>;
  lit: number;
  names: string[] | null;
  /** Whether its numbers are weights of attention, which have a scale of colours of their own. */
  weights?: boolean;
  /** Whether its numbers are added up. */
  total?: boolean;
  /** Whether it has the colours of the stage's own numbers. */
  alike?: boolean;
}
/** The followed number of a stage and what made it. */
export type StageNumbers = NonNullable<ReturnType<typeof numbersAt>>;
/** The way of a token, with a player of its own; `data` is null while none is followed. */
export interface MachineTrail extends Omit<ViewState, "data"> {
  speed: number;
  data: MachineData | null;
  side: "source" | "target";
  head: number;
  stops: TrailStop[];
  /** Whether the way has all stages. */
  whole: boolean;
  /** The numbers that are followed, from 0: of vectors of one length, of a head, of the keys of a row. */
  chosen: Record<string, number>;
  /** The last step whose number was told where it is from. */
  told?: number;
}
/** The operation behind a number: `result` is computed from the terms, `recorded` is what the model computed. */
export interface MachineOrigin {
  op: MachineStage["op"];
  terms: OriginTerm[];
  result: number;
  recorded: number;
  id?: number;
  bias?: number;
  /** Of softmax: the sum of all exponentials, the largest score, and the exponential of this one. */
  total?: number;
  top?: number;
  mine?: number;
  /** Of a norm. */
  mean?: number;
  root?: number;
  scale?: number;
}
export interface MachineState extends ViewState {
  mount: MachineMount;
  data: MachineData;
  body: Float32Array;
  /** The received details of the open block. */
  details: MachineDetails | null;
  /** What was drawn last: the messages, the turn and the theme. */
  got: unknown[];
  arrays: Message["arrays"];
  /** The source token whose row encoder blocks tell of, and whether the reader chose it. */
  row: number;
  chosen: boolean;
  opened: MachineOpened;
  depth: string;
  /** The numbers that have arrived, by place; those that the last drawing lacked; those that were requested last. */
  numbers: Map<string, Numbers>;
  missing: Map<string, TensorSlice>;
  /** Whether the last drawing lacked nothing but numbers that only the next stops show. */
  ahead: boolean;
  /** The width of the sheet, in pixels. */
  room: number;
  near: string;
  asked: string;
  /** The point that is shown in numbers, its first column on screen, and the number that is chosen. */
  point: string;
  first: number;
  spot: MachineSpot | null;
  /** Whether all terms of a long sum are shown, and whether the chosen number gets the focus. */
  allTerms: boolean;
  /** Functions that paint the strips of the stage. */
  paints: (() => void)[];
  /** The number that is lit in the pictures. */
  lit: MachineSpot | null;
  trail: MachineTrail;
  /** What the model wrote as it was trained, for comparison with what it writes with changed heads. */
  trained?: { source: string; target: Decoding["target"] };
  refocus: boolean;
  unfolded: Record<string, number[]>;
  /** The magnification that fills a wide screen. */
  fit: number;
  built: string;
  plan: MachinePlan;
  /** The elements of each box, with what repaints its pictures and updates its texts. */
  kept: Map<string, { elements: HTMLElement[]; pictures: (() => void)[]; texts: (() => void)[] }>;
  /** The boxes of the diagram on screen. */
  boxes: Map<string, MachineBox & { offset: number; holder: HTMLElement }>;
  /** Functions that repaint the pictures of the diagram. */
  pictures: (() => void)[];
  /** Functions that update its texts. */
  texts: (() => void)[];
}

/** The code of some components: a script, and initial style and markup. */
export interface Pack {
  script: string;
  looks: Record<string, { css: string; html: string } | undefined>;
}
