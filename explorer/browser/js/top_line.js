// The line on top of the first page: an introduction, and the button that starts the tour.

import { hub } from "./hub.js";
import { recall } from "./memory.js";

/** @param {{ data?: { continues: boolean }, parentElement: ParentNode, setTriggerValue: (name: string, value: unknown) => void }} mount */
export default function ({ data, parentElement: root, setTriggerValue }) {
  const button = /** @type {HTMLButtonElement} */ (root.querySelector("button"));
  button.classList.toggle("first", !recall("tour"));
  button.onclick = () => setTriggerValue("tour", true);
  button.hidden = data?.continues ?? false;
  hub.opener = button;
}
