// Replaces a still map by one with zoom and a cursor.
// %KEY% is replaced by the key of the outputs that show this map. User data is not part of this script: names and
// numbers are in the map's attribute, and are only ever used as text.
(() => {
%CANVAS%
const LEFT = 58, TOP = 20, HEIGHT = 260, ROWS = 6, HANGING = 30;
upgradeAll('%KEY%', async root => {
  const map = await inflate(root.dataset.map).json(), {x: X, y: Y, count} = map;
  const ends = (starts, lengths) => starts.map((start, i) => start + lengths[i]);
  const x0 = sums(map.left), x1 = ends(x0, map.width), y0 = sums(map.low), y1 = ends(y0, map.height), {kind: kinds} = map;
  const curve = {x: sums(map.curve.x), y: sums(map.curve.y)};
  const columns = map.lines.map(column => [column.texts, sums(column.at)]);
  const lines = i => columns.map(([texts, at]) => texts[at[i]]);
  const hidden = new Set();
  let cursor = map.mark, listed;

  const draw = ink => {
    const {pen, view, px, py, low} = it, right = it.right();
    pen.fillStyle = ink;
    pen.strokeStyle = '#7a7a7a55';
    pen.lineWidth = 1;
    const [ups, unit] = ticks(Y, view.y, 5), name = nameOf(Y, unit);
    pen.fillText(`${Y.label}${name && ` (${name})`}`, 0, 11);
    pen.textAlign = 'right';
    for (const v of ups) {
      pen.fillText(+(v / unit).toPrecision(6), LEFT - 6, py(v) + 4);
      pen.strokeRect(LEFT, Math.round(py(v)) + .5, right - LEFT, 0);
    }
    pen.fillText(X.label, right, HEIGHT - 3);
    pen.textAlign = 'center';
    // The first step lies between 0 and 1, with its number in the middle.
    for (const v of ticks(X, view.x.map(v => v + .5), 8, 1)[0]) if (v > 0) pen.fillText(+v.toPrecision(8), px(v - .5), low + 14);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, TOP, right - LEFT, low - TOP);
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
    const at = px(cursor - .5);
    pen.beginPath();
    pen.moveTo(at, TOP);
    pen.lineTo(at, low);
    pen.stroke();
    pen.restore();
    if (at >= LEFT && at <= right) {
      pen.fillStyle = ink;
      pen.beginPath();
      pen.moveTo(at - 5, TOP - 7);
      pen.lineTo(at + 5, TOP - 7);
      pen.lineTo(at, TOP);
      pen.fill();
    }
  };
  const tell = (left, top) => {
    const x = it.vx(left), y = it.vy(top);
    let found = -1;
    if (left >= LEFT && top >= TOP && top <= it.low) {
      for (let i = 0; i < count; i++) {
        if (!hidden.has(kinds[i]) && x0[i] <= x && x < x1[i] && y0[i] <= y && y < y1[i]) found = i;
      }
    }
    if (found < 0) return '';
    return [...lines(found).filter(Boolean), `${say(Y, map.height[found])}, steps ${x0[found] + 1} to ${x1[found]}`].join('\n');
  };

  const it = stage(root, {
    left: () => LEFT, top: TOP, bottom: 34, height: HEIGHT, title: map.title, draw, tell,
    help: '; arrows pan, + and - zoom, 0 shows all, < and > move the cursor',
    whole: {x: [X.low, X.high], y: [Y.low, Y.high]}, least: {x: 2, y: (Y.high - Y.low) / 1e5},
    click: left => point(it.vx(left) + .5),
    hold: left => Math.abs(left - it.px(cursor - .5)) < 6 && (to => point(it.vx(to) + .5)),
    keys: {'<': () => point(cursor - 1), '>': () => point(cursor + 1)},
    centre: () => cursor,
  });
  it.legend(map.kinds, hidden);
  const line = make(it.bar, 'span', 'white-space:nowrap');
  make(line, 'span', `color:${map.curve.colour}`, '\u2501');
  make(line, 'span', '', ' ' + map.curve.name);
  make(it.bar, 'span', 'opacity:.7', ['drag to pan, Ctrl + wheel to zoom, click to move the cursor', map.note].filter(Boolean).join('; '));
  const table = make(it.live, 'div', 'font-size:12px');

  // Lists the buffers at the cursor, the largest first.
  const list = () => {
    const there = [];
    for (let i = 0; i < count; i++) if (x0[i] < cursor && cursor <= x1[i]) there.push(i);
    there.sort((a, b) => y1[b] - y0[b] - y1[a] + y0[a]);
    const known = curve.x.length > X.high, sum = there.reduce((s, i) => s + y1[i] - y0[i], 0);
    const wide = root.clientWidth, narrow = wide < 620, columns = there.length ? lines(there[0]).length + 2 : 1;
    const few = narrow ? ROWS / 2 : ROWS, most = there.length > few + 1 ? few : there.length;
    listed = wide;
    table.replaceChildren();
    make(table, 'div', 'margin:2px 0', `step ${cursor} of ${X.high}: ` +
      (known ? say(Y, curve.y[cursor - 1]) : `at least ${say(Y, sum)}`) + ` in ${there.length} buffer${there.length === 1 ? '' : 's'}` +
      (cursor === map.mark ? ', the peak' : ''));
    // On a narrow page the cells of a row wrap, indented deeper than its size. On a wide one a column is as wide as its cells if there is room for all
    // of them; what is cut ends in an ellipsis.
    const grid = make(table, 'table', 'border-collapse:collapse;margin:0;max-width:100%;' +
      (narrow ? '' : `display:grid;grid-template-columns:repeat(${columns},minmax(0,max-content))`));
    for (const i of there.slice(0, most)) {
      const row = make(grid, 'tr', narrow ? `display:flex;flex-wrap:wrap;padding:0 0 0 ${HANGING}px` : 'display:contents');
      make(make(row, 'td', 'padding:0 4px 0 0' + (narrow ? `;width:10px;margin-left:-${HANGING}px` : '')),
        'span', `color:${map.kinds[kinds[i]][1]}`, '\u25a0');
      // As in the tables of a report: a size ends at the right, and what is from code, all but the kind, looks like code.
      [say(Y, map.height[i]), ...lines(i)].forEach((cell, at) => {
        if (narrow && !cell) return;
        make(row, 'td', 'padding:0 8px 0 0;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;' +
          (at ? 'text-align:left;' : `text-align:right;min-width:${narrow ? 56 : 0}px;`) +
          (at && at < columns - 2 ? 'font-family:monospace;' : '') +
          'max-width:' + (narrow ? wide - HANGING + 'px' : '100%'), cell).title = cell;
      });
    }
    if (there.length > most) make(table, 'div', 'opacity:.75', `and ${there.length - most} more buffers`);
  };
  const point = step => {
    cursor = Math.min(Math.max(Math.round(step), 1), X.high);
    list();
    it.redraw();
  };
  new ResizeObserver(() => root.clientWidth !== listed && root.clientWidth && list()).observe(root);
  list();
  it.paint();
});
})();
