// The texts on the page that cannot be read: cut by the box around them without a title, covered by something that has
// a colour, or drawn over each other in a figure; and whether the page is wider than the window.
() => {
  const found = [];
  const parentOf = (node) => node.parentElement ?? node.getRootNode().host ?? null;
  const way = (node) => (node ? [node, ...way(parentOf(node))] : []);
  const say = (what, element, text) => found.push(`${what}: ${element.tagName}.${element.classList} | ${text.trim()}`);

  const texts = [];
  const collect = (root) => {
    for (const element of root.querySelectorAll(":not(style, script, template, noscript, option, title, desc)")) {
      if (element.shadowRoot) collect(element.shadowRoot);
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      for (const node of element.childNodes) {
        if (node.nodeType !== Node.TEXT_NODE || !node.nodeValue.trim()) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const rect of range.getClientRects())
          if (rect.width > 1 && rect.height > 1) texts.push({ node, element, rect, text: node.nodeValue });
      }
    }
  };
  collect(document);

  const hides = (value) => value === "hidden" || value === "clip";
  const scrolls = (value) => value === "auto" || value === "scroll";
  const isForReaders = (element, { clipPath }) => clipPath !== "none" || element.offsetWidth <= 1;
  const done = new Set();
  for (const { node, element, rect, text } of texts) {
    if (done.has(node)) continue;
    let titled = false;
    for (const at of way(element)) {
      const style = getComputedStyle(at);
      const box = at.getBoundingClientRect();
      titled ||= !!at.title || !!at.getAttribute("aria-label");
      if (isForReaders(at, style)) done.add(node);
      if (done.has(node) || scrolls(style.overflowX) || scrolls(style.overflowY)) break;
      const over = Math.max(rect.right - box.right, box.left - rect.left);
      const isCut = hides(style.overflowX) && over > 2 && over < rect.width;
      if (isCut) done.add(node);
      if (isCut && !titled) say("cut", at, text);
    }
  }

  const above = (x, y, root = document) => {
    const at = root.elementFromPoint(x, y);
    return at?.shadowRoot && at.shadowRoot !== root ? (above(x, y, at.shadowRoot) ?? at) : at;
  };
  const floats = (at) => at.popover || ["fixed", "sticky"].includes(getComputedStyle(at).position);
  const drawn = new Map();
  for (const { node, element, rect, text } of texts) {
    if (done.has(node)) continue;
    const svg = element.closest("svg");
    if (svg) drawn.set(svg, [...(drawn.get(svg) ?? []), { element, rect, text }]);
    for (const x of svg ? [] : [rect.left + 2, rect.right - 2]) {
      const hit = above(x, (rect.top + rect.bottom) / 2);
      if (!hit || way(hit).includes(element) || way(element).includes(hit) || way(hit).some(floats)) continue;
      if (hit.closest("label, button, summary")?.contains(element)) continue;
      if (getComputedStyle(hit).backgroundColor === "rgba(0, 0, 0, 0)" && !hit.textContent.trim()) continue;
      say("covered", hit, text);
      break;
    }
  }

  const isTurned = (element) =>
    way(element).some(
      (at) => at instanceof SVGElement && /rotate\((?!0[,)\s])/.test(at.getAttribute("transform") ?? ""),
    );
  for (const labels of drawn.values()) {
    const level = labels.filter(({ element }) => !isTurned(element));
    level.forEach((a, i) =>
      level.slice(i + 1).forEach((b) => {
        const width = Math.min(a.rect.right, b.rect.right) - Math.max(a.rect.left, b.rect.left);
        const height = Math.min(a.rect.bottom, b.rect.bottom) - Math.max(a.rect.top, b.rect.top);
        if (a.element.closest("text") !== b.element.closest("text") && width > 2 && height > 4)
          say("over each other", a.element, `${a.text} × ${b.text}`);
      }),
    );
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page is wider than the window");
  return found;
}
