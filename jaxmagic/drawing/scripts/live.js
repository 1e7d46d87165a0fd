// Replaces an image by the SVG that it holds, and makes it interactive.
// %KEY% is replaced by the key of the outputs that show this picture. User data is not part of this script: names and
// numbers are in the picture's attributes, and are only ever used as text.
(() => {
%TEXT%
const upgrade = root => {
  const img = root.querySelector('img');
  // Absent if this has already run.
  if (!img) return;
  const bytes = Uint8Array.from(atob(img.src.split(',')[1]), c => c.charCodeAt(0));
  const parsed = new DOMParser().parseFromString(new TextDecoder().decode(bytes), 'image/svg+xml').documentElement;
  if (parsed.nodeName !== 'svg') return;
  const svg = document.importNode(parsed, true);
  const all = q => [...svg.querySelectorAll(q)];
  const on = (n, what, f) => n.addEventListener(what, f);
  const set = (n, given) => Object.entries(given).forEach(([k, v]) => n.setAttribute(k, v));
  const add = (to, tag, css) => {
    const made = to.appendChild(document.createElement(tag));
    made.style.cssText = css;
    return made;
  };
  const draw = (to, tag, given) => {
    const made = to.appendChild(document.createElementNS(svg.namespaceURI, tag));
    set(made, given);
    return made;
  };
  const values = (n, k) => (n.dataset[k] || '').split(' ').filter(Boolean).map(Number);
  const axes = JSON.parse(svg.dataset.axes);
  const at = (k, v) => {
    const a = axes[k], f = a.log ? Math.log : Number;
    const share = (f(v) - f(a.low)) / (f(a.high) - f(a.low));
    return a.start + Math.min(Math.max(share, 0), 1) * (a.end - a.start);
  };
  const say = (k, v) => {
    const a = axes[k], unit = a.units.find(u => v >= .9995 * u[1]) || a.units.at(-1);
    return a.names[Math.round(v)] || +(v / unit[1]).toPrecision(4) + unit[0];
  };

  // Points with values move with their axes; without a y value the height stays.
  const paths = all('path[data-x]').map(n => ({
    n, xs: values(n, 'x'), ys: values(n, 'y'), kind: n.dataset.kind, series: (n.closest('[data-s]') || n).dataset.s,
    still: n.getAttribute('d').match(/-?[\d.]+/g),
  }));
  let place = () => {};
  const redraw = () => {
    for (const p of paths) {
      p.at = p.xs.map((x, i) => [at('x', x), p.ys.length ? at('y', p.ys[i]) : +p.still[2 * i + 1]]);
      set(p.n, {d: p.at.map((place, i) => {
        const [x, y] = place.map(v => v.toFixed(1));
        return p.kind === 'dots' ? `M${x} ${y}h0` : p.kind === 'rings' ? `M${x} ${y}m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0` : !i ? `M${x} ${y}` : p.kind ? `H${x}V${y}` : `L${x} ${y}`;
      }).join('')});
    }
    for (const n of all('text[data-x]:not([data-y])')) {
      const half = width(n.textContent) / 2;
      set(n, {x: Math.min(Math.max(at('x', +n.dataset.x), half), (wide || full) - half)});
    }
    place();
    for (const n of all('[data-ticks]')) set(n, {display: +n.dataset.log == axes[n.dataset.ticks].log ? '' : 'none'});
    fit();
  };
  // Writes on each area what fits in it: of a call the longest of its labels, of a tile its first lines.
  const fit = () => {
    for (const n of all('[data-fit]')) {
      const [left, top, right, , , bottom] = n.querySelector('path').getAttribute('d').match(/-?[\d.]+/g).map(Number);
      const room = right - left - 8, {fit, tip, name, place, brief} = n.dataset, lines = tip.split('\n'), size = lines[1].split(',')[0];
      n.querySelectorAll('text').forEach(text => text.remove());
      const labels = fit === 'tile' ? lines.slice(0, 2).map(line => [line])
        : [[...place ? [`${name} (${place}) ${size}`] : [], `${name} ${size}`, name, brief || name]];
      labels.forEach((them, i) => {
        const text = them.find(each => width(each) <= room) || cut(them.at(-1), room);
        if (!text || bottom - top < 16 * (i + 1)) return;
        draw(n, 'text', {x: left + 4, y: top + 13 + 14 * i, fill: '#111', 'data-ink': 1}).textContent = text;
      });
    }
  };

  // Spreads the picture over the width there is. The text keeps its size: what lies left of the horizontal axis stays,
  // what lies right of it moves with the edge, and the legend is laid out anew, in rows that grow upwards. Where slopes
  // matter, a wide picture is higher.
  const full = svg.viewBox.baseVal.width, tall = svg.viewBox.baseVal.height;
  const [from, to] = axes.x ? [axes.x.start, axes.x.end] : [0, full];
  const [floor, roof] = axes.y ? [axes.y.start, axes.y.end] : [tall, tall];
  const fixed = all('path:not([data-x],[data-leader])').filter(n => !n.closest('[data-legend]')).map(n => [n, n.getAttribute('d')]);
  const words = all('text:not([data-x],[data-ink],[data-legend] *)').map(n => [n, +n.getAttribute('x'), n.textContent, +n.getAttribute('y')]);
  const names = all('text[data-whole]:not([data-legend] *,[data-label] *)');
  const note = words.find(([n]) => n.dataset.note);
  const entries = all('[data-legend]').map(n => {
    const area = n.querySelector('path'), text = n.querySelector('text'), {textContent: brief, dataset: {whole}} = text;
    const [x, y] = area.getAttribute('d').match(/-?[\d.]+/g).map(Number);
    return {n, area, text, x: x + 4, row: y, forms: [whole || brief, brief]};
  });
  // Names are whole if that takes no more than four rows.
  const arrange = form => {
    let x = entries[0]?.x, row = 0, most = 0;
    for (const each of entries) {
      const name = each.forms[form], room = 25 + width(name);
      if (x + room > wide && x > entries[0].x) [x, row] = [entries[0].x, row + 1];
      Object.assign(each, {to: x, line: row, name, room});
      most = Math.max(most, x + room);
      x += room + 12;
    }
    return form || row < 4 && most <= wide ? row : arrange(1);
  };
  let wide, after = () => {};
  const layout = () => {
    const now = Math.min(root.clientWidth, 1600);
    // Nothing is known inside of a closed fold.
    if (!now || now === wide) return;
    wide = now;
    const start = Math.min(names.some(n => n.dataset.whole) ? Math.max(60, ...names.map(n => 16 + width(n.dataset.whole || n.textContent))) : from, .38 * wide);
    const end = wide - full + to;
    // Labels keep their distance from the axis, and what is at the left edge stays there.
    const move = x => x <= from ? 2 * x > from ? start - from + x : x : x < to ? start + (x - from) * (end - start) / (to - from) : x - full + wide;
    if (axes.x) [axes.x.start, axes.x.end] = [start, end];
    const extra = svg.dataset.tall ? Math.max(0, Math.min(.3 * wide, 420) - floor + roof) : 0;
    const sink = y => y <= roof ? y : y < floor ? roof + (y - roof) * (1 + extra / (floor - roof)) : y + extra;
    if (axes.y) axes.y.start = floor + extra;
    const up = entries.length ? 16 * arrange(0) - (entries.at(-1).row - entries[0].row) : 0;
    for (const {n, area, text, x, row, to, line, name, room} of entries) {
      text.textContent = name;
      set(area, {d: `M${x - 4} ${row}H${x + room}V${row + 16}H${x - 4}Z`});
      set(n, {transform: `translate(${to - x} ${entries[0].row + 16 * line - up - row})`});
    }
    for (const [n, d] of fixed) {
      set(n, {d: d.replace(/([MLH])(-?[\d.]+)( -?[\d.]+)?/g, (_, c, x, y) => c + move(+x).toFixed(1) + (y ? ' ' + sink(+y).toFixed(1) : ''))});
    }
    // A note below the label of the axis is wrapped, and the picture grows downwards.
    const lines = [];
    for (const word of note ? note[2].split(' ') : []) {
      const longer = `${lines.at(-1)} ${word}`;
      if (!lines[0] || width(longer) > wide - 8) lines.push(word); else lines.splice(-1, 1, longer);
    }
    const more = up + extra + (note ? 13 * lines.length - 13 : 0);
    set(svg, {viewBox: `0 ${-up} ${wide} ${tall + more}`, width: wide, height: tall + more});
    corner.style.cssText = wide < 480 ? '' : `position:absolute;left:0;bottom:${13 * lines.length}px`;
    let last = -9;
    for (const [n, x, text, y] of words) {
      const place = move(x), anchor = n.getAttribute('text-anchor'), tick = n.closest('[data-ticks=x]') && anchor === 'middle';
      const beside = wide < 480 || y < tall - (note ? 23 : 9) ? 0 : corner.offsetWidth;
      // Labels of ticks keep their distance from them.
      set(n, {x: place, y: sink(y - 4) + 4});
      if (y === 11) set(n, {transform: `translate(0 ${-up})`});
      if (tick) {
        const half = width(text) / 2, first = n.parentNode.querySelector('text') === n;
        if (first) last = -99;
        const hidden = place - half < last + 6;
        n.style.display = hidden ? 'none' : '';
        if (!hidden) last = place + half;
      } else if (n.dataset.note) {
        n.textContent = '';
        lines.forEach((line, i) => draw(n, 'tspan', {x: place, dy: i ? 13 : 0}).textContent = line);
      } else {
        const room = anchor === 'end' ? place - beside : wide - place, {whole} = n.dataset;
        n.textContent = whole && width(whole) <= room ? whole : cut(text, room);
      }
    }
    redraw();
    after();
  };

  const tip = add(root, 'div', 'position:absolute;display:none;pointer-events:none;z-index:9;background:#222;' +
    'color:#fff;padding:3px 7px;border-radius:3px;font:12px/1.4 system-ui,sans-serif;white-space:pre-line;' +
    'width:max-content;max-width:50%;overflow-wrap:anywhere');
  const dot = draw(svg, 'circle', {fill: 'none', stroke: 'currentColor', 'pointer-events': 'none'});
  const tell = (text, x, y, place) => {
    const box = root.getBoundingClientRect(), side = x - box.left > box.width / 2;
    tip.textContent = text || '';
    tip.style.display = text ? 'block' : 'none';
    tip.style.left = side ? 'auto' : x - box.left + 14 + 'px';
    tip.style.right = side ? box.right - x + 14 + 'px' : 'auto';
    tip.style.top = y - box.top + 12 + 'px';
    set(dot, place ? {r: 4, cx: place[0], cy: place[1]} : {r: 0});
  };

  let chosen;
  const choose = s => {
    chosen = s === chosen ? undefined : s;
    for (const n of all('[data-s]')) n.style.opacity = !chosen || n.dataset.s === chosen ? 1 : .15;
    for (const n of buttons) set(n, {'aria-pressed': n.dataset.s === chosen});
  };
  // The nearest point of a curve: its distance, its path, and its index.
  const nearest = e => {
    const mouse = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = [28];
    for (const p of paths) {
      if (!p.n.dataset.curve || chosen && p.series !== chosen) continue;
      p.at.forEach(([x, y], i) => {
        const far = Math.hypot(x - mouse.x, y - mouse.y);
        if (far < best[0]) best = [far, p, i];
      });
    }
    return best;
  };
  const point = ({n, xs, ys}, i) => {
    const y = v => say('y', v), end = k => values(n, k)[i], {curve, low} = n.dataset;
    return `${curve}\n${axes.x.label}: ${say('x', xs[i])}\n${axes.y.label}: ${y(ys[i])}` +
      (low ? isNaN(end('low')) ? ' (interval unknown)' : ` (${y(end('low'))} to ${y(end('high'))})` : '');
  };
  on(svg, 'mousemove', e => {
    const [, p, i] = nearest(e), about = e.target.closest('[data-tip]');
    if (!p) return tell(about && about.dataset.tip, e.clientX, e.clientY);
    tell(point(p, i), e.clientX, e.clientY, p.at[i]);
  });
  on(svg, 'mouseleave', () => tell());
  const buttons = all('[data-button]');
  on(svg, 'click', e => {
    const own = e.target.closest('[data-s]'), p = nearest(e)[1];
    if (buttons.length && !e.target.closest('[data-fit=cell]')) choose(own ? own.dataset.s : p ? p.series : chosen);
  });
  for (const n of buttons) {
    // With the keyboard, the entry of a single point tells what the mouse is told at the point.
    const [p, more] = paths.filter(p => p.n.dataset.curve && p.series === n.dataset.s);
    const text = !more && p?.xs.length === 1 ? point(p, 0) : n.dataset.tip;
    set(n, {tabindex: 0, role: 'button', 'aria-pressed': false, 'aria-label': text || n.dataset.button});
    n.style.cursor = 'pointer';
    on(n, 'keydown', e => {
      if (e.key !== 'Enter' && e.key !== ' ') return;
      e.preventDefault();
      choose(n.dataset.s);
    });
    on(n, 'focus', () => {
      const box = n.getBoundingClientRect();
      if (n.matches(':focus-visible')) tell(text, box.left, box.bottom - 8);
    });
    on(n, 'blur', () => tell());
  }

  for (const n of all('text:not([data-ink])')) set(n, {fill: 'currentColor'});
  svg.style.cssText = 'display:block;max-width:100%;height:auto';
  // On a narrow page the picture leaves no room beside the axis title.
  const corner = add(root, 'div', '');
  const press = (text, title, action) => {
    const made = add(corner, 'button', 'font:11px system-ui,sans-serif;color:inherit;background:none;cursor:pointer;' +
      'border:1px solid #888;border-radius:3px;padding:0 5px;margin-right:4px');
    made.textContent = text;
    set(made, {type: 'button', title});
    on(made, 'click', () => action(made));
    return made;
  };
  for (const k in axes) {
    if (!axes[k].can) continue;
    const name = () => `${axes.y ? k : ''} → ${axes[k].log ? 'linear' : 'log'}`;
    press(name(), axes[k].label, button => {
      axes[k].log = 1 - axes[k].log;
      button.textContent = name();
      redraw();
      tell();
    });
  }
%MORE%
  // Otherwise JupyterLab would handle Enter and Space.
  root.dataset.lmSuppressShortcuts = true;
  img.replaceWith(svg);
  layout();
  if (!wide) redraw();
  new ResizeObserver(layout).observe(root);
};
try {
  document.querySelectorAll('[data-jaxmagic="%KEY%"]').forEach(upgrade);
} catch (error) {
  // The still picture stays.
}
})();
