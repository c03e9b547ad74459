import assert from "node:assert/strict";
import { test } from "node:test";

import { createPlayer, stepAfter } from "../../explorer/browser/js/player.js";

/** A player over five steps, with the steps that it has been at. */
function playerAt(step) {
  const seen = [step];
  const player = createPlayer(() => 700, { at: () => seen.at(-1), last: () => 4, go: (to) => seen.push(to) });
  return { player, seen };
}

test("it plays to the end and stops there", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { player, seen } = playerAt(1);
  player.start();
  context.mock.timers.tick(699);
  assert.deepEqual(seen, [1]);
  context.mock.timers.tick(1);
  assert.deepEqual(seen, [1, 2]);
  assert.equal(player.playing(), true);
  for (let i = 0; i < 5; i++) context.mock.timers.tick(700);
  assert.deepEqual(seen, [1, 2, 3, 4]);
  assert.equal(player.playing(), false);
});

test("from the end it starts again", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { player, seen } = playerAt(4);
  player.start();
  assert.deepEqual(seen, [4, 0]);
  context.mock.timers.tick(700);
  assert.deepEqual(seen, [4, 0, 1]);
});

test("stopped, it stays where it is", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { player, seen } = playerAt(0);
  player.start();
  player.stop();
  context.mock.timers.tick(5000);
  assert.deepEqual(seen, [0]);
});

test("buttons lead to steps that exist", () => {
  assert.deepEqual(
    ["start", "back", "forward", "end"].map((name) => stepAfter(name, 2, 4)),
    [0, 1, 3, 4],
  );
  assert.deepEqual(
    ["back", "forward"].map((name) => [stepAfter(name, 0, 4), stepAfter(name, 4, 4)]),
    [
      [0, 3],
      [1, 4],
    ],
  );
});
