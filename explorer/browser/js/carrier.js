// Passes data from the server to the view that draws it; draws nothing itself. An object is a header, which describes
// the decoding; bytes are a block of weights. Layout: see heads_payload.py.

import { readBlock } from "./weight_blocks.js";
import { hub } from "./hub.js";

/** @param {{ data: Uint8Array | import("./types").HeadsData }} mount */
export default function ({ data }) {
  const { blocks } = hub(), block = data instanceof Uint8Array ? readBlock(data) : { header: data, body: null };
  blocks.set(block.header.name, block);
  hub().dispatchEvent(new Event("block"));
  return () => blocks.delete(block.header.name);
}
