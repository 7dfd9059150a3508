// The table of samples: sorted by a click on a heading, filtered as one types, and downloaded as it is.

const table = { column: null, isDown: false, most: 50 };

function setUpTable() {
  if (!byId("sample-table")) return;
  const row = make("tr");
  facts.samples.columns.forEach((column, j) => {
    const head = make("th", null, { scope: "col", "aria-sort": "none", class: column.kind === "text" ? "" : "num" });
    const button = make("button", column.label, { type: "button" });
    button.append(make("span", "", { class: "arrow", "aria-hidden": "true" }));
    button.addEventListener("click", () => sortBy(j));
    head.append(button);
    row.append(head);
  });
  byId("sample-table").tHead.append(row);
  byId("search").addEventListener("input", showRows);
  if (byId("verdict")) byId("verdict").addEventListener("change", showRows);
  byId("csv").addEventListener("click", download);
  byId("more").addEventListener("click", () => { table.most += 200; showRows(); });
  showRows();
}

function sortBy(j) {
  table.isDown = table.column === j ? !table.isDown : false;
  table.column = j;
  [...byId("sample-table").tHead.rows[0].cells].forEach((head, i) => {
    head.setAttribute("aria-sort", i !== j ? "none" : table.isDown ? "descending" : "ascending");
    head.querySelector(".arrow").textContent = i !== j ? "" : table.isDown ? " ↓" : " ↑";
  });
  showRows();
}

function rowsShown() {
  const words = byId("search").value.trim().toLowerCase();
  const verdict = byId("verdict") ? byId("verdict").value : "";
  const at = facts.samples.columns.findIndex((column) => column.key === "verdict");
  const rows = facts.samples.rows.filter((row) => (!verdict || row[at] === verdict) && (!words || row.some((cell) => String(cell).toLowerCase().includes(words))));
  if (table.column === null) return rows;
  const sign = table.isDown ? -1 : 1, j = table.column;
  const isText = facts.samples.columns[j].kind === "text";
  const compare = (a, b) => (isText ? String(a[j]).localeCompare(String(b[j]), "en", { numeric: true }) : (a[j] ?? Infinity) - (b[j] ?? Infinity));
  return [...rows].sort((a, b) => sign * compare(a, b));
}

function cellOf(value, column) {
  const cell = make("td", null, { class: column.kind === "text" ? "" : "num" });
  if (column.key === "verdict") cell.append(make("span", value, { class: `pill ${value === "wrong" ? "wrong" : "doubtful"}` }));
  else if (column.kind === "text") cell.append(make("span", value, { class: "name", title: value }));
  else cell.textContent = column.kind === "integer" ? groups(value) : figure(value);
  return cell;
}

function showRows() {
  const rows = rowsShown();
  byId("sample-table").tBodies[0].replaceChildren(...rows.slice(0, table.most).map((row) => {
    const line = make("tr");
    line.append(...row.map((value, j) => cellOf(value, facts.samples.columns[j])));
    return line;
  }));
  const all = facts.samples.rows.length;
  byId("count").textContent = rows.length === all ? `${groups(all)} rows` : `${groups(rows.length)} of ${groups(all)} rows`;
  byId("more").hidden = rows.length <= table.most;
  byId("csv").disabled = rows.length === 0;
}

function download() {
  const quote = (value) => (value === null ? "" : /[",\r\n]/.test(String(value)) ? `"${String(value).replace(/"/g, '""')}"` : String(value));
  const lines = [facts.samples.columns.map((column) => column.key), ...rowsShown()].map((row) => row.map(quote).join(","));
  const url = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv;charset=utf-8" }));
  const link = make("a", null, { href: url, download: "samples.csv" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
