// Lets the keyboard reach what is wider than its page, and so is scrolled: code and tables on a narrow one.
(() => {
  const reach = () => {
    for (const each of document.querySelectorAll('article :is(pre, div, table)')) {
      const scrolled = each.scrollWidth > each.clientWidth && ['auto', 'scroll'].includes(getComputedStyle(each).overflowX);
      if (scrolled && !each.hasAttribute('tabindex')) each.tabIndex = 0;
    }
  };
  new ResizeObserver(reach).observe(document.body);
})();
