// Shared by all pictures: the width of text in pixels, and text cut to a width.
const measure = document.createElement('canvas').getContext('2d');
measure.font = '11px system-ui,sans-serif';
const width = text => measure.measureText(text).width;
const cut = (text, room) => {
  if (width(text) <= room) return text;
  // A number at the end is kept if there is room for it, because it often distinguishes names.
  for (const end of [text.match(/[._:#]\d+\)?$/)?.[0] || '', '']) {
    let n = text.length - end.length;
    while (n > 2 && width(text.slice(0, n) + '\u2026' + end) > room) n--;
    if (n > 2) return text.slice(0, n) + '\u2026' + end;
  }
  return '';
};
