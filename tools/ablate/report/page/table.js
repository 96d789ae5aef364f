// A table with rows that can be sorted, filtered and pinned, and columns that can be hidden. The page has only the shown rows.

const kRowsAtOnce = 100;

/** Returns the conditions of a filter: "adamra test/accuracy>80" has two, and a row must meet both. */
function conditionsOf(text, columns) {
  return text.toLowerCase().split(/\s+/).filter((word) => word).map((word) => {
    const [, name, sign, wanted] = word.match(/^(.+?)(<=|>=|!=|=|<|>)(.+)$/) || [];
    const at = name ? columns.findIndex((column) => column.text.toLowerCase().split(" ")[0] === name) : -1;
    if (at < 0) return { at: -1, holds: (field) => field.text.toLowerCase().includes(word) };
    const number = Number(wanted);
    const isText = Number.isNaN(number);
    const signs = {
      "=": (x) => x === (isText ? wanted : number), "!=": (x) => x !== (isText ? wanted : number),
      "<": (x) => x < number, "<=": (x) => x <= number, ">": (x) => x > number, ">=": (x) => x >= number,
    };
    const own = (field) => (isText ? field.text.toLowerCase() : field.value === null ? NaN : Number(field.value));
    return { at, holds: (field) => signs[sign](own(field)) };
  });
}

/** Compares numbers by size, and texts by letters and by the numbers in them. Missing values come last in both directions. */
function compare(a, b, down) {
  const none = (x) => x === null || x === undefined || x === "" || x === "-";
  if (none(a) || none(b)) return none(a) - none(b);
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  return down ? -order : order;
}

/**
 * @param model {label, columns: [{text, number, hidden}], count, field(row, column) -> {text, failures, value, open, best, second}, has(row),
 * open(row), pins: true if a row can be the reference of the others}
 * @return {refresh}
 */
function makeTable(parent, model) {
  const state = { sort: -1, down: false, filter: "", pinned: -1, limit: kRowsAtOnce };
  const body = el("tbody");
  const head = el("thead");
  const status = el("span", { class: "faint", role: "status" });
  const more = el("button", { click: () => { state.limit += 5 * kRowsAtOnce; fill(); } });
  const filter = el("input", {
    type: "search", "aria-label": `filter ${model.label}`, placeholder: "filter: words, name=text, name<number",
    input: () => { state.filter = filter.value; state.limit = kRowsAtOnce; fill(); },
  });
  const columns = el("div");
  model.columns.forEach((column, c) => columns.append(checkbox(column.text || "mark", !column.hidden, (shown) => {
    column.hidden = !shown;
    fill();
  })));
  parent.append(
    el("div", { class: "controls" }, filter, el("details", { class: "columns" }, el("summary", {}, "columns"), columns), status),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": model.label }, el("table", {}, head, body)), more);

  const shownColumns = () => d3.range(model.columns.length).filter((c) => !model.columns[c].hidden);

  function rowsToShow() {
    const conditions = conditionsOf(state.filter, model.columns);
    const every = d3.range(model.columns.length);
    const rows = d3.range(model.count).filter((row) => (!model.has || model.has(row)) && conditions.every(({ at, holds }) =>
      (at >= 0 ? holds(model.field(row, at)) : every.some((c) => holds(model.field(row, c))))));
    if (state.sort < 0) return rows;
    const values = new Map(rows.map((row) => [row, model.field(row, state.sort).value]));
    return rows.sort((a, b) => compare(values.get(a), values.get(b), state.down));
  }

  function heading(c) {
    const sorted = state.sort === c;
    const turn = () => {  // ascending, descending, original order
      if (!sorted) Object.assign(state, { sort: c, down: false });
      else if (!state.down) state.down = true;
      else state.sort = -1;
      fill();
      head.querySelector(`[data-column="${c}"]`).focus();
    };
    return el("th", { scope: "col", class: model.columns[c].number ? "n" : null, "aria-sort": !sorted ? "none" : state.down ? "descending" : "ascending" },
      el("button", { click: turn, "data-column": c, title: `sort by ${model.columns[c].text}` },
        `${model.columns[c].text || "mark"}${!sorted ? "" : state.down ? " ▾" : " ▴"}`));
  }

  function cell(row, c) {
    const field = model.field(row, c);
    const kinds = [model.columns[c].number ? "n" : "", field.best ? "best" : "", field.second ? "second" : ""].filter((kind) => kind);
    const open = field.open && ((event) => { event.stopPropagation(); field.open(); });
    const button = (kind, text) => el("button", { class: `number ${kind}`, click: open, title: text.length > 30 ? text : null }, text);
    const made = el("td", { class: kinds.length ? kinds.join(" ") : null, title: field.text.length > 40 ? field.text : null },
      open && field.text ? button("", field.text) : field.text, open && field.failures ? button("fails", field.failures) : null);
    const base = state.pinned >= 0 && state.pinned !== row && model.columns[c].number ? model.field(state.pinned, c).value : null;
    if (typeof base === "number" && typeof field.value === "number") {
      const difference = field.value - base;
      made.append(el("span", { class: "delta", title: "difference to the pinned row" }, `${difference < 0 ? "−" : "+"}${brief(Math.abs(difference))}`));
    }
    return made;
  }

  function line(row) {
    const pin = () => { state.pinned = state.pinned === row ? -1 : row; fill(); body.querySelector(`[data-row="${row}"]`).focus(); };
    const pinned = state.pinned === row;
    const made = el("tr", { class: pinned ? "row pinned" : "row", tabindex: "0", "data-row": row, click: () => model.open && model.open(row) },
      ...(model.pins ? [el("td", {}, el("button", { class: "pin", "aria-pressed": String(pinned), "aria-label": pinned ? "unpin this row" : "pin this row: other rows show their difference to it",
        click: (event) => { event.stopPropagation(); pin(); } }, pinned ? "◆" : "◇"))] : []),
      ...shownColumns().map((c) => cell(row, c)));
    made.addEventListener("keydown", (event) => {
      if (event.target !== made) return;
      if (event.key === "Enter" && model.open) {
        event.preventDefault();  // otherwise the same key would press the button that gets the focus
        model.open(row);
        return;
      }
      const next = event.key === "ArrowDown" ? made.nextElementSibling : event.key === "ArrowUp" ? made.previousElementSibling : null;
      if (next) { event.preventDefault(); next.focus(); }
    });
    return made;
  }

  function fill() {
    const rows = rowsToShow();
    const first = state.pinned >= 0 ? [state.pinned, ...rows.filter((row) => row !== state.pinned)] : rows;
    head.replaceChildren(el("tr", {}, ...(model.pins ? [el("th", { scope: "col", "aria-label": "pin" })] : []), ...shownColumns().map(heading)));
    body.replaceChildren(...first.slice(0, state.limit).map(line));
    const all = counted(model.count, "row");
    status.textContent = rows.length === model.count ? all : `${rows.length.toLocaleString("en")} of ${all}`;
    more.hidden = first.length <= state.limit;
    more.textContent = `show more (${(first.length - state.limit).toLocaleString("en")} left)`;
  }
  fill();
  return { refresh: fill };
}
