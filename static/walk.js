// The walk through the stack: arrow keys, the dials of the draw, and what can be tried. Without it the page is whole, less
// what needs an engine.
(() => {
  const parts = [...document.querySelectorAll('.chapter')], links = [...document.querySelectorAll('.chapters > nav a')];
  const el = (tag, text, cls) => { const e = document.createElement(tag); if (text != null) e.textContent = text; if (cls) e.className = cls; return e; };
  const sig3 = (v) => (v === 0 ? '0' : Math.abs(v) >= 1000 ? Math.round(v).toLocaleString('en') : String(+v.toPrecision(3)));

  // ---- where the reader is ----
  let here = 0;
  const mark = (i) => {
    here = i;
    parts.forEach((p, k) => p.classList.toggle('here', k === i));
    links.forEach((a, k) => (k === i ? a.setAttribute('aria-current', 'true') : a.removeAttribute('aria-current')));
  };
  const find = () => {
    const line = innerHeight * 0.3;
    let i = 0;
    parts.forEach((p, k) => { if (p.getBoundingClientRect().top <= line) i = k; });
    mark(i);
  };
  let due = false;
  addEventListener('scroll', () => { if (!due) { due = true; requestAnimationFrame(() => { due = false; find(); }); } }, { passive: true });
  const go = (i) => {
    const p = parts[Math.max(0, Math.min(parts.length - 1, i))];
    if (!p) return;
    history.replaceState(null, '', '#' + p.id);
    p.focus({ preventScroll: true });
    p.scrollIntoView();
    mark(parts.indexOf(p));
  };

  // ---- keys: left and right between chapters, up and down inside a figure ----
  const items = (f) => [...f.querySelectorAll('summary, .turns a')];
  addEventListener('keydown', (e) => {
    const at = e.target;
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || at instanceof HTMLInputElement || at instanceof HTMLSelectElement || at instanceof HTMLTextAreaElement) return;
    if (e.key === 'ArrowRight' || e.key === 'ArrowLeft') {
      go(here + (e.key === 'ArrowRight' ? 1 : -1));
      e.preventDefault();
    } else if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      const figure = parts[here]?.querySelector('figure'), all = figure ? items(figure) : [];
      const i = all.indexOf(document.activeElement), next = i + (e.key === 'ArrowDown' ? 1 : -1);
      if (!all.length || (i < 0 && !parts[here].contains(document.activeElement)) || next < 0 || next >= all.length) return; // the page scrolls
      all[next].focus();
      e.preventDefault();
    } else if ((e.key === 'Home' || e.key === 'End') && at.closest?.('figure')) {
      const all = items(at.closest('figure'));
      all.at(e.key === 'Home' ? 0 : -1)?.focus();
      e.preventDefault();
    }
  });
  for (const t of document.querySelectorAll('.turns')) {
    const note = t.querySelector('.note'), say = (e) => { const a = e.target.closest?.('a'); if (a) note.textContent = a.dataset.note; };
    t.addEventListener('focusin', say);
    t.addEventListener('pointerover', say);
  }

  // ---- the dials of the draw: shares from all logits, as the recording has them ----
  for (const box of document.querySelectorAll('.draw')) {
    const dials = box.querySelector('.dials'), [temp, topP] = dials.querySelectorAll('input'), rows = [...box.querySelectorAll('tbody tr')];
    let logits = null;
    const read = async () => {
      const raw = await (await fetch(box.dataset.array)).arrayBuffer(), head = new DataView(raw).getUint16(8, true);
      logits = Float32Array.from(new Float32Array(raw.slice(10 + head))).sort((a, b) => b - a);
    };
    const draw = async () => {
      if (!logits) await read();
      const t = Math.max(+temp.value, 1e-3), p = +topP.value, top = logits[0];
      let sum = 0;
      for (const l of logits) sum += Math.exp((l - top) / t);
      let kept = 0, n = 0;
      while (n < logits.length && kept < p - 1e-12) kept += Math.exp((logits[n++] - top) / t) / sum;
      const least = logits[Math.max(0, n - 1)];
      for (const r of rows) {
        const l = Math.fround(+r.dataset.logit), inside = l >= least - 1e-6;
        const share = inside ? (100 * Math.exp((l - top) / t)) / sum / kept : 0;
        r.classList.toggle('out', !inside);
        r.querySelector('rect').setAttribute('width', Math.max(share, 0.3).toFixed(2));
        r.querySelector('[data-share]').textContent = inside ? sig3(share) : 'out';
      }
    };
    for (const d of [temp, topP]) d.addEventListener('input', () => { d.nextElementSibling.textContent = (+d.value).toFixed(2); draw().catch(() => { dials.hidden = true; }); });
    dials.hidden = false;
  }

  // ---- what can be tried ----
  const chat = (more, signal) => fetch('/v1/chat/completions', { method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ max_tokens: 32, ...more }) });
  const SKY = [{ role: 'user', content: 'Why is the sky blue?' }];
  const trying = {
    async refuse(f, out) {
      const bad = { temperature: { messages: SKY, temperature: 9 }, messages: {}, unknown: { messages: SKY, max_token: 5 } }[f.get('fault')];
      const from = performance.now();
      const res = await fetch('/v1/chat/completions', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: bad ? JSON.stringify(bad) : '{"messages": [{"role": "us' });
      const text = await res.text();
      out.append(el('pre', `${res.status} ${res.statusText} after ${sig3(performance.now() - from)} ms\n${text.slice(0, 800)}`));
    },
    async tokenize(f, out) {
      const res = await fetch('/tokenize', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ content: f.get('text'), with_pieces: true }) });
      const got = await res.json();
      if (!res.ok) throw new Error(got.error?.message ?? res.statusText);
      const list = el('ol', null, 'chips');
      for (const t of got.tokens) {
        const li = el('li', null, 'R');
        li.append(el('span', typeof t.piece === 'string' ? t.piece.replace(/^ /, '·').replace(/\n/g, '↵') || '∅' : t.piece.map((b) => `<${b.toString(16).toUpperCase().padStart(2, '0')}>`).join(''), 'mono'), el('span', t.id, 'id'));
        list.append(li);
      }
      out.append(list, el('p', `${got.count ?? got.tokens.length} tokens`, 's'));
    },
    async temperature(f, out) {
      const res = await chat({ messages: SKY, temperature: +f.get('temperature'), seed: +f.get('seed'), glassbox: { trace: true } });
      const got = await res.json();
      if (!res.ok) throw new Error(got.error?.message ?? res.statusText);
      out.append(el('p', got.choices[0].message.content));
      link(out, res.headers.get('X-Glassbox-Trace-Id'));
    },
    async stop(f, out) {
      const from = performance.now(), res = await chat({ messages: SKY, temperature: 0, max_tokens: 48, stop: [f.get('stop')], stream: true, glassbox: { trace: true } });
      if (!res.ok) throw new Error((await res.json()).error?.message ?? res.statusText);
      const pre = el('pre', ''), reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
      out.append(pre);
      for (let rest = ''; ;) {
        const { done, value } = await reader.read();
        if (done) break;
        const lines = (rest + value).split('\n');
        rest = lines.pop();
        for (const line of lines) {
          if (!line.startsWith('data: {')) continue;
          const c = JSON.parse(line.slice(6)).choices?.[0];
          if (c?.delta?.content) pre.append(`${(performance.now() - from).toFixed(1).padStart(7)} ms  ${JSON.stringify(c.delta.content)}\n`);
          if (c?.finish_reason) pre.append(`${(performance.now() - from).toFixed(1).padStart(7)} ms  finish_reason ${c.finish_reason}\n`);
        }
      }
      link(out, res.headers.get('X-Glassbox-Trace-Id'));
    },
  };
  const link = (out, id) => {
    if (!id) return;
    const a = el('a', 'Open this run in the tracer');
    a.href = '/trace/' + encodeURIComponent(id);
    const p = el('p');
    p.append(a);
    out.append(p);
  };

  // An experiment runs on an engine of its own, with the settings asked for; its figures are kept as rows, to be compared.
  const experiment = async (f, out) => {
    const set = Object.fromEntries(f.entries());
    const res = await fetch('/api/experiments', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(set) });
    const got = await res.json();
    if (!res.ok) throw new Error(got.error?.message ?? res.statusText);
    let table = out.querySelector('table');
    if (!table) {
      table = el('table', null, 'runs');
      const head = table.createTHead().insertRow();
      for (const [name, cls] of [['settings'], ['TTFT', 'r'], ['TPOT', 'r'], ['tokens/s', 'r'], ['cache', 'r'], ['']]) head.append(Object.assign(el('th', name, cls), { scope: 'col' }));
      table.createTBody();
      out.append(table);
    }
    const row = table.tBodies[0].insertRow();
    row.append(Object.assign(el('th', got.settings), { scope: 'row' }));
    const ms = (v) => (v > 0 ? `${sig3(v)} ms` : 'not measured');
    for (const text of [ms(got.ttft_ms), ms(got.tpot_ms), got.tokens_per_s > 0 ? sig3(got.tokens_per_s) : 'not measured', got.kv_bytes_per_token > 0 ? `${sig3(got.kv_bytes_per_token / 1000)} kB a token` : 'not measured']) row.append(el('td', text, 'r'));
    const cell = row.insertCell(), a = el('a', 'tracer');
    a.href = '/trace/' + encodeURIComponent(got.trace);
    cell.append(a);
  };

  for (const form of document.querySelectorAll('.try')) {
    const out = form.querySelector(':scope > output'), button = form.querySelector('button'), own = trying[form.dataset.try];
    form.hidden = false;
    if (document.documentElement.dataset.root !== undefined) { // a copy of the site as files
      form.replaceChildren(el('b', 'Try it'), el('p', 'This copy of the site has no engine behind it. Run glassbox and open this chapter there.', 's'));
      continue;
    }
    form.addEventListener('submit', async (e) => {
      e.preventDefault();
      button.disabled = true;
      if (own) out.replaceChildren();
      else out.querySelector('.warn')?.remove();
      try {
        await (own ?? experiment)(new FormData(form), out);
      } catch (err) {
        out.append(el('p', err instanceof TypeError ? 'No answer from the server. Is Glassbox still running?' : err.message, 'warn'));
      } finally {
        button.disabled = false;
      }
    });
  }
  find();
})();
