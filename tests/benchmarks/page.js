// Put into the page by the `page` benchmark: time from an input event to the end of the frame that shows its effect.
() => {
  const find = (selector, root = document) => {
    const here = root.querySelector(selector);
    if (here) return here;
    for (const node of root.querySelectorAll("*")) {
      const inside = node.shadowRoot && find(selector, node.shadowRoot);
      if (inside) return inside;
    }
    return null;
  };
  // A message posted while a frame is being made arrives after that frame was painted.
  const painted = (done) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now());
    channel.port2.postMessage(0);
  };
  const state = (window.__bench = { find, samples: [], pending: null });
  // Arm before the input; `shown` says whether its effect stands in the document. Resolves to milliseconds.
  state.arm = (type, shown) => {
    state.pending = new Promise((resolve) => {
      addEventListener(type, (event) => {
        const begun = event.timeStamp;
        const look = () => (shown() ? painted((end) => resolve(end - begun)) : requestAnimationFrame(look));
        requestAnimationFrame(look);
      }, { capture: true, once: true });
    });
  };
  state.label = () => find(".controls output")?.textContent ?? "";
  state.source = () => [...(find(".line.source .chips")?.children ?? [])].map((chip) => chip.textContent).join("|");
}
