// Where carriers leave data from the server and views pick it up. To the browser, each component is a separate module,
// so they can only share data through the page's global object. There a tour also finds the stepper on the page.

/** @typedef {import("./types").Hub} Hub */

/** @returns {Hub} */
export const hub = () => {
  const page = /** @type {{ __headlight?: Hub }} */ (globalThis);
  return (page.__headlight ??= Object.assign(new EventTarget(), { blocks: new Map() }));
};
