// The source of the views in the app: Streamlit, which sends missing data to the store (carrier.js).

/** @import { Source, Teller } from "./types" */

/** @param {Teller} mount @returns {Source} */
export const serverSource = ({ setStateValue, setTriggerValue }) => ({
  report: (report) => setStateValue("at", report),
  ask: setTriggerValue,
  canFork: () => true,
});
