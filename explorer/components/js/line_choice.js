// Which weights are drawn as lines. The export makes the same choice; both are tested on tests/fixtures/lines.json.

/** @typedef {import("./types").Cell} Cell */

/**
 * The heaviest keys of a row until they hold `mass` percent of its weight.
 * @param {Cell[]} seen visible keys, heaviest first
 * @param {number} mass
 */
export function heaviestKeys(seen, mass) {
  let held = 0;
  const enough = seen.findIndex(({ weight }) => {
    if (held >= mass / 100 - 1e-6 || weight <= 0) return true;
    held += weight;
    return false;
  });
  return enough < 0 ? seen : seen.slice(0, enough);
}
