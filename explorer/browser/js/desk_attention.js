// What the desk adds to its program when Attention or the tour is first opened.

import { giveForms } from "./head_forms.js";
import { mountHeads } from "./heads.js";
import { tour } from "./tour.js";

export const attention = { giveForms, mountHeads, tour };
