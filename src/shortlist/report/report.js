"use strict";
(() => {
  const root = document.documentElement;

  // Light and dark: the reader's system decides until the button does.
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Show on white" : "Show on black");
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  system.addEventListener("change", name);
  name();

  // Tables: a click on a heading sorts, another turns the order round. What has no number is last.
  const valueOf = (cell) => {
    const number = Number(cell.dataset.value);
    return cell.tagName === "TH" ? cell.dataset.value : number;
  };
  const compare = (a, b, turn) => {
    if (typeof a === "string") return turn * a.localeCompare(b);
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return turn * (a - b);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    heads.forEach((head, at) => {
      head.querySelector("button").addEventListener("click", () => {
        const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
        for (const other of heads) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", order);
        const turn = order === "ascending" ? 1 : -1;
        const keyed = [...body.rows].map((row) => [valueOf(row.cells[at]), row]);
        keyed.sort(([a], [b]) => compare(a, b, turn));
        body.append(...keyed.map(([, row]) => row));
      });
    });
  }

  // A model that is pointed at, or chosen in the legend, stands out in all curves of its study.
  for (const study of document.querySelectorAll(".study")) {
    const chips = [...study.querySelectorAll(".legend button")];
    const rows = [...study.querySelectorAll("tbody tr[data-series]")];
    const curves = [...study.querySelectorAll(".series")];
    let chosen = null;
    const light = (series) => {
      study.classList.toggle("focused", series !== null);
      for (const each of [...curves, ...rows]) {
        each.classList.toggle("lit", series !== null && each.dataset.series === series);
      }
    };
    for (const each of [...chips, ...rows]) {
      each.addEventListener("pointerenter", () => light(each.dataset.series));
      each.addEventListener("pointerleave", () => light(chosen));
    }
    for (const chip of chips) {
      chip.addEventListener("click", () => {
        chosen = chosen === chip.dataset.series ? null : chip.dataset.series;
        for (const other of chips) {
          other.setAttribute("aria-pressed", String(other.dataset.series === chosen));
        }
        light(chosen);
      });
    }
  }

  // On paper nothing can be unfolded.
  window.addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details")) each.open = true;
  });
})();
