// The line on top of the first page: an introduction, and the button that starts the tour.

import { say } from "./dom.js";
import { hub } from "./hub.js";
import { recalls } from "./memory.js";

/** @param {{ parentElement: ParentNode, setTriggerValue: (name: string, value: unknown) => void }} mount */
export default function ({ parentElement: root, setTriggerValue }) {
  const button = /** @type {HTMLButtonElement} */ (root.querySelector("button"));
  const first = !recalls("tour");
  button.classList.toggle("first", first);
  say(button.lastChild, "Show me");
  button.onclick = () => setTriggerValue("tour", true);
  hub.opener = button;
}
