// The source of the views in a page that computes the model itself: it answers by the page's own functions.

/** @import { Source } from "./types" */

/**
 * @param {{ moved: (report: any) => void, ask: (what: string, value: any) => void }} page
 * @returns {Source}
 */
export const liveSource = ({ moved, ask }) => ({ report: moved, ask, canFork: () => true });
