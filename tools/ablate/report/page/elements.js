// Elements of the page. Text of a history is added only as text nodes, never as HTML.

/** Creates an element with attributes and children. Functions of `attributes` become listeners; null and false are left out. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Creates a labelled selection list. @param options [[value, text]] */
function select(label, options, chosen, change) {
  const list = el("select", { change: () => change(list.value) });
  for (const [value, text] of options) list.append(el("option", { value }, text));
  list.value = chosen;
  return el("label", {}, label, list);
}

function checkbox(label, checked, change) {
  const box = el("input", { type: "checkbox", change: () => change(box.checked) });
  box.checked = checked;
  return el("label", {}, box, label);
}

/** Formats with four significant digits; "" for no value. */
function brief(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return String(value);
  const short = Number(value.toPrecision(4));
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? short.toExponential().replace("e+", "e") : String(short);
}

const counted = (n, one, several = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : several}`;
const withUnit = (metric) => (metric.unit ? `${metric.name || metric.metric} (${metric.unit})` : metric.name || metric.metric);
const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Shows a note beside the pointer, or hides it if there is no text. */
function tip(event, text) {
  const box = document.getElementById("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const { offsetWidth: width, offsetHeight: height } = box;
  box.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4))}px`;
  box.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - height - 4))}px`;
}
