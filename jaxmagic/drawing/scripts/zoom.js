// A click on a call of a flame graph zooms to it; arrow keys go from call to call, Enter zooms, and Escape shows all.
const cells = all('[data-fit=cell]').map(n => {
  const {xs, still} = paths.find(p => p.n.parentNode === n);
  return {n, low: xs[0], high: xs[1], top: +still[1], bottom: +still[5]};
});
const shown = [axes.x.low, axes.x.high], ruler = svg.querySelector('[data-ticks=x]');
const [, above, , below] = ruler.querySelector('path').getAttribute('d').match(/-?[\d.]+/g);
const scale = () => {
  const {low, high} = axes.x, rough = (high - low) / Math.max(2, wide / 90), size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find(each => each * size >= rough) * size;
  ruler.querySelectorAll('path,text[text-anchor=middle]').forEach(n => n.remove());
  for (let v = Math.ceil(low / step) * step; v <= high + step / 1e6; v += step) {
    const x = at('x', v), text = document.createElementNS(svg.namespaceURI, 'text');
    const line = document.createElementNS(svg.namespaceURI, 'path');
    set(line, {d: `M${x} ${above}L${x} ${below}`, stroke: '#7a7a7a55'});
    set(text, {x, y: +below + 12, 'text-anchor': 'middle', fill: 'currentColor'});
    text.textContent = +v.toPrecision(6);
    ruler.append(line, text);
  }
};
const zoom = cell => {
  const all = !cell || axes.x.low === cell.low && axes.x.high === cell.high;
  [axes.x.low, axes.x.high] = all ? shown : [cell.low, cell.high];
  for (const {n, low, high} of cells) n.style.display = high <= axes.x.low || low >= axes.x.high ? 'none' : '';
  back.style.display = axes.x.low === shown[0] && axes.x.high === shown[1] ? 'none' : '';
  redraw();
  scale();
  tell();
};
const back = press('show all', 'show the whole graph', () => zoom());
back.style.display = 'none';
after = scale;
const step = (cell, key) => {
  const there = cells.filter(each => each.n.style.display !== 'none');
  const inside = (one, other) => one.low >= other.low && one.high <= other.high;
  if (key === 'ArrowUp') return there.find(each => each.bottom === cell.top && inside(cell, each));
  if (key === 'ArrowDown') {
    return there.filter(each => each.top === cell.bottom && inside(each, cell)).sort((a, b) => b.high - b.low - a.high + a.low)[0];
  }
  const row = there.filter(each => each.top === cell.top).sort((a, b) => a.low - b.low);
  return row[row.indexOf(cell) + (key === 'ArrowRight' ? 1 : -1)];
};
cells.forEach((cell, number) => {
  const {n} = cell;
  set(n, {tabindex: number ? -1 : 0, role: 'button', 'aria-label': n.dataset.tip});
  n.style.cursor = 'pointer';
  on(n, 'click', () => zoom(cell));
  on(n, 'keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const other = e.key.startsWith('Arrow') && step(cell, e.key);
    if (e.key === 'Enter' || e.key === ' ') zoom(cell);
    else if (e.key === 'Escape') zoom();
    else if (!e.key.startsWith('Arrow')) return;
    e.preventDefault();
    if (!other) return;
    set(n, {tabindex: -1});
    set(other.n, {tabindex: 0});
    other.n.focus();
  });
  on(n, 'focus', () => {
    const box = n.getBoundingClientRect();
    if (n.matches(':focus-visible')) tell(n.dataset.tip, box.left, box.bottom);
  });
  on(n, 'blur', () => tell());
});
