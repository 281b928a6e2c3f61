// Spans of a rendered text: pointing at one, or reaching it with the arrow keys, shows the finding and its evidence.
"use strict";
(() => {
  const panel = document.getElementById("finding");
  if (!panel) return;
  const told = JSON.parse(document.getElementById("data").textContent).told;
  const element = (tag, text, className) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  let shown = null;
  const show = (span) => {
    if (shown === span) return;
    if (shown) shown.classList.remove("on");
    shown = span;
    span.classList.add("on");
    const one = told[Number(span.dataset.n)];
    panel.replaceChildren();
    panel.append(element("h3", one.kind === "unexplained" ? "Not explained" : one.kind));
    const what = one.kind === "unexplained" ? "The spec has no word for this stretch." : one.what;
    panel.append(element("p", `${what[0].toUpperCase()}${what.slice(1)}${one.kind === "unexplained" ? "" : one.marker ? ": a marker of the format." : ": a value."}`));
    const text = span.textContent;
    panel.append(element("code", text.length > 160 ? `${text.slice(0, 160)}…` : text.replaceAll("\n", "↵\n"), "text"));
    if (one.path) panel.append(element("p", `Field ${one.path}`, "where"));
    if (!one.evidence.length) {
      if (one.path) panel.append(element("p", "No single comparison stands behind it: it follows from its neighbours, and the round trips prove it.", "hint"));
      return;
    }
    const list = element("dl");
    for (const evidence of one.evidence) {
      list.append(element("dt", `${evidence.comparison} · ${evidence.found}`));
      const about = element("dd");
      if (evidence.compared) about.append(element("p", evidence.compared, "hint"));
      if (evidence.renders.length) about.append(element("p", `Seen in: ${evidence.renders.join("; ")}`, "hint"));
      if (evidence.note) about.append(element("p", evidence.note, "hint"));
      list.append(about);
    }
    panel.append(list);
  };
  document.querySelectorAll("[data-spans]").forEach((group) => {
    const spans = [...group.querySelectorAll(".s[data-n]")];
    if (!spans.length) return;
    spans[0].tabIndex = 0;
    spans.forEach((span, at) => {
      span.addEventListener("mouseenter", () => show(span));
      span.addEventListener("click", () => { span.focus(); show(span); });
      span.addEventListener("focus", () => {
        spans.forEach((other) => (other.tabIndex = other === span ? 0 : -1));
        show(span);
      });
      span.addEventListener("keydown", (event) => {
        const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: spans.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        spans[Math.max(0, Math.min(spans.length - 1, to))].focus();
      });
    });
  });
})();
