// Every stage: the filter over features. Without it all of them are there.
(() => {
  const form = document.querySelector('.filter'), text = form.querySelector('[type="search"]'), differ = form.querySelector('[name="differ"]'), said = form.querySelector('output');
  const rows = [...document.querySelectorAll('[data-feature]')], words = new Map(rows.map((r) => [r, r.textContent.toLowerCase()]));
  const look = () => {
    const want = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const r of rows) {
      const has = new Set([...r.querySelectorAll('[data-has]')].map((c) => c.dataset.has));
      r.hidden = !want.every((w) => words.get(r).includes(w)) || (differ.checked && has.size < 2);
      if (!r.hidden) shown++;
    }
    for (const s of document.querySelectorAll('section')) s.classList.toggle('nothing', ![...s.querySelectorAll('[data-feature]')].some((r) => !r.hidden));
    said.textContent = shown === rows.length ? `${rows.length} features` : `${shown} of ${rows.length} features`;
  };
  form.hidden = false;
  form.addEventListener('input', look);
  form.addEventListener('submit', (e) => e.preventDefault());
  addEventListener('keydown', (e) => {
    if (e.key !== '/' || e.ctrlKey || e.metaKey || e.altKey || e.target instanceof HTMLInputElement) return;
    text.focus();
    e.preventDefault();
  });
  text.addEventListener('keydown', (e) => { if (e.key === 'Escape') { text.value = ''; look(); } });
  look();
})();
