// Writes the module with the bytes of the WebAssembly kernel; `assembled` is its text.

import { Buffer } from "node:buffer";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import wabt from "wabt";

const HERE = new URL("../../explorer/browser/js/live/", import.meta.url);

/** The module that product.wat becomes. */
export async function assembled() {
  const { parseWat } = await wabt();
  const { buffer } = parseWat("product.wat", readFileSync(new URL("product.wat", HERE), "utf8")).toBinary({});
  const text = Buffer.from(buffer).toString("base64");
  return `// Written by \`npm run assemble\` from product.wat.\n\nexport const PRODUCT =\n  "${text}";\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(new URL("product.js", HERE), await assembled());
