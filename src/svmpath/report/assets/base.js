"use strict";
// Names and labels come from a user's file: they reach the page by textContent only, and Plotly as escaped text.

const facts = JSON.parse(document.getElementById("facts").textContent);
const byId = (id) => document.getElementById(id);
const state = { machine: 0 };
const PALETTE = ["#3b7dd8", "#e08214", "#35978f", "#c2406f", "#8567ad", "#7a9a2e", "#b05c2a", "#5c6f8a", "#d0a215", "#4aa0c8"];

function make(tag, text, attributes = {}) {
  const node = document.createElement(tag);
  if (text !== undefined && text !== null) node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// --- numbers and names ---------------------------------------------------------------------------------------------

function figure(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return groups(value);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(2).replace("e+", "e").replace("-", "−").replace("e-", "e−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

function groups(whole) {
  const text = String(Math.abs(whole));
  const parts = text.length > 4 ? text.replace(/\B(?=(\d{3})+$)/g, "\u202f") : text;
  return (whole < 0 ? "−" : "") + parts;
}

function rate(value) {
  if (value === null || value === undefined) return "–";
  return (100 * value).toFixed(value < 0.1 ? 2 : 1) + " %";
}

const shown = (value, isRate) => (isRate ? rate(value) : figure(value));

function short(name, most = 26) {
  const letters = Array.from(String(name));
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : String(name);
}

// Plotly reads a little HTML in its texts; a name is never meant as such.
function asText(name, most = 26) {
  return short(name, most).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

// --- controls ------------------------------------------------------------------------------------------------------

function fillSelect(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) => {
    const option = make("option", text, { value, title: text });
    option.selected = String(value) === String(chosen);
    return option;
  }));
  select.disabled = options.length < 2;
}

function fillCells(list, cells) {
  list.replaceChildren(...cells.map(([name, value, more]) => {
    const cell = make("div");
    const body = make("dd");
    body.append(make("span", value, { class: "value" }));
    if (more) body.append(make("span", more, { class: "more" }));
    cell.append(make("dt", name), body);
    return cell;
  }));
}

// --- pictures ------------------------------------------------------------------------------------------------------

const drawings = new Map(); // by id: how a picture is drawn, and whether it has been
let firstDrawn = false;

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
}

function axis(title, more = {}) {
  return {
    title: { text: title, font: { size: 13 }, standoff: 8 }, gridcolor: color("grid"), zerolinecolor: color("grid"),
    linecolor: color("line"), automargin: true, exponentformat: "power", ...more,
  };
}

// A logarithmic axis with ticks at powers of ten, as many as there is room for; on a short one at 1, 2 and 5, too.
function logAxis(title, values, id, more = {}) {
  if (!values.every((value) => value > 0)) return axis(title, more);
  const ends = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
  const room = Math.max(2, (byId(id).clientWidth - 120) / 60);
  const font = { tickfont: { size: 11 } };
  if (ends[1] - ends[0] > 2) return axis(title, { type: "log", dtick: Math.ceil((ends[1] - ends[0]) / room), ...font, ...more });
  const own = [...new Set(values)];
  if (own.length <= 3) return axis(title, { type: "log", tickvals: own, ticktext: own.map((value) => figure(value)), ...font, ...more });
  const powers = [];
  for (let k = Math.floor(ends[0]) - 1; k <= Math.ceil(ends[1]) + 1; k += 1) powers.push(10 ** k);
  const ticks = powers.flatMap((power) => [power, 2 * power, 5 * power]).map((value) => Number(value.toPrecision(2)));
  return axis(title, { type: "log", tickvals: ticks, ticktext: ticks.map((value) => figure(value)), ...more });
}

function plot(id, traces, layout) {
  const base = {
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: color("text") },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 56, r: 14, t: 10, b: 44 },
    hoverlabel: { bgcolor: color("card"), bordercolor: color("line"), font: { color: color("text") } },
    showlegend: false, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, dragmode: "zoom",
  };
  const drawn = Plotly.react(id, traces, { ...base, ...layout }, { displayModeBar: false, responsive: true });
  return drawn.then(() => {
    byId(id).dataset.drawn = String(Number(byId(id).dataset.drawn || 0) + 1);
    if (!firstDrawn) {
      firstDrawn = true;
      document.documentElement.dataset.firstDrawing = String(Math.round(performance.now()));
    }
  });
}

// A picture is drawn when it comes near the window: most of them are further down.
function register(id, draw) {
  const node = byId(id);
  if (!node) return;
  drawings.set(id, { draw, ready: false });
  watcher.observe(node);
}

function redraw(id) {
  const drawing = drawings.get(id);
  if (drawing && drawing.ready) drawing.draw();
}

function drawNow(id) {
  const drawing = drawings.get(id);
  if (!drawing || drawing.ready) return;
  drawing.ready = true;
  watcher.unobserve(byId(id));
  drawing.draw();
}

const watcher = new IntersectionObserver((entries) => {
  entries.filter((entry) => entry.isIntersecting).forEach((entry) => drawNow(entry.target.id));
}, { rootMargin: "300px" });

// The first picture, also on a screen so small that it is out of sight.
function drawSoon(id) {
  setTimeout(() => drawNow(id), 50);
}

function redrawAll() {
  drawings.forEach((drawing) => { if (drawing.ready) drawing.draw(); });
}
