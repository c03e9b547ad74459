// Injected into tabs (lab.py): the time from an input event to the end of the frame that shows its effect.
() => {
  const find = (selector, root = document) => {
    const here = root.querySelector(selector);
    if (here) return here;
    // Searching all elements would cost as much as the measured work; Streamlit marks those that have a shadow root.
    for (const node of root.querySelectorAll("[data-testid=stBidiComponentIsolated]")) {
      const inside = node.shadowRoot?.querySelector(selector);
      if (inside) return inside;
    }
    return null;
  };
  // A message posted while a frame is being prepared arrives after that frame was painted.
  const painted = (done) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now());
    channel.port2.postMessage(0);
  };
  const state = (window.__bench = { find, painted, pending: null, look: null });
  // What a frame's callbacks draw is painted in that frame, so check after each of them, not only before the first.
  const frame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (run) =>
    frame((time) => {
      run(time);
      state.look?.();
    });
  // Call before the input; `shown` tells whether its effect is in the document. Resolves to milliseconds.
  state.arm = (type, shown) => {
    state.pending = new Promise((resolve) => {
      addEventListener(
        type,
        (event) => {
          const begun = event.timeStamp;
          state.look = () => {
            if (!shown()) return;
            state.look = null;
            painted((end) => resolve(end - begun));
          };
          const wait = () => {
            state.look?.();
            if (state.look) frame(wait);
          };
          frame(wait);
        },
        { capture: true, once: true },
      );
    });
  };
  state.label = () => find(".controls output")?.textContent ?? "";
  state.source = () => [...(find(".line.source .chips")?.children ?? [])].map((chip) => chip.textContent).join("|");
};
