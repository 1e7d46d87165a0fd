// Replaces a still timeline by one with zoom and search.
// %KEY% is replaced by the key of the outputs that show it. User data is not part of this script: names and numbers are
// in the timeline's attribute, and are only ever used as text.
(() => {
%CANVAS%
const TOP = 4, BOTTOM = 30, ROW = 15, BETWEEN = 4, MOST = 600;
const read = async text => {
  const bytes = new Uint8Array(await inflate(text).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  let at = 4 + length;
  // A column: the number of bytes per value, then the lowest bytes of all values, the second lowest, and so on.
  const column = count => {
    const values = new Float64Array(count), width = bytes[at++];
    for (let n = 0; n < width; n++) for (let i = 0; i < count; i++) values[i] += bytes[at++] * 256 ** n;
    return values;
  };
  const told = JSON.parse(new TextDecoder().decode(bytes.subarray(4, at)));
  const lanes = told.lanes.map(([owner, name, rows, count, faint]) => {
    const row = column(count), called = column(count), gaps = column(count), digits = column(count), powers = column(count);
    const start = new Float64Array(count), size = new Float64Array(count), end = new Float64Array(rows);
    // Durations are sorted by the events' labels.
    Uint32Array.from(called.keys()).sort((i, j) => called[i] - called[j] || i - j).forEach((i, n) => {
      size[i] = digits[n] * 10 ** powers[n];
    });
    // A start is relative to the end of the previous event in its row, or to the start of the event that contains it.
    let at = 0;
    for (let i = 0; i < count; i++) {
      at = (i && row[i] > row[i - 1] ? at : end[row[i]]) + (gaps[i] % 2 ? -(gaps[i] + 1) / 2 : gaps[i] / 2);
      start[i] = at * told.step;
      end[row[i]] = at + Math.floor(size[i] / told.step + .5);
    }
    return {owner, name, rows, faint, count, row, start, size, called};
  });
  return [told, lanes];
};

upgradeAll('%KEY%', async root => {
  const [told, lanes] = await read(root.dataset.lanes), {x: X, called} = told;
  // The top of each row, and its events, which do not overlap, so their ends are in order as well.
  let depth = 0;
  const rows = lanes.flatMap((lane, number) => {
    const found = Array.from({length: lane.rows}, (_, row) => ({lane, y: depth + row * ROW, first: !row, at: []}));
    for (let i = 0; i < lane.count; i++) {
      const {at} = found[lane.row[i]], before = at.at(-1);
      // Rounded events must not overlap the next one in the row.
      if (before !== undefined) lane.size[before] = Math.min(lane.size[before], lane.start[i] - lane.start[before]);
      at.push(i);
    }
    depth += lane.rows * ROW + BETWEEN;
    if (lanes[number + 1] && lanes[number + 1].owner !== lane.owner) depth += 2 * BETWEEN;
    return found;
  });
  // The picture ends below a row, and tells that there are more.
  const tall = depth <= MOST ? depth : Math.max(...rows.map(row => row.y + ROW).filter(y => y <= MOST));
  const below = new Set(rows.filter(row => row.y >= tall).map(row => row.lane)).size, height = tall + TOP + BOTTOM;
  const nameOfLane = lane => `${lane.owner} ${lane.name}`.trim();
  // Names of lanes have the room that they need, on a wide page up to a quarter of it.
  const longest = Math.max(...lanes.map(lane => width(nameOfLane(lane))));
  const left = () => Math.max(150, Math.min(longest + 10, root.clientWidth / 4));
  const hidden = new Set();
  let chosen, wanted = '', matching = [], place = -1;

  // The first event of a row that ends after a moment.
  const from = (row, moment) => {
    let low = 0, high = row.at.length;
    while (low < high) {
      const half = low + high >> 1, i = row.at[half];
      row.lane.start[i] + row.lane.size[i] > moment ? high = half : low = half + 1;
    }
    return low;
  };
  const matches = i => !wanted || called[i].some((text, n) => n !== 1 && text.toLowerCase().includes(wanted));
  let bright = called.map(() => true);

  const draw = ink => {
    const {pen, view, px, py} = it, right = it.right(), LEFT = left();
    pen.fillStyle = ink;
    pen.strokeStyle = '#7a7a7a55';
    pen.lineWidth = 1;
    pen.textAlign = 'center';
    const [across, unit] = ticks(X, view.x, 7);
    for (const v of across) {
      pen.fillText(+(v / unit).toPrecision(9), px(v), it.low + 13);
      pen.strokeRect(Math.round(px(v)) + .5, TOP, 0, it.low - TOP);
    }
    pen.textAlign = 'right';
    pen.fillText(`${X.label} (${nameOf(X, unit)})`, right, height - 3);
    pen.save();
    pen.beginPath();
    pen.rect(0, TOP, right, it.low - TOP);
    pen.clip();
    pen.textAlign = 'left';
    const scale = (right - LEFT) / (view.x[1] - view.x[0]), words = [];
    let frame;
    for (const row of rows) {
      const top = py(-row.y), {lane} = row;
      if (top > it.low || top < TOP - ROW) continue;
      if (row.first) {
        pen.globalAlpha = 1;
        pen.fillStyle = ink;
        pen.fillText(cut(nameOfLane(lane), LEFT - 8), 0, top + 11);
      }
      // Events narrower than a pixel share one: the more they fill the stronger it is; its colour is that of the widest.
      let pixel = -1, filled = 0, most = 0, colour;
      const flush = () => {
        if (pixel < 0) return;
        pen.globalAlpha = Math.min(.6 + .4 * filled, 1) * (lane.faint ? .7 : 1);
        pen.fillStyle = colour;
        pen.fillRect(pixel, top + (lane.faint ? 4 : 1), 1, lane.faint ? ROW - 9 : ROW - 2);
        pixel = -1;
      };
      for (let n = from(row, view.x[0]); n < row.at.length; n++) {
        const i = row.at[n], a = LEFT + (lane.start[i] - view.x[0]) * scale;
        if (a > right) break;
        const what = lane.called[i], kind = called[what][1], w = lane.size[i] * scale;
        if (hidden.has(kind)) continue;
        if (chosen && chosen[0] === lane && chosen[1] === i) frame = [Math.max(a, LEFT), Math.min(a + w, right), top];
        if (!bright[what] && w < 1) continue;
        if (w < 1) {
          const here = Math.max(Math.floor(a), LEFT);
          if (here !== pixel) {
            flush();
            [pixel, filled, most] = [here, 0, 0];
          }
          filled += w;
          if (w >= most) [most, colour] = [w, told.kinds[kind][1]];
          continue;
        }
        flush();
        const begin = Math.max(a, LEFT), wide = Math.min(a + w, right) - begin;
        pen.globalAlpha = bright[what] ? lane.faint ? .7 : 1 : .15;
        pen.fillStyle = told.kinds[kind][1];
        pen.fillRect(begin, top + (lane.faint ? 4 : 1), Math.max(wide - (w > 3 ? .5 : 0), .5), lane.faint ? ROW - 9 : ROW - 2);
        const room = Math.floor((wide - 6) / 6.2);
        if (room > 3 && bright[what] && !lane.faint) words.push([called[what][0], room, begin + 3, top + 11]);
      }
      flush();
    }
    pen.globalAlpha = 1;
    if (frame) {
      const [begin, end, top] = frame;
      pen.strokeStyle = ink;
      pen.lineWidth = 1.5;
      pen.strokeRect(begin, top + 1, Math.max(end - begin, 2), ROW - 2);
    }
    pen.fillStyle = '#111';
    for (const [text, room, left, top] of words) pen.fillText(text.length > room ? text.slice(0, room - 1) + '\u2026' : text, left, top);
    pen.restore();
  };
  const rowAt = top => {
    const y = -it.vy(top);
    return top >= TOP && top <= it.low ? rows.find(each => y >= each.y && y < each.y + ROW) : undefined;
  };
  const under = (across, top) => {
    const row = rowAt(top);
    if (!row || across < left()) return;
    const x = it.vx(across), near = (it.view.x[1] - it.view.x[0]) / (it.right() - left());
    // The event under the pointer, or else the first visible one within a pixel.
    let found;
    for (let n = from(row, x - near); n < row.at.length; n++) {
      const i = row.at[n], {start, size} = row.lane;
      if (start[i] > x + near) break;
      if (hidden.has(called[row.lane.called[i]][1])) continue;
      if (start[i] <= x && x < start[i] + size[i]) return [row.lane, i];
      found ??= [row.lane, i];
    }
    return found;
  };
  const lines = ([lane, i]) => {
    const [name, kind, ...rest] = called[lane.called[i]];
    const when = `${say(X, lane.size[i])}, starting at ${say(X, lane.start[i], 6)}`;
    return [name, when, name === told.kinds[kind][0] || lane.faint ? '' : told.kinds[kind][0], ...rest].filter(Boolean);
  };
  const show = found => {
    chosen = found;
    if (found) {
      const [lane, i] = found, what = lane.called[i];
      let count = 0, sum = 0;
      for (const each of lanes) {
        if (each.owner === lane.owner) each.called.forEach((other, n) => other === what && (count++, sum += each.size[n]));
      }
      about.textContent = [...lines(found), count > 1 ? `${count} times on ${lane.owner || lane.name}, ${say(X, sum)} in total` : '']
        .filter(Boolean).join(' \u00b7 ');
    } else about.textContent = '';
    it.redraw();
  };
  const look = text => {
    wanted = text.trim().toLowerCase();
    bright = called.map((_, i) => matches(i));
    matching = [];
    place = -1;
    let sum = 0;
    for (const lane of wanted ? lanes : []) {
      for (let i = 0; i < lane.count; i++) {
        if (bright[lane.called[i]] && !hidden.has(called[lane.called[i]][1])) {
          matching.push([lane, i]);
          sum += lane.size[i];
        }
      }
    }
    counted.textContent = wanted ? `${matching.length} event${matching.length === 1 ? '' : 's'}, ${say(X, sum)} in total` : '';
    it.redraw();
  };
  // Moves the next match into view, and zooms in until it is visible.
  const next = () => {
    if (!matching.length) return;
    place = (place + 1) % matching.length;
    const [lane, i] = matching[place], span = it.view.x[1] - it.view.x[0];
    bring(lane, i, Math.min(span, Math.max(lane.size[i] * 40, span * .02, least)));
    show(matching[place]);
  };
  const seen = ([lane, i], [left, right] = it.view.x) => lane.start[i] < right && lane.start[i] + lane.size[i] > left;
  // Moves the first match into view, if none is; the zoom stays.
  const meet = () => {
    const {x: [left, right]} = it.view;
    if (!matching.length || matching.some(each => seen(each))) return;
    const [lane, i] = matching.find(([lane, i]) => lane.start[i] >= left) || matching[0];
    bring(lane, i, right - left);
    it.redraw();
  };
  const rowOf = (lane, i) => rows.filter(each => each.lane === lane)[lane.row[i]];
  const bring = (lane, i, near) => {
    const {view} = it, middle = lane.start[i] + lane.size[i] / 2;
    if (near) view.x = [middle - near / 2, middle + near / 2];
    const row = rowOf(lane, i), [bottom, top] = view.y;
    if (row && (-row.y > top || -row.y - ROW < bottom)) view.y = [-row.y - tall / 2, -row.y + tall / 2];
    it.keep('x');
    it.keep('y');
  };

  // Chooses the next event in a row, or the one in the next row that is not over when the chosen one starts; of all, the
  // first one in view.
  const go = (along, down = 0) => {
    const there = rows.map(row => row.at.filter(i => !hidden.has(called[row.lane.called[i]][1])));
    let row = chosen ? rows.indexOf(rowOf(...chosen)) : rows.findIndex(each => -each.y <= it.view.y[1]) - 1, i;
    if (chosen && along) i = there[row][there[row].indexOf(chosen[1]) + along];
    else {
      const now = chosen ? chosen[0].start[chosen[1]] : it.view.x[0];
      do row += down || 1; while (there[row]?.length === 0);
      i = there[row]?.find(each => rows[row].lane.start[each] + rows[row].lane.size[each] > now) ?? there[row]?.at(-1);
    }
    if (i === undefined) return;
    const found = [rows[row].lane, i];
    bring(...found, !seen(found) && it.view.x[1] - it.view.x[0]);
    show(found);
  };

  const least = Math.max(20 * told.step, 10);
  const it = stage(root, {
    left, top: TOP, bottom: BOTTOM, height, title: told.title, axes: 'x', draw,
    help: '; arrows pan, + and - zoom, 0 shows all, < and > choose an event, Page Up and Page Down one in another row',
    whole: {x: [0, X.high], y: [-depth, 0]}, least: {x: least, y: tall},
    // Over the name of a lane, which may be cut, the whole name.
    tell: (across, top) => {
      const found = under(across, top), row = rowAt(top);
      return found ? lines(found).join('\n') : row && across < left() ? nameOfLane(row.lane) : '';
    },
    click: (across, top) => show(under(across, top)),
    keys: {'<': () => go(-1), '>': () => go(1), PageUp: () => go(0, -1), PageDown: () => go(0, 1)},
  });
  it.view.y = [-tall, 0];
  it.legend(told.kinds, hidden, () => look(field.value));
  const field = make(it.bar, 'input', 'font:12px system-ui,sans-serif;width:11em;color:inherit;background:none;border:1px solid #888;' +
    'border-radius:3px;padding:0 4px');
  field.type = 'search';
  field.placeholder = 'search';
  field.setAttribute('aria-label', 'search events');
  field.oninput = () => {
    look(field.value);
    meet();
  };
  field.onkeydown = e => {
    e.stopPropagation();
    if (e.key === 'Enter') next();
  };
  const counted = make(it.bar, 'span', 'opacity:.75');
  make(it.bar, 'span', 'opacity:.7', ['drag to pan, Ctrl + wheel to zoom, click for details',
    below && `${below} more lane${below === 1 ? '' : 's'} below`, told.note].filter(Boolean).join('; '));
  const about = make(it.live, 'div', 'font-size:12px;min-height:1.5em;overflow-wrap:anywhere');
  for (const each of [counted, about]) each.setAttribute('aria-live', 'polite');
  it.paint();
});
})();
