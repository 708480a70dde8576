// Sorts tables: a press on a heading puts the rows in its order, a second turns them round, a third brings back the
// order in which they came. Without it the page lacks nothing but that, so the buttons are made here.
"use strict";
const NEXT = { ascending: "descending", descending: "none", none: "ascending" };

// In a column of numbers the cells carry `data-key`; a cell without one (a dash) has nothing to be sorted by.
function keysOf(rows, column) {
  const cells = rows.map((row) => row.cells[column]);
  if (!cells.some((cell) => cell.dataset.key)) return cells.map((cell) => cell.textContent.trim());
  return cells.map((cell) => (cell.dataset.key ? Number(cell.dataset.key) : null));
}

function compare(a, b) {
  return typeof a === "string" ? a.localeCompare(b, document.documentElement.lang, { numeric: true }) : a - b;
}

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const keys = keysOf(rows, column);
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const order = NEXT[head.getAttribute("aria-sort") ?? "none"];
      for (const other of heads) other.removeAttribute("aria-sort");
      const places = rows.map((_, place) => place);
      if (order !== "none") {
        const turn = order === "ascending" ? 1 : -1;
        head.setAttribute("aria-sort", order);
        // Equals stay as they came, whichever way; what has no key comes last.
        places.sort((a, b) => {
          if (keys[a] === null || keys[b] === null) return (keys[a] === null) - (keys[b] === null);
          return turn * compare(keys[a], keys[b]);
        });
      }
      body.append(...places.map((place) => rows[place]));
    });
  });
  const hint = document.createElement("span");
  hint.className = "hint";
  hint.append(` · ${document.body.dataset.sort}`);
  table.caption.firstElementChild.append(hint);
}
