// Where carriers leave what the server sends and the views pick it up. Each component is a module of its own to the
// browser, so the two can only meet on the page's global object.

/** @typedef {import("./types").Hub} Hub */

/** @returns {Hub} */
export const hub = () => {
  const page = /** @type {{ __headlight?: Hub }} */ (globalThis);
  return (page.__headlight ??= Object.assign(new EventTarget(), { blocks: new Map() }));
};
