// The script of a page that stands alone: it unpacks the program and its data, which the page contains as text, and
// starts the program.

/** Starts the program; if that is impossible, the page says why. */
async function start() {
  const packed = /** @type {HTMLElement} */ (document.getElementById("packed"));
  const text = packed.textContent ?? "";
  try {
    const bytes = await inflate(bytesOf(text.trim()));
    const end = 4 + new DataView(bytes.buffer).getUint32(0, true);
    /** @type {{ __headlightPack?: Uint8Array }} */ (globalThis).__headlightPack = bytes.subarray(end);
    /** @type {import("./types").Pack} */
    const program = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
    packed.remove();
    for (const [id, look] of Object.entries(program.looks)) {
      if (!look) continue;
      const template = Object.assign(document.createElement("template"), { id });
      template.content.append(Object.assign(document.createElement("style"), { textContent: look.css }));
      template.content.append(document.createRange().createContextualFragment(look.html));
      document.body.append(template);
    }
    const first = URL.createObjectURL(new Blob([program.modules[0][1]], { type: "text/javascript" }));
    const { link } = await import(first);
    const { default: run } = await link(program, "standalone");
    run();
  } catch (error) {
    const message = /** @type {HTMLElement} */ (document.getElementById("failed"));
    message.textContent = `This page could not be opened (${error}). It needs a browser of 2023 or later, and the whole file.`;
    message.hidden = false;
  }
}

/** The bytes of base64 text. @param {string} text */
function bytesOf(text) {
  // Browsers of 2025 and later have a function for it, ten times as fast.
  const own = /** @type {{ fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }} */ (
    /** @type {unknown} */ (Uint8Array)
  );
  if (own.fromBase64) return own.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

void start();
