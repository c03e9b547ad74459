// Shared by the stepper and its tour: the stepper on the page, the button that starts the tour, and the turn of the
// last tour.

/** @type {{ stepper: import("./types").StepperState | null, opener: HTMLElement | null, toured: number }} */
export const hub = { stepper: null, opener: null, toured: 0 };
