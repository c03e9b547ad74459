// What the desk adds to its program when Attention or the tour is first opened.

import { mountHeads } from "./heads.js";
import { tour } from "./tour.js";

export const attention = { mountHeads, tour };
