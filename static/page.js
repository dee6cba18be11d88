// What the pages around the tracer need of a script: the reader's theme before the first paint, the theme switch, and the
// table of keys in the documentation. The tracer itself is js/glassbox.js.
(() => {
  const KEY = 'glassbox.theme', root = document.documentElement;
  let kept = null;
  try { kept = localStorage.getItem(KEY); } catch { /* a sandboxed frame keeps nothing */ }
  if (kept === 'light' || kept === 'dark') root.dataset.theme = kept;

  const dark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches);
  const turn = () => {
    root.dataset.theme = dark() ? 'light' : 'dark';
    try { localStorage.setItem(KEY, root.dataset.theme); } catch { /* it lasts as long as the page then */ }
  };

  addEventListener('click', (e) => { if (e.target instanceof Element && e.target.closest('[data-theme-switch]')) turn(); });
  addEventListener('keydown', (e) => {
    const at = e.composedPath()[0];
    if (e.key !== 't' || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || document.body.classList.contains('tracer')) return;
    if (at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement) return;
    let letters = null;
    try { letters = localStorage.getItem('glassbox.letters'); } catch { /* single letters stay on */ }
    if (letters === 'off') return;
    turn();
    e.preventDefault();
  });

  // A recording that is dropped on any page opens in its place. It is read here and sent nowhere.
  const here = document.currentScript.src;
  const files = (e) => [...(e.dataTransfer?.types ?? [])].includes('Files');
  addEventListener('dragover', (e) => { if (files(e) && !e.defaultPrevented) e.preventDefault(); });
  addEventListener('drop', (e) => {
    const file = e.dataTransfer?.files[0];
    if (!file || e.defaultPrevented) return; // Compare takes its own
    e.preventDefault();
    import(new URL('js/drop.js', here).href).then((m) => m.open(file));
  });

  addEventListener('DOMContentLoaded', () => {
    const body = document.querySelector('[data-keys] tbody'), rows = body && globalThis.glassbox?.commandTable();
    if (!rows) return;
    body.replaceChildren(...rows.map((r) => {
      const tr = document.createElement('tr');
      for (const text of [r.keys, r.title, r.group, r.where === 'everywhere' ? r.where : `in ${r.where}`]) tr.insertCell().textContent = text;
      tr.cells[0].className = 'mono nb';
      return tr;
    }));
  });
})();
