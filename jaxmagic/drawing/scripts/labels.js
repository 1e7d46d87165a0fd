// The label of a point is beside it, or else in a column next to the points around it, with leader lines, where it covers
// no point, no other label and no line; where there is no room it is hidden. `labels.py` does the same, and says why.
const labels = all('[data-label]').map(n => {
  const text = n.querySelector('text'), {whole, brief} = text.dataset;
  const forms = [...new Set([whole || text.textContent, brief || text.textContent])];
  return {n, text, line: n.querySelector('path'), forms: forms.map((form, cut) => [form, width(form) / 2, cut])};
});
const boxOf = p => [p.x - p.w, p.y - 8.5, p.x + p.w, p.y + 2.5];
const crosses = (line, box) => {
  let first = 0, last = 1;
  for (const k of [0, 1]) {
    const begin = line[k], step = line[k + 2] - begin;
    if (!step && (begin <= box[k] || begin >= box[k + 2])) return false;
    if (!step) continue;
    const [one, other] = [(box[k] - begin) / step, (box[k + 2] - begin) / step].sort((a, b) => a - b);
    [first, last] = [Math.max(first, one), Math.min(last, other)];
  }
  return first < last;
};
const sides = (line, [x, y, right, down]) => {
  const side = k => (right - x) * (line[k + 1] - y) - (down - y) * (line[k] - x);
  return side(0) * side(2) < 0;
};
const meet = (one, other) => sides(one, other) && sides(other, one);
const isFree = (p, boxes, lines) => {
  const box = boxOf(p), [left, top, right, bottom] = box;
  return left > axes.x.start - .01 && right < (wide || full) + .01 && p.y >= axes.y.end + 9 && p.y <= axes.y.start - 3 &&
    !boxes.some(b => left < b[2] && b[0] < right && top < b[3] && b[1] < bottom) && !lines.some(line => crosses(line, box));
};
const grouped = () => labels.reduce((groups, each) => {
  const isNear = group => group.some(other => Math.abs(other.x - each.x) < 60 && Math.abs(other.y - each.y) < 26);
  const near = groups.filter(isNear).flat();
  return [...groups.filter(group => !isNear(group)), labels.filter(other => other === each || near.includes(other))];
}, []).sort((a, b) => a.length - b.length);
const beside = (group, boxes, lines) => {
  const made = new Map();
  for (const each of group) {
    const ways = each.forms.flatMap(([text, w, cut]) => [[0, -7], [0, 15], [w + 7, 4], [-w - 7, 4]].map(([right, down]) => ({
      text, w, cut, x: Math.min(Math.max(each.x + right, axes.x.start + w), (wide || full) - w), y: each.y + down,
    })));
    const found = ways.find(p => isFree(p, [...boxes, ...[...made.values()].map(boxOf)], lines));
    if (found) made.set(each, found);
  }
  return made;
};
const stacked = (group, form, right, gap, top) => {
  const xs = group.map(each => each.x), edge = right ? Math.max(...xs) + gap : Math.min(...xs) - gap;
  return new Map([...group].sort((a, b) => a.y - b.y).map((each, row) => {
    const [text, w, cut] = each.forms[form] || each.forms.at(-1), y = top + 13 * row;
    return [each, {text, w, cut, x: right ? edge + w : edge - w, y, leader: [each.x, each.y, right ? edge - 2 : edge + 2, y - 3]}];
  }));
};
const costOf = (all, lines) => {
  const leaders = all.map(p => p.leader).filter(Boolean);
  return all.reduce((sum, p) => sum + 60 * p.cut, 0) + leaders.reduce((sum, one, i) => sum +
    Math.hypot(one[2] - one[0], one[3] - one[1]) +
    50 * [...leaders.slice(0, i), ...lines].filter(other => meet(one, other)).length, 0);
};
const column = (group, boxes, lines, dots) => {
  let best, least = Infinity;
  const [high, low] = [axes.y.end + 9, axes.y.start - 3 - 13 * (group.length - 1)];
  for (const form of [0, 1]) for (const right of [true, false]) for (const gap of [14, 40, 80, 130, 200]) {
    for (let top = high; top <= low; top += 5) {
      const made = stacked(group, form, right, gap, top), all = [...made.values()], cost = costOf(all, lines);
      if (cost < least && all.every(p => isFree(p, boxes, lines) && !boxes.slice(dots).some(box => crosses(p.leader, box)))) {
        [best, least] = [made, cost];
      }
    }
  }
  return best;
};
const placed = (groups, dots, curves) => {
  const boxes = [...dots], lines = [...curves], places = new Map();
  const keep = made => made?.forEach((p, each) => {
    places.set(each, p);
    boxes.push(boxOf(p));
    if (p.leader) lines.push(p.leader);
  });
  const put = group => {
    const made = beside(group, boxes, lines);
    return made.size < group.length ? column(group, boxes, lines, dots.length) : made;
  };
  for (const group of groups) {
    const made = put(group);
    made ? keep(made) : group.forEach(each => keep(put([each])));
  }
  return places;
};
place = () => {
  for (const each of labels) [each.x, each.y] = ['x', 'y'].map(k => at(k, +each.text.dataset[k]));
  const dots = paths.filter(p => p.kind === 'dots' || p.kind === 'rings').flatMap(p => p.at.map(([x, y]) => [x - 7, y - 3, x + 7, y + 3]));
  const lines = paths.filter(p => p.n.dataset.curve).flatMap(p => p.at.slice(1).map((end, i) => [...p.at[i], ...end]));
  const groups = grouped(), costs = made => costOf([...made.values()], lines) - 1000 * made.size;
  const others = groups.map(group => [...group].reverse());
  const best = [groups, [...groups].reverse(), others, [...others].reverse()].map(each => placed(each, dots, lines))
    .reduce((one, other) => costs(other) < costs(one) ? other : one);
  for (const each of labels) {
    const {n, text, line} = each, p = best.get(each);
    set(n, {display: p ? '' : 'none'});
    if (!p) continue;
    text.textContent = p.text;
    set(text, {x: p.x.toFixed(1), y: p.y.toFixed(1)});
    const [x, y, right, down] = (p.leader || [0, 0, 0, 0]).map(v => v.toFixed(1));
    set(line, {d: `M${x} ${y}L${right} ${down}`});
  }
};
