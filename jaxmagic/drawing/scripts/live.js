// Replaces an image by the SVG that it holds, and makes it interactive.
// %KEY% is replaced by the key of the outputs that show this picture. User data is not part of this script: names and
// numbers are in the picture's attributes, and are only ever used as text.
(() => {
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
  const redraw = () => {
    for (const p of paths) {
      p.at = p.xs.map((x, i) => [at('x', x), p.ys.length ? at('y', p.ys[i]) : +p.still[2 * i + 1]]);
      set(p.n, {d: p.at.map((place, i) => {
        const [x, y] = place.map(v => v.toFixed(1));
        return p.kind === 'dots' ? `M${x} ${y}h0` : !i ? `M${x} ${y}` : p.kind ? `H${x}V${y}` : `L${x} ${y}`;
      }).join('')});
    }
    for (const n of all('text[data-x]')) {
      set(n, {x: Math.min(Math.max(at('x', +n.dataset.x), +n.dataset.half), svg.viewBox.baseVal.width - n.dataset.half)});
    }
    for (const n of all('[data-ticks]')) set(n, {display: +n.dataset.log == axes[n.dataset.ticks].log ? '' : 'none'});
  };

  const tip = add(root, 'div', 'position:absolute;display:none;pointer-events:none;z-index:9;background:#222;' +
    'color:#fff;padding:3px 7px;border-radius:3px;font:12px/1.4 system-ui,sans-serif;white-space:pre-line;' +
    'width:max-content;max-width:50%;overflow-wrap:anywhere');
  const dot = document.createElementNS(svg.namespaceURI, 'circle');
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
  on(svg, 'mousemove', e => {
    const [, p, i] = nearest(e), about = e.target.closest('[data-tip]');
    if (!p) return tell(about && about.dataset.tip, e.clientX, e.clientY);
    const {low, curve} = p.n.dataset;
    const between = low ? ` (${say('y', values(p.n, 'low')[i])} to ${say('y', values(p.n, 'high')[i])})` : '';
    tell(`${curve}\n${axes.x.label}: ${say('x', p.xs[i])}\n${axes.y.label}: ${say('y', p.ys[i])}${between}`,
      e.clientX, e.clientY, p.at[i]);
  });
  on(svg, 'mouseleave', () => tell());
  const buttons = all('[data-button]');
  on(svg, 'click', e => {
    const own = e.target.closest('[data-s]'), p = nearest(e)[1];
    if (buttons.length) choose(own ? own.dataset.s : p ? p.series : chosen);
  });
  for (const n of buttons) {
    set(n, {tabindex: 0, role: 'button', 'aria-pressed': false, 'aria-label': n.dataset.tip || n.dataset.button});
    n.style.cursor = 'pointer';
    on(n, 'keydown', e => {
      if (e.key !== 'Enter' && e.key !== ' ') return;
      e.preventDefault();
      choose(n.dataset.s);
    });
    on(n, 'focus', () => {
      const box = n.getBoundingClientRect();
      if (n.matches(':focus-visible')) tell(n.dataset.tip, box.left, box.bottom - 8);
    });
    on(n, 'blur', () => tell());
  }

  for (const n of all('text:not([data-ink])')) set(n, {fill: 'currentColor'});
  set(dot, {fill: 'none', stroke: 'currentColor', 'pointer-events': 'none'});
  svg.append(dot);
  svg.style.cssText = 'display:block;max-width:100%;height:auto';
  // On a narrow page the picture shrinks and leaves no room beside the axis title.
  const corner = add(root, 'div', root.clientWidth < 480 ? '' : 'position:absolute;left:0;bottom:0');
  for (const k in axes) {
    if (!axes[k].can) continue;
    const button = add(corner, 'button', 'font:11px system-ui,sans-serif;color:inherit;background:none;cursor:pointer;' +
      'border:1px solid #888;border-radius:3px;padding:0 5px;margin-right:4px');
    const name = () => button.textContent = `${axes.y ? k : ''} → ${axes[k].log ? 'linear' : 'log'}`;
    set(button, {type: 'button', title: axes[k].label});
    on(button, 'click', () => {
      axes[k].log = 1 - axes[k].log;
      name();
      redraw();
      tell();
    });
    name();
  }
  redraw();
  // Otherwise JupyterLab would handle Enter and Space.
  root.dataset.lmSuppressShortcuts = true;
  img.replaceWith(svg);
};
try {
  document.querySelectorAll('[data-jaxmagic="%KEY%"]').forEach(upgrade);
} catch (error) {
  // The still picture stays.
}
})();
