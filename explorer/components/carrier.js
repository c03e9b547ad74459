// Hands a block of bytes from the server to the view that draws it; shows nothing itself. Layout: see blocks.py.

export default function ({ data }) {
  const hub = (globalThis.__headlight ??= Object.assign(new EventTarget(), { blocks: new Map() }));
  const size = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + size)));
  hub.blocks.set(header.name, { header, body: data.slice(4 + size).buffer });
  hub.dispatchEvent(new Event("block"));
  return () => hub.blocks.delete(header.name);
}
