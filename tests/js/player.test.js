import assert from "node:assert/strict";
import { test } from "node:test";

import { createPlayer, stepAfter } from "../../explorer/browser/js/player.js";

/** A player over five steps that was started, with the steps that it has been at. */
function playerFrom(context, step) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const seen = [step];
  const player = createPlayer(() => 700, { at: () => seen.at(-1), last: () => 4, go: (to) => seen.push(to) });
  player.start();
  return { player, seen, tick: (milliseconds) => context.mock.timers.tick(milliseconds) };
}

test("it plays to the end and stops there", (context) => {
  const { player, seen, tick } = playerFrom(context, 1);
  tick(699);
  assert.equal(seen.join(), "1");
  tick(1);
  assert.equal(seen.join(), "1,2");
  assert.equal(player.playing(), true);
  for (let i = 0; i < 5; i++) tick(700);
  assert.equal(seen.join(), "1,2,3,4");
  assert.equal(player.playing(), false);
});

test("from the end it starts again, and stopped, it stays where it is", (context) => {
  const { player, seen, tick } = playerFrom(context, 4);
  assert.equal(seen.join(), "4,0");
  tick(700);
  assert.equal(seen.join(), "4,0,1");
  player.stop();
  tick(5000);
  assert.equal(seen.join(), "4,0,1");
});

test("buttons lead to steps that exist", () => {
  const from = (step, names) => names.map((name) => stepAfter(name, step, 4)).join();
  assert.equal(from(2, ["start", "back", "forward", "end"]), "0,1,3,4");
  assert.equal(from(0, ["back", "forward"]), "0,1");
  assert.equal(from(4, ["back", "forward"]), "3,4");
});
