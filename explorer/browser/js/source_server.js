// The source of the views in the app: Streamlit, which sends missing data to the store (carrier.js).

/** @import { Source, Messenger } from "./types" */

/** @param {Messenger} mount @returns {Source} */
export const serverSource = ({ setStateValue, setTriggerValue }) => ({
  report: (report) => setStateValue("at", report),
  ask: setTriggerValue,
  want: (request) => setStateValue("numbers", request),
  canFork: () => true,
});
