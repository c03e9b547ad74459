// `palettes.js` is written by Python from explorer/charts/palette.py whenever a component is bundled.
import type { Palette } from "./types";

export const PALETTES: Record<"light" | "dark", Palette>;
