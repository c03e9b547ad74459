// Passes a message from the server to the store; draws nothing itself.

import { take } from "./store.js";

/** @param {{ data: Uint8Array }} mount */
export default function ({ data }) {
  take(data);
}
