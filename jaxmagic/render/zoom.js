// Puts a map that can be zoomed, with a cursor, in the place of the still one.
// %KEY% is replaced by what marks the outputs that show this map. Nothing of the user's is in here: names and numbers
// are in the map's attribute, and are only ever used as text.
(async () => {
const LEFT = 58, TOP = 20, BOTTOM = 34, HEIGHT = 330, ROWS = 12;
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
const unpack = async text => {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).json();
};

const upgrade = async root => {
  const still = root.querySelector('[data-still]');
  // Absent where this has run before.
  if (!still || root.dataset.live) return;
  root.dataset.live = 1;
  const map = await unpack(root.dataset.map), {x: X, y: Y, count} = map;
  const whole = {x: [X.low, X.high], y: [Y.low, Y.high]};
  // Numbers come as what they differ by from the one before.
  const sums = differences => {
    let sum = 0;
    return differences.map(each => sum += each);
  };
  const ends = (starts, lengths) => starts.map((start, i) => start + lengths[i]);
  const x0 = sums(map.left), x1 = ends(x0, map.width), y0 = sums(map.low), y1 = ends(y0, map.height), {kind: kinds} = map;
  const curve = {x: sums(map.curve.x), y: sums(map.curve.y)};
  const columns = map.lines.map(column => [column.texts, sums(column.at)]);
  const lines = i => columns.map(([texts, at]) => texts[at[i]]);
  const view = {x: [...whole.x], y: [...whole.y]};
  let cursor = map.mark, width = 0, hidden = new Set(), waiting = false;

  const live = make(root, 'div');
  const bar = make(live, 'div', 'display:flex;flex-wrap:wrap;align-items:center;gap:3px 12px;font-size:12px;max-width:900px');
  const canvas = make(live, 'canvas', `display:block;width:100%;max-width:900px;height:${HEIGHT}px;touch-action:none`);
  const table = make(live, 'div', 'font-size:12px;max-width:900px;overflow-x:auto');
  const tip = make(live, 'div', 'position:absolute;display:none;pointer-events:none;z-index:9;background:#222;color:#fff;' +
    'padding:3px 7px;border-radius:3px;font:12px/1.4 system-ui,sans-serif;white-space:pre-line;max-width:50%;overflow-wrap:anywhere');
  const pen = canvas.getContext('2d');
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', map.title + '; arrows pan, + and - zoom, 0 shows all, < and > move the cursor');

  const right = () => width - 10, low = HEIGHT - BOTTOM;
  const px = v => LEFT + (v - view.x[0]) / (view.x[1] - view.x[0]) * (right() - LEFT);
  const py = v => low - (v - view.y[0]) / (view.y[1] - view.y[0]) * (low - TOP);
  const vx = p => view.x[0] + (p - LEFT) / (right() - LEFT) * (view.x[1] - view.x[0]);
  const vy = p => view.y[0] + (low - p) / (low - TOP) * (view.y[1] - view.y[0]);

  const ticks = (axis, [from, to], most, least = 0) => {
    const unit = (axis.units.find(u => to >= .9995 * u[1]) || axis.units.at(-1))[1], rough = (to - from) / unit / most;
    const size = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(least, [1, 2, 5, 10].find(s => s * size >= rough) * size) * unit;
    const found = [];
    for (let v = Math.ceil(from / step) * step; v <= to; v += step) found.push(v);
    return [found, unit];
  };
  const draw = () => {
    waiting = false;
    width = canvas.clientWidth;
    const dense = window.devicePixelRatio || 1, ink = getComputedStyle(root).color;
    canvas.width = width * dense;
    canvas.height = HEIGHT * dense;
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.font = '11px system-ui,sans-serif';
    pen.fillStyle = ink;
    pen.strokeStyle = '#7a7a7a55';
    pen.lineWidth = 1;
    const [ups, unit] = ticks(Y, view.y, 5), name = (Y.units.find(u => u[1] === unit) || [''])[0];
    pen.fillText(`${Y.label}${name && ` (${name.trim()})`}`, 0, 11);
    pen.textAlign = 'right';
    for (const v of ups) {
      pen.fillText(+(v / unit).toPrecision(6), LEFT - 6, py(v) + 4);
      pen.strokeRect(LEFT, Math.round(py(v)) + .5, right() - LEFT, 0);
    }
    pen.fillText(X.label, right(), HEIGHT - 3);
    pen.textAlign = 'center';
    // The first step lies between 0 and 1: its number stands in the middle.
    for (const v of ticks(X, view.x.map(v => v + .5), 8, 1)[0]) if (v > 0) pen.fillText(+v.toPrecision(8), px(v - .5), low + 14);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, TOP, right() - LEFT, low - TOP);
    pen.clip();
    map.kinds.forEach(([, colour], kind) => {
      if (hidden.has(kind)) return;
      pen.fillStyle = colour + 'cc';
      pen.strokeStyle = '#ffffffaa';
      pen.lineWidth = .7;
      for (let i = 0; i < count; i++) {
        if (kinds[i] !== kind || x1[i] <= view.x[0] || x0[i] >= view.x[1] ||
            y1[i] <= view.y[0] || y0[i] >= view.y[1]) continue;
        const a = Math.max(px(x0[i]), 0), b = py(y1[i]), w = px(x1[i]) - a, h = py(y0[i]) - b;
        pen.fillRect(a, b, Math.max(w, .6), Math.max(h, .6));
        if (w > 3 && h > 3) pen.strokeRect(a, b, w, h);
      }
    });
    pen.strokeStyle = map.curve.colour;
    pen.lineWidth = 1.8;
    pen.beginPath();
    curve.x.forEach((x, i) => {
      if (i) pen.lineTo(px(x), py(curve.y[i - 1]));
      pen.lineTo(px(x), py(curve.y[i]));
    });
    pen.stroke();
    pen.strokeStyle = pen.fillStyle = ink;
    pen.lineWidth = 1.2;
    pen.beginPath();
    pen.moveTo(px(cursor - .5), TOP);
    pen.lineTo(px(cursor - .5), low);
    pen.stroke();
    pen.restore();
    const at = px(cursor - .5);
    if (at >= LEFT && at <= right()) {
      pen.fillStyle = ink;
      pen.beginPath();
      pen.moveTo(at - 5, TOP - 7);
      pen.lineTo(at + 5, TOP - 7);
      pen.lineTo(at, TOP);
      pen.fill();
    }
  };
  const redraw = () => {
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  };

  // What is there at the cursor, the largest first.
  const list = () => {
    const there = [];
    for (let i = 0; i < count; i++) if (x0[i] < cursor && cursor <= x1[i]) there.push(i);
    there.sort((a, b) => y1[b] - y0[b] - y1[a] + y0[a]);
    const known = curve.x.length > X.high, sum = there.reduce((s, i) => s + y1[i] - y0[i], 0);
    table.replaceChildren();
    make(table, 'div', 'margin:2px 0', `step ${cursor} of ${X.high}: ` +
      (known ? say(Y, curve.y[cursor - 1]) : `at least ${say(Y, sum)}`) + ` in ${there.length} buffer${there.length === 1 ? '' : 's'}` +
      (cursor === map.mark ? ', the peak' : ''));
    const grid = make(table, 'table', 'border-collapse:collapse');
    for (const i of there.slice(0, ROWS)) {
      const row = make(grid, 'tr');
      make(make(row, 'td', 'padding:0 4px 0 0'), 'span', `color:${map.kinds[kinds[i]][1]}`, '\u25a0');
      for (const cell of [say(Y, map.height[i]), ...lines(i)]) {
        make(row, 'td', 'padding:0 12px 0 0;text-align:left;white-space:nowrap;max-width:21em;overflow:hidden;' +
          'text-overflow:ellipsis', cell).title = cell;
      }
    }
    if (there.length > ROWS) make(table, 'div', 'opacity:.75', `and ${there.length - ROWS} smaller ones`);
  };
  const point = step => {
    cursor = Math.min(Math.max(Math.round(step), 1), X.high);
    list();
    redraw();
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
  const zoom = (factor, x, y, axes = 'xy') => {
    for (const [axis, at] of [['x', x], ['y', y]]) {
      const span = view[axis][1] - view[axis][0], least = axis === 'x' ? 2 : (whole.y[1] - whole.y[0]) / 1e5;
      if (!axes.includes(axis) || factor < 1 && span * factor < least) continue;
      view[axis] = view[axis].map(v => at + (v - at) * factor);
      keep(axis);
    }
    redraw();
  };
  const middle = axis => (view[axis][0] + view[axis][1]) / 2;
  const all = () => {
    view.x = [...whole.x];
    view.y = [...whole.y];
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
  make(bar, 'b', 'width:100%', map.title);
  button('+', 'zoom in', () => zoom(.5, cursor, middle('y')));
  button('\u2212', 'zoom out', () => zoom(2, cursor, middle('y')));
  button('all', 'show all of it', all).style.marginRight = 0;
  map.kinds.forEach(([name, colour], kind) => {
    const label = make(bar, 'label', 'cursor:pointer;white-space:nowrap');
    const box = make(label, 'input', 'margin:0 3px 0 0;vertical-align:-2px');
    make(label, 'span', `color:${colour}`, '\u25a0');
    make(label, 'span', '', ' ' + name);
    box.type = 'checkbox';
    box.checked = true;
    box.onchange = () => {
      box.checked ? hidden.delete(kind) : hidden.add(kind);
      redraw();
    };
  });
  const line = make(bar, 'span', 'white-space:nowrap');
  make(line, 'span', `color:${map.curve.colour}`, '\u2501');
  make(line, 'span', '', ' ' + map.curve.name);
  make(bar, 'span', 'opacity:.7', ['drag to pan, Ctrl + wheel to zoom, click to move the cursor', map.note].filter(Boolean).join('; '));

  // Where a pointer went down, and whether it holds the cursor.
  let held;
  const place = e => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  canvas.onpointerdown = e => {
    const [x, y] = place(e);
    held = {x, y, moved: false, cursor: Math.abs(x - px(cursor - .5)) < 6};
    canvas.setPointerCapture(e.pointerId);
    tip.style.display = 'none';
  };
  canvas.onpointermove = e => {
    const [x, y] = place(e);
    if (!held) return hover(x, y);
    held.moved ||= Math.hypot(x - held.x, y - held.y) > 3;
    if (held.cursor) return point(vx(x) + .5);
    if (!held.moved) return;
    pan(vx(held.x) - vx(x), vy(held.y) - vy(y));
    [held.x, held.y] = [x, y];
  };
  canvas.onpointerup = e => {
    if (held && !held.moved) point(vx(place(e)[0]) + .5);
    held = undefined;
  };
  canvas.onpointercancel = () => held = undefined;
  canvas.onpointerleave = () => tip.style.display = 'none';
  const hover = (left, top) => {
    const x = vx(left), y = vy(top);
    let found = -1;
    if (left >= LEFT && top >= TOP && top <= low) {
      for (let i = 0; i < count; i++) {
        if (!hidden.has(kinds[i]) && x0[i] <= x && x < x1[i] && y0[i] <= y && y < y1[i]) found = i;
      }
    }
    canvas.style.cursor = Math.abs(left - px(cursor - .5)) < 6 ? 'ew-resize' : 'grab';
    tip.style.display = found < 0 ? 'none' : 'block';
    if (found < 0) return;
    const at = `${say(Y, map.height[found])}, steps ${x0[found] + 1} to ${x1[found]}`;
    tip.textContent = [...lines(found).filter(Boolean), at].join('\n');
    const side = left > width / 2;
    tip.style.left = side ? 'auto' : left + 14 + 'px';
    tip.style.right = side ? root.clientWidth - left + 14 + 'px' : 'auto';
    tip.style.top = canvas.offsetTop + top + 14 + 'px';
  };
  canvas.addEventListener('wheel', e => {
    // The page scrolls as ever; a pinch arrives with ctrlKey.
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    const [x, y] = place(e);
    zoom(2 ** (Math.max(-60, Math.min(e.deltaY, 60)) / 120), vx(x), vy(y), e.shiftKey ? 'x' : 'xy');
  }, {passive: false});
  canvas.ondblclick = e => zoom(.5, ...place(e).map((v, i) => i ? vy(v) : vx(v)));
  const keys = {
    ArrowLeft: () => pan((view.x[0] - view.x[1]) / 8, 0), ArrowRight: () => pan((view.x[1] - view.x[0]) / 8, 0),
    ArrowDown: () => pan(0, (view.y[0] - view.y[1]) / 8), ArrowUp: () => pan(0, (view.y[1] - view.y[0]) / 8),
    '+': () => zoom(.5, cursor, middle('y')), '-': () => zoom(2, cursor, middle('y')), 0: all,
    '<': () => point(cursor - 1), '>': () => point(cursor + 1),
  };
  canvas.onkeydown = e => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    keys[e.key]();
  };
  new ResizeObserver(() => canvas.clientWidth !== width && redraw()).observe(canvas);
  // JupyterLab would take the keys for itself.
  root.dataset.lmSuppressShortcuts = true;
  list();
  draw();
  still.remove();
};
try {
  await Promise.all([...document.querySelectorAll('[data-jaxmagic="%KEY%"]')].map(upgrade));
} catch (error) {
  // The still picture stays.
}
})();
