// The first script of a page that stands alone: it unpacks the program and what it shows, which lie in the page as text.

/** Starts the program; says why where that is impossible. */
export default async function () {
  const packed = /** @type {HTMLElement} */ (document.getElementById("packed")), text = packed.textContent ?? "";
  try {
    const bytes = await inflate(bytesOf(text.trim())), end = 4 + new DataView(bytes.buffer).getUint32(0, true);
    /** @type {{ __headlightPack?: Uint8Array }} */ (globalThis).__headlightPack = bytes.subarray(end);
    const program = document.createElement("script");
    program.type = "module";
    program.textContent = new TextDecoder().decode(bytes.subarray(4, end));
    packed.remove();
    document.body.append(program);
  } catch (error) {
    const said = /** @type {HTMLElement} */ (document.getElementById("failed"));
    said.textContent = `This page could not be opened (${error}). It needs a browser of 2023 or later, and the whole file.`;
    said.hidden = false;
  }
}

/** What base64 text stands for. @param {string} text */
function bytesOf(text) {
  // Browsers of 2025 and later do it by themselves, ten times as fast.
  const own = /** @type {{ fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }} */ (/** @type {unknown} */ (Uint8Array));
  if (own.fromBase64) return own.fromBase64(text);
  const characters = atob(text), bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
