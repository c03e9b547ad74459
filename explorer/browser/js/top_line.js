// The line on top of the first page: an introduction, and the button that starts the tour.

import { hub } from "./hub.js";
import { recall } from "./memory.js";

/** @param {{ parentElement: ParentNode, setTriggerValue: (name: string, value: unknown) => void }} mount */
export default function ({ parentElement: root, setTriggerValue }) {
  const button = /** @type {HTMLButtonElement} */ (root.querySelector("button"));
  button.classList.toggle("first", !recall("tour"));
  button.onclick = () => setTriggerValue("tour", true);
  hub.opener = button;
}
