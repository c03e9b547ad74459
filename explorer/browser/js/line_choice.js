// Which weights are drawn as lines. The export chooses alike; both are tested on tests/fixtures/line_choice.json.

/** @typedef {import("./types").Cell} Cell */

/**
 * The heaviest keys of a row, as many as it takes to hold `mass` percent of its weight.
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
