"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const theme = $("theme");
  theme.hidden = false;
  theme.onclick = () => {
    const now = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  };
  // On paper every table is open, and the page is light.
  let before = null;
  addEventListener("beforeprint", () => {
    before = { theme: root.dataset.theme, shut: [...document.querySelectorAll("figure details:not([open])")] };
    root.dataset.theme = "light";
    before.shut.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    if (before.theme) root.dataset.theme = before.theme; else delete root.dataset.theme;
    before.shut.forEach((d) => { d.open = false; });
  });
  if (!$("raw") && !$("packed")) return;
  const text = async () => {
    if ($("raw")) return JSON.stringify(JSON.parse($("raw").textContent), null, 1);
    const bytes = Uint8Array.from(atob($("packed").textContent.trim().replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.stringify(JSON.parse(await new Response(stream).text()), null, 1);
  };
  const save = $("save"), show = $("show");
  save.hidden = show.hidden = false;
  save.onclick = async () => {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([await text()], { type: "application/json" }));
    a.download = save.dataset.name;
    a.click();
    URL.revokeObjectURL(a.href);
  };
  show.ontoggle = async () => { if (show.open && !$("json").textContent) $("json").textContent = await text(); };
})();
