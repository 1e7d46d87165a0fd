// Folds the end of a report where it would take more than 400 pixels beside its picture: first titles and sentences,
// then sentences above a table, the lines of a listing with the smallest shares, and warnings. Where no script runs, all
// of them are seen.
document.querySelectorAll('[data-glance="%KEY%"]').forEach(root => {
  if (root.folds) return;
  root.folds = 1;
  const all = q => [...root.querySelectorAll(q)], more = document.createElement('details');
  more.innerHTML = '<summary style="overflow:hidden;text-overflow:ellipsis"><\/summary>' +
    '<div style="margin:2px 0 6px 14px">';
  const [title, place] = more.children, told = title.style;
  const height = () => all('[data-jaxmagic]').reduce((sum, n) => sum - !n.closest('details') * n.offsetHeight, root.offsetHeight);
  // A fold and a row go by their names, and a sentence by its beginning.
  const name = n => (n.querySelector('summary, code') || n).textContent.trim().split(/ *[,:;(]|\.( |$)/)[0];
  const pieces = all(':scope > :is(details, [data-fold]), :scope > div > [data-fold]');
  const lines = all('tr[data-share]').filter(n => !n.closest('details')), body = lines[0]?.parentNode.cloneNode();
  const table = lines[0]?.closest('table').cloneNode();
  table?.append(body);
  // A sentence above a table is its title.
  const tier = n => {
    const next = n.nextElementSibling || n.parentNode.nextElementSibling;
    return n.dataset.fold ? 2 : +[next, next?.firstElementChild].some(k => k?.role === 'group');
  };
  const tiers = [0, 1, 2].map(k => pieces.filter(n => tier(n) === k).reverse());
  tiers.splice(2, 0, [...lines].sort((n, other) => n.dataset.share - other.dataset.share).slice(0, -1));
  let wide, put = new Map();
  new ResizeObserver(() => {
    const now = root.clientWidth;
    // Nothing is known inside of a closed fold.
    if (!now || now === wide) return;
    wide = now;
    more.remove();
    for (const [n, before] of put) before.replaceWith(n);
    put = new Map();
    // What a reader has opened does not count: a fold that makes the page scroll, and so narrower, is not to vanish.
    const opened = all('details[open]');
    opened.forEach(n => n.open = 0);
    told.whiteSpace = 'nowrap';
    for (const n of tiers.flat()) {
      if (height() <= 400) break;
      put.set(n, document.createComment(''));
      n.replaceWith(put.get(n));
      const [rows, moved] = [lines, pieces].map(k => k.filter(n => put.has(n)));
      body?.append(...rows);
      place.replaceChildren(...rows[0] ? [table] : [], ...moved);
      const code = rows[0] ? [rows.length + (rows[1] ? ' lines' : ' line') + ' of code'] : [];
      title.textContent = 'More: ' + [...code, ...moved.map(name)].join('\u00a0\u00b7 ');
      root.append(more);
    }
    // The title takes several lines where there is room for them.
    told.whiteSpace = '';
    if (height() > 400) told.whiteSpace = 'nowrap';
    opened.forEach(n => n.open = 1);
  }).observe(root);
});
