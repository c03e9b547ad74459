// The stepper on the page, and for a tour of it: the button that starts it, and the last tour that was started.

/** @type {{ stepper: import("./types").StepperState | null, opener: HTMLElement | null, toured: number }} */
export const hub = { stepper: null, opener: null, toured: 0 };
