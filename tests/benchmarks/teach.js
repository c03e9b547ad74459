// Injected by the `teach` benchmark: the time from the key that moves a slider to the last frame that it changes.
() => {
  if (window.__slide) return; // once per page
  const state = (window.__slide = { begun: 0, sent: 0, last: 0 });
  addEventListener("keydown", (event) => Object.assign(state, { begun: event.timeStamp, sent: 0, last: 0 }), true);
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (...all) {
    state.sent ||= performance.now();
    return send.apply(this, all);
  };
  const painted = () => requestAnimationFrame(() => __bench.painted((end) => (state.last = end)));
  // The slider or switch itself moves at once, and the content of a canvas is for screen readers only.
  const aside = "[data-testid=stSlider], [data-testid=stCheckbox], [data-testid=stHeader], canvas";
  const part = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);
  const answers = (node) => node?.closest("[data-testid=stMain]") && !node.closest(aside);
  const watched = { subtree: true, childList: true, characterData: true, attributes: true };
  watched.attributeFilter = ["d", "href", "src", "style", "transform"];
  new MutationObserver((changes) => changes.some((change) => answers(part(change.target))) && painted()).observe(
    document.body,
    watched,
  );
  // Tables are painted on a canvas, which a mutation observer does not see.
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (...all) {
    if (this.canvas.closest?.("[data-testid=stMain]")) painted();
    return fillText.apply(this, all);
  };
  // Milliseconds from the last key to the message to the server, and to the last change; resolves once the script has
  // run and nothing has changed for a while. On a busy machine, much time may pass before the first change.
  const runs = () => !document.querySelector("[data-testid=stApp][data-test-script-state=notRunning]");
  state.answered = async (quiet) => {
    while (runs() || performance.now() - Math.max(state.last, state.begun) < (state.last ? quiet : 10_000)) {
      await new Promise((done) => setTimeout(done, 20));
    }
    return [state.sent ? state.sent - state.begun : 0, state.last ? state.last - state.begun : 0];
  };
};
