// Tabs as the ARIA pattern has them, and buttons that copy a text.
"use strict";
document.querySelectorAll("[role=tablist]").forEach((list) => {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const choose = (tab, focus) => {
    for (const one of tabs) {
      const chosen = one === tab;
      one.setAttribute("aria-selected", String(chosen));
      one.tabIndex = chosen ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
  };
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => choose(tab, false));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(tabs[(to + tabs.length) % tabs.length], true);
    });
  });
  choose(tabs[0], false);
});

async function copyText(source) {
  const text = source.textContent;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // a page from a file has no clipboard of its own: select the text and ask the document
    const range = document.createRange();
    range.selectNodeContents(source);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    const done = document.execCommand("copy");
    if (done) selection.removeAllRanges();
    return done;
  }
}
document.querySelectorAll("[data-copy]").forEach((button) => {
  button.addEventListener("click", async () => {
    const done = await copyText(document.getElementById(button.dataset.copy));
    button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
});
