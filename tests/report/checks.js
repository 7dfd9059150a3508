// What the tests ask of a page: an expression, whose functions are called by name.
({
  // Texts with a contrast below 4.5, by the formula of the W3C.
  contrast() {
    const parse = (text) => text.match(/[\d.]+/g).map(Number);
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const light = (rgb) => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => sum + share * linear(rgb[i] / 255), 0);
    const behind = (node) => {
      for (let at = node; at; at = at.parentElement) {
        const back = parse(getComputedStyle(at).backgroundColor);
        if (back.length < 4 || back[3] > 0.99) return back;
      }
      return [255, 255, 255];
    };
    const found = [];
    for (const node of document.querySelectorAll("body *")) {
      const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
      const isOther = node.closest("svg, script, style, noscript, option") || !node.getClientRects().length;
      if (!own || isOther || node.disabled) continue;
      const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) found.push(`${node.tagName} ${node.textContent.slice(0, 30)}: ${ratio.toFixed(2)}`);
    }
    return found;
  },

  // The data of a picture, as plain lists.
  traces(id) {
    const plain = (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
    return JSON.parse(JSON.stringify(document.getElementById(id).data, plain));
  },

  // Where a point of a picture is in the window.
  place([id, at]) {
    const node = document.getElementById(id), { xaxis, yaxis } = node._fullLayout, { x, y } = node.data[0];
    const box = node.getBoundingClientRect();
    return [box.left + xaxis._offset + xaxis.d2p(x[at]), box.top + yaxis._offset + yaxis.d2p(y[at])];
  },

  // Numbers the controls, and returns the numbers.
  controls() {
    const all = [...document.querySelectorAll('button, select, input, a[href], [tabindex="0"]')];
    const isClosed = (node) => node.closest('details:not([open])') !== null;
    return all.filter((node) => !node.disabled && !node.hidden && !isClosed(node)).map((node, i) => (node.dataset.tab = String(i)));
  },

  // Which control has the focus, and how that is seen.
  focused() {
    const node = document.activeElement, style = getComputedStyle(node);
    return node.dataset.tab ? [node.dataset.tab, style.outlineStyle, parseFloat(style.outlineWidth)] : null;
  },

  // Controls without a name.
  unnamed() {
    const isNamed = (node) => node.textContent.trim() || node.getAttribute("aria-label") || (node.labels && node.labels.length);
    return [...document.querySelectorAll("button, select, input")].filter((node) => !isNamed(node)).map((node) => node.id);
  },

  range(id) {
    return document.getElementById(id).layout.xaxis.range;
  },

  background() {
    return getComputedStyle(document.body).backgroundColor;
  },
})
