// The matrix: a search and one choice a column; the address keeps what was chosen, so that it can be sent to somebody.
"use strict";
(() => {
  const rows = [...document.querySelectorAll("#matrix tbody tr")];
  const form = document.getElementById("filters");
  if (!form) return;
  const status = document.getElementById("matched");
  const fields = [...form.elements].filter((field) => field.name);
  const wanted = () => Object.fromEntries(fields.map((field) => [field.name, field.value.trim()]).filter(([, value]) => value));
  const fits = (row, name, value) => {
    if (name === "search") return value.toLowerCase().split(/\s+/).every((word) => row.dataset.search.includes(word));
    if (name === "defect") return row.dataset.defect.split(" ").includes(value);
    return row.dataset[name] === value;
  };
  const apply = () => {
    const asked = Object.entries(wanted());
    let count = 0;
    for (const row of rows) {
      row.hidden = !asked.every(([name, value]) => fits(row, name, value));
      count += row.hidden ? 0 : 1;
    }
    status.value = count === rows.length ? `${count} templates` : `${count} of ${rows.length} templates`;
    document.getElementById("nothing").hidden = count > 0;
  };
  const read = () => {
    const said = new URLSearchParams(location.hash.slice(1));
    for (const field of fields) field.value = said.get(field.name) ?? "";
    apply();
  };
  form.addEventListener("input", () => {
    apply();
    history.replaceState(null, "", `#${new URLSearchParams(wanted())}`);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => {
    apply();
    history.replaceState(null, "", "#");
  }));
  addEventListener("hashchange", read);
  read();
})();
