// Hides a report while the live view that repeats it is drawn. Where no view is drawn, or no script runs, it stays.
(() => {
document.querySelectorAll('[data-beside="%KEY%"]').forEach(report => {
  const output = report.closest('.jp-OutputArea-child') || report;
  const look = () => {
    output.style.display = document.querySelector('.%KEY%') ? 'none' : '';
  };
  new MutationObserver(look).observe(output.parentElement, {childList: true, subtree: true});
  look();
});
})();
