// Hides a report while the live view that repeats it is drawn. Where no view is drawn, or no script runs, it stays.
// There, JupyterLab writes that it loads the view, or that it does not know it, and leaves that: it is hidden.
(() => {
const [, view, place, does] = '%KEY%'.match(/^(.*)-(above|below)-(hides|keeps)$/);
const own = '[data-beside="%KEY%"]';
const undrawn = /^\s*(Loading widget|Error displaying widget)/;
document.querySelectorAll(own).forEach(report => {
  const child = report.closest('.jp-OutputArea-child');
  const output = child || report;
  const ofView = () => {
    let next = child;
    do {
      next = next && (place === 'above' ? next.previousElementSibling : next.nextElementSibling);
    } while (next && next.querySelector(own));
    return next && next.querySelector('.jp-OutputArea-output') && next;
  };
  const look = () => {
    const drawn = document.querySelector('.' + view);
    if (does === 'hides') output.style.display = drawn ? 'none' : '';
    const line = ofView();
    if (line) {
      const hidden = !drawn && undrawn.test(line.querySelector('.jp-OutputArea-output').textContent);
      line.style.display = hidden ? 'none' : '';
    }
  };
  new MutationObserver(look).observe(output.parentElement, {childList: true, subtree: true});
  look();
});
})();
