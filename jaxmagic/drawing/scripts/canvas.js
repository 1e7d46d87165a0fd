// Shared by the charts on a canvas: axes, zoom, pan, hover, keys and buttons.
// It is inserted at the beginning of each chart's function.
%TEXT%
const make = (to, tag, css, text) => {
  const made = document.createElement(tag);
  made.style.cssText = css || '';
  made.textContent = text || '';
  to.append(made);
  return made;
};
const say = (axis, v, digits = 3) => {
  const unit = axis.units.find(u => v >= .9995 * u[1]) || axis.units.at(-1);
  return +(v / unit[1]).toPrecision(digits) + unit[0];
};
const inflate = text => {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')));
};
// Numbers are stored as differences to the one before.
const sums = differences => {
  let sum = 0;
  return differences.map(each => sum += each);
};
const ticks = (axis, [from, to], most, least = 0, span = to) => {
  const unit = (axis.units.find(u => span >= .9995 * u[1]) || axis.units.at(-1))[1], rough = (to - from) / unit / most;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(least, [1, 2, 5, 10].find(s => s * size >= rough) * size) * unit;
  const found = [];
  for (let v = Math.ceil(from / step) * step; v <= to; v += step) found.push(v);
  return [found, unit];
};
const nameOf = (axis, unit) => (axis.units.find(u => u[1] === unit) || [''])[0].trim();

// A canvas in `root` that shows a part of `whole`, with margins and a bar above it; `left` returns the left one. The callbacks say what is drawn, the
// tooltip at a position, and what a click or a key does; `least` limits the zoom.
const stage = (root, {left, top, bottom, height, whole, least, axes = 'xy', title, help, draw, tell, click, hold, keys, centre}) => {
  const view = {x: [...whole.x], y: [...whole.y]};
  const live = make(root, 'div');
  const bar = make(live, 'div', 'display:flex;flex-wrap:wrap;align-items:center;gap:3px 12px;font-size:12px');
  const canvas = make(live, 'canvas', `display:block;width:100%;height:${height}px;touch-action:none`);
  const tip = make(live, 'div', 'position:absolute;display:none;pointer-events:none;z-index:9;background:#222;color:#fff;' +
    'padding:3px 7px;border-radius:3px;font:12px/1.4 system-ui,sans-serif;white-space:pre-line;max-width:50%;overflow-wrap:anywhere');
  const pen = canvas.getContext('2d');
  let width = 0, waiting = false, held;
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', title + help);

  const low = height - bottom, right = () => width - 10;
  const px = v => left() + (v - view.x[0]) / (view.x[1] - view.x[0]) * (right() - left());
  const py = v => low - (v - view.y[0]) / (view.y[1] - view.y[0]) * (low - top);
  const vx = p => view.x[0] + (p - left()) / (right() - left()) * (view.x[1] - view.x[0]);
  const vy = p => view.y[0] + (low - p) / (low - top) * (view.y[1] - view.y[0]);
  const redraw = () => {
    tip.style.display = 'none';
    if (!waiting) requestAnimationFrame(paint);
    waiting = true;
  };
  const paint = () => {
    waiting = false;
    width = canvas.clientWidth;
    const dense = window.devicePixelRatio || 1;
    canvas.width = width * dense;
    canvas.height = height * dense;
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.font = '11px system-ui,sans-serif';
    draw(getComputedStyle(root).color);
  };
  const keep = axis => {
    const [from, to] = whole[axis], span = Math.min(view[axis][1] - view[axis][0], to - from);
    const start = Math.min(Math.max(view[axis][0], from), to - span);
    view[axis] = [start, start + span];
  };
  const pan = (across, up) => {
    view.x = view.x.map(v => v + across);
    view.y = view.y.map(v => v + up);
    keep('x');
    keep('y');
    redraw();
  };
  const zoom = (factor, x, y, which = axes) => {
    for (const [axis, at] of [['x', x], ['y', y]]) {
      const span = view[axis][1] - view[axis][0];
      if (!which.includes(axis) || factor < 1 && span * factor < least[axis]) continue;
      view[axis] = view[axis].map(v => at + (v - at) * factor);
      keep(axis);
    }
    redraw();
  };
  const middle = axis => (view[axis][0] + view[axis][1]) / 2;
  const nearer = factor => zoom(factor, centre ? centre() : middle('x'), middle('y'));
  const all = () => {
    view.x = [...whole.x];
    if (axes.includes('y')) view.y = [...whole.y];
    redraw();
  };
  const button = (text, title, action) => {
    const made = make(bar, 'button', 'font:12px system-ui,sans-serif;color:inherit;background:none;cursor:pointer;' +
      'border:1px solid #888;border-radius:3px;padding:0 7px;margin-right:-8px', text);
    made.type = 'button';
    made.title = title;
    made.onclick = action;
    return made;
  };
  make(bar, 'b', 'width:100%', title);
  button('+', 'zoom in', () => nearer(.5));
  button('\u2212', 'zoom out', () => nearer(2));
  button('all', 'show all', all).style.marginRight = 0;
  // A legend whose entries can be switched off; `hidden` holds the numbers of those that are.
  const legend = (kinds, hidden, then = redraw) => kinds.forEach(([name, colour], kind) => {
    const label = make(bar, 'label', 'cursor:pointer;white-space:nowrap');
    const box = make(label, 'input', 'margin:0 3px 0 0;vertical-align:-2px');
    make(label, 'span', `color:${colour}`, '\u25a0');
    make(label, 'span', '', ' ' + name);
    box.type = 'checkbox';
    box.checked = true;
    box.onchange = () => {
      box.checked ? hidden.delete(kind) : hidden.add(kind);
      then();
    };
  });

  const place = e => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  const hover = (x, y) => {
    const text = tell(x, y);
    canvas.style.cursor = hold && hold(x) ? 'ew-resize' : 'grab';
    tip.style.display = text ? 'block' : 'none';
    tip.textContent = text || '';
    const side = x > width / 2;
    tip.style.left = side ? 'auto' : x + 14 + 'px';
    tip.style.right = side ? root.clientWidth - x + 14 + 'px' : 'auto';
    tip.style.top = canvas.offsetTop + y + 14 + 'px';
  };
  canvas.onpointerdown = e => {
    if (e.button) return;
    const [x, y] = place(e);
    held = {x, y, moved: false, by: hold && hold(x)};
    canvas.setPointerCapture(e.pointerId);
    tip.style.display = 'none';
  };
  canvas.onpointermove = e => {
    const [x, y] = place(e);
    // The button was released without an event, for example over a menu.
    if (held && !e.buttons && e.isTrusted) held = undefined;
    if (!held) return hover(x, y);
    held.moved ||= Math.hypot(x - held.x, y - held.y) > 3;
    if (held.by) return held.by(x);
    if (!held.moved) return;
    pan(vx(held.x) - vx(x), vy(held.y) - vy(y));
    [held.x, held.y] = [x, y];
  };
  canvas.onpointerup = e => {
    if (held && !held.moved) click(...place(e));
    held = undefined;
  };
  canvas.onpointercancel = () => held = undefined;
  canvas.onpointerleave = () => tip.style.display = 'none';
  canvas.addEventListener('wheel', e => {
    // A plain wheel scrolls the page; a pinch arrives with ctrlKey.
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    const [x, y] = place(e);
    zoom(2 ** (Math.max(-60, Math.min(e.deltaY || e.deltaX, 60)) / 120), vx(x), vy(y), e.shiftKey ? 'x' : axes);
  }, {passive: false});
  canvas.ondblclick = e => {
    const [x, y] = place(e);
    zoom(.5, vx(x), vy(y));
  };
  const pressed = {
    ArrowLeft: () => pan((view.x[0] - view.x[1]) / 8, 0), ArrowRight: () => pan((view.x[1] - view.x[0]) / 8, 0),
    ArrowDown: () => pan(0, (view.y[0] - view.y[1]) / 8), ArrowUp: () => pan(0, (view.y[1] - view.y[0]) / 8),
    '+': () => nearer(.5), '-': () => nearer(2), 0: all, ...keys,
  };
  canvas.onkeydown = e => {
    if (!pressed[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    pressed[e.key]();
  };
  new ResizeObserver(() => canvas.clientWidth !== width && redraw()).observe(canvas);
  // Otherwise JupyterLab would handle the keys.
  root.dataset.lmSuppressShortcuts = true;
  return {view, live, bar, canvas, pen, px, py, vx, vy, low, right, redraw, paint, keep, legend, button, middle};
};
// Makes the pictures with a key live, each once; if that fails the still picture stays.
const upgradeAll = (key, upgrade) => Promise.all([...document.querySelectorAll(`[data-jaxmagic="${key}"]`)].map(async root => {
  const still = root.querySelector('[data-still]');
  // Absent if this has already run.
  if (!still || root.dataset.live) return;
  root.dataset.live = 1;
  await upgrade(root);
  still.remove();
})).catch(() => {});
