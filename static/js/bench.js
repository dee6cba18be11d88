// The Bench page. While a run runs: the part that moves is fetched anew, and the page once when the run has ended. Without
// this script the page is the same, and is looked at again by hand.
(() => {
  // Who types how much of a load means that load. Without this script the round buttons choose it.
  for (const field of document.querySelectorAll('[data-load]')) {
    field.addEventListener('input', () => { document.querySelector(`input[name="load"][value="${field.dataset.load}"]`).checked = true; });
  }
  const box = document.querySelector('[data-bench-live]'), now = document.querySelector('[data-bench-now]');
  if (!box) return;
  let missed = 0;
  const look = async () => {
    try {
      const answer = await fetch('/bench/live', { cache: 'no-store' });
      if (!answer.ok) throw new Error(answer.status);
      const part = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('.live');
      if (!part.hasAttribute('data-running')) { location.replace('/bench'); return; }
      const left = box.querySelector('.scroll')?.scrollLeft ?? 0;
      box.replaceChildren(document.adoptNode(part));
      box.querySelector('.scroll')?.scrollTo(left, 0);
      if (now.textContent !== part.dataset.now) now.textContent = part.dataset.now;
      missed = 0;
    } catch {
      if (++missed === 5) now.textContent = 'The server does not answer. What it measured is kept where it says.';
    }
    setTimeout(look, missed ? 3000 : 700);
  };
  setTimeout(look, 500);
})();
