// Hands what the server sends to the view that draws it; shows nothing itself. An object is a header, which says what
// there is; bytes are a block of weights. Layout: see blocks.py.

export default function ({ data }) {
  const hub = (globalThis.__headlight ??= Object.assign(new EventTarget(), { blocks: new Map() }));
  const isHeader = !(data instanceof Uint8Array);
  const size = isHeader ? 0 : new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const header = isHeader ? data : JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + size)));
  hub.blocks.set(header.name, { header, body: isHeader ? null : data.slice(4 + size).buffer });
  hub.dispatchEvent(new Event("block"));
  return () => hub.blocks.delete(header.name);
}
