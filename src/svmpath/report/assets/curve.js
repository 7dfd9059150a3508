// The criterion along the path, and the pairs that were tried.

const pairs = { stage: 0, cell: null }; // the cell that was picked; null is the choice

function currentMeasure() {
  const criterion = facts.curves[Number(byId("criterion").value) || 0];
  return { criterion, measure: criterion.measures[Number(byId("measure").value) || 0] };
}

function setUpCurve() {
  fillSelect(byId("criterion"), facts.curves.map((curve, i) => [i, curve.words]), 0);
  const fillMeasures = () => {
    const measures = facts.curves[Number(byId("criterion").value) || 0].measures;
    const before = byId("measure").selectedOptions[0];
    const same = before ? measures.findIndex((measure) => measure.words === before.textContent) : 0;
    fillSelect(byId("measure"), measures.map((measure, i) => [i, measure.words]), Math.max(same, 0));
  };
  fillMeasures();
  byId("criterion").addEventListener("change", () => { fillMeasures(); leaveCell(); });
  byId("measure").addEventListener("change", leaveCell);
  byId("zoom-in").addEventListener("click", () => zoom(0.5));
  byId("zoom-out").addEventListener("click", () => zoom(2));
  byId("zoom-all").addEventListener("click", () => Plotly.relayout("curve-plot", { "xaxis.autorange": true, "yaxis.autorange": true }));
  register("curve-plot", drawCurve);
}

function leaveCell() {
  if (pairs.cell !== null) showCell(null);
  redraw("curve-plot");
}

function zoom(factor) {
  const [low, high] = byId("curve-plot").layout.xaxis.range;
  const middle = (low + high) / 2, half = (factor * (high - low)) / 2;
  Plotly.relayout("curve-plot", { "xaxis.range": [middle - half, middle + half] });
}

// What is drawn: the criterion at the chosen kernel, or the scores that one stage of the search has at another one.
function curveShown() {
  const picked = pairs.cell === null ? null : facts.tried[pairs.stage];
  if (picked === null) {
    const { criterion, measure } = currentMeasure();
    const value = facts.chosen.other === null ? "" : ` = ${figure(facts.chosen.other)}`;
    const at = facts.other ? ` at the chosen ${facts.other}${value}` : "";
    return { x: criterion.values, y: measure.scores, e: measure.errors, isRate: measure.is_rate, title: measure.words,
      mark: facts.chosen.value, words: `${criterion.words[0].toUpperCase()}${criterion.words.slice(1)}${at}` };
  }
  const other = picked.y[pairs.cell];
  const rows = picked.x.map((_, i) => i).filter((i) => picked.y[i] === other).sort((a, b) => picked.x[a] - picked.x[b]);
  const pick = (values) => rows.map((i) => values[i]);
  const at = facts.other ? ` at ${facts.other} = ${figure(other)}` : "";
  return { x: pick(picked.x), y: pick(picked.score), e: pick(picked.error), isRate: picked.is_rate, title: picked.words,
    mark: picked.x[pairs.cell], words: `Stage ${picked.title}${at}` };
}

function drawCurve() {
  const curve = curveShown();
  const unit = curve.isRate ? 100 : 1;
  const y = curve.y.map((value) => unit * value);
  const spread = curve.e.map((value) => unit * (value || 0));
  const above = y.map((value, i) => value + spread[i]), below = y.map((value, i) => Math.max(value - spread[i], curve.isRate ? 0 : -Infinity));
  const nearest = curve.x.reduce((best, value, i) => (Math.abs(Math.log(value / curve.mark)) < Math.abs(Math.log(curve.x[best] / curve.mark)) ? i : best), 0);
  const band = { x: [...curve.x, ...[...curve.x].reverse()], y: [...above, ...below.reverse()], fill: "toself", mode: "lines",
    line: { width: 0 }, fillcolor: color("cold") + "26", hoverinfo: "skip", type: "scatter" };
  const line = { x: curve.x, y, mode: "lines+markers", type: "scatter", line: { color: color("cold"), width: 2 }, marker: { size: 6 },
    customdata: curve.y.map((value, i) => [shown(value, curve.isRate), shown(curve.e[i], curve.isRate), figure(curve.x[i])]),
    hovertemplate: `${facts.over} = %{customdata[2]}<br>%{customdata[0]} ± %{customdata[1]}<extra></extra>` };
  const star = { x: [curve.x[nearest]], y: [y[nearest]], mode: "markers", type: "scatter", hoverinfo: "skip",
    marker: { symbol: "star", size: 16, color: color("warm"), line: { color: color("card"), width: 1 } } };
  byId("curve-state").textContent = `${curve.words}. The star is ${pairs.cell === null ? "the choice" : "the cell picked"}: ${facts.over} = ${figure(curve.x[nearest])}, ${shown(curve.y[nearest], curve.isRate)}.`;
  return plot("curve-plot", curve.x.length > 1 ? [band, line, star] : [line, star], {
    xaxis: logAxis(facts.over, curve.x, "curve-plot"), yaxis: axis(curve.title, { ticksuffix: curve.isRate ? " %" : "", rangemode: curve.isRate ? "tozero" : "normal" }),
  });
}

// The best stands out from the page.
const SEQUENTIAL = {
  light: [[0, "#0a3a7a"], [0.25, "#1d5bb8"], [0.5, "#6ea3e0"], [0.75, "#bcd4f0"], [1, "#e9edf3"]],
  dark: [[0, "#e3f1ff"], [0.25, "#8ab8ff"], [0.5, "#4f86cf"], [0.75, "#2d5488"], [1, "#252f3d"]],
};

// --- the pairs -----------------------------------------------------------------------------------------------------

function setUpSurface() {
  if (!byId("surface-plot")) return;
  // The last stage that has the choice among its pairs: the one that confirmed it.
  pairs.stage = facts.tried.reduce((best, _, i) => (chosenCell(i) !== null ? i : best), facts.tried.length - 1);
  fillSelect(byId("stage"), facts.tried.map((stage, i) => [i, `${stage.title} (${stage.x.length} ${stage.x.length === 1 ? "pair" : "pairs"})`]), pairs.stage);
  byId("stage").addEventListener("change", () => {
    pairs.stage = Number(byId("stage").value);
    showCell(null);
    redraw("surface-plot");
  });
  byId("back").addEventListener("click", () => showCell(null));
  for (const name of ["cell-x", "cell-y"]) {
    const select = byId(name);
    if (select) select.addEventListener("change", () => pickBySelects(name === "cell-y"));
  }
  showCell(null);
  register("surface-plot", () => drawSurface().then(() => {
    const node = byId("surface-plot");
    if (node.dataset.clicks) return;
    node.dataset.clicks = "yes";
    node.on("plotly_click", (event) => {
      const point = event.points.find((each) => each.data.meta === "cells");
      if (point) showCell(point.pointIndex);
    });
  }));
}

// Where the pair that was kept stands among those of a stage; null if it is not among them.
function chosenCell(stage) {
  const { x, y, kept } = facts.tried[stage];
  const near = (a, b) => a === b || (a !== null && b !== null && Math.abs(a - b) <= 1e-9 * Math.abs(b));
  const found = x.findIndex((value, i) => kept[i] && near(value, facts.chosen.value) && (y[i] === null || near(y[i], facts.chosen.other)));
  return found < 0 ? null : found;
}

function bestCell(stage) {
  const { score } = facts.tried[stage];
  return score.reduce((best, value, i) => (value < score[best] ? i : best), 0);
}

function pickBySelects(isOther) {
  const { x, y } = facts.tried[pairs.stage];
  const current = pairs.cell ?? chosenCell(pairs.stage) ?? bestCell(pairs.stage);
  const other = byId("cell-y") ? Number(byId("cell-y").value) : null;
  if (!isOther) return showCell(Number(byId("cell-x").value));
  const rows = x.map((_, i) => i).filter((i) => y[i] === y[other]);
  const nearest = rows.reduce((best, i) => (Math.abs(Math.log(x[i] / x[current])) < Math.abs(Math.log(x[best] / x[current])) ? i : best), rows[0]);
  return showCell(nearest);
}

function showCell(cell) {
  pairs.cell = cell;
  const stage = facts.tried[pairs.stage];
  const at = cell ?? chosenCell(pairs.stage) ?? bestCell(pairs.stage);
  const words = cell !== null ? "picked" : chosenCell(pairs.stage) !== null ? "the pair chosen" : "the best of this stage";
  fillCells(byId("cell"), [
    [facts.over, figure(stage.x[at])],
    ...(facts.other ? [[facts.other, figure(stage.y[at])]] : []),
    [stage.words[0].toUpperCase() + stage.words.slice(1), shown(stage.score[at], stage.is_rate)],
    ["Standard error", shown(stage.error[at], stage.is_rate)],
    ["This is", words],
  ]);
  const { x, y } = stage;
  const firsts = x.map((_, i) => i).filter((i) => y.indexOf(y[i]) === i).sort((a, b) => y[a] - y[b]);
  if (byId("cell-y")) fillSelect(byId("cell-y"), firsts.map((i) => [i, figure(y[i])]), y.indexOf(y[at]));
  const same = x.map((_, i) => i).filter((i) => y[i] === y[at]).sort((a, b) => x[a] - x[b]);
  fillSelect(byId("cell-x"), same.map((i) => [i, figure(x[i])]), at);
  redraw("surface-plot");
  redraw("curve-plot");
}

function drawSurface() {
  const stage = facts.tried[pairs.stage];
  const unit = stage.is_rate ? 100 : 1;
  const y = stage.y.map((value) => (value === null ? 1 : value));
  const isLog = y.every((value) => value > 0);
  const rows = [...new Set(y)].sort((a, b) => a - b);
  const height = isLog ? y : y.map((value) => rows.indexOf(value)); // a penalty of zero has no logarithm
  const room = byId("surface-plot").getBoundingClientRect();
  const across = Math.max(new Set(stage.x).size > 60 ? 40 : new Set(stage.x).size, 1);
  const size = Math.max(5, Math.min(0.8 * (room.width - 170) / across, 0.8 * (room.height - 80) / rows.length, 26));
  const sorted = [...stage.score].sort((a, b) => a - b);
  const cells = { x: stage.x, y: height, type: "scatter", mode: "markers", meta: "cells",
    marker: { symbol: "square", size, color: stage.score.map((value) => unit * value), colorscale: SEQUENTIAL[isDark() ? "dark" : "light"],
      cmin: unit * sorted[0], cmax: unit * sorted[Math.floor(0.85 * (sorted.length - 1))],
      colorbar: { thickness: 12, outlinewidth: 0, ticksuffix: stage.is_rate ? " %" : "", title: { text: stage.words.replace("root mean squared error", "root mean<br>squared error").replace("squared residual", "squared<br>residual"), side: "top" } } },
    customdata: stage.score.map((value, i) => [figure(stage.x[i]), figure(stage.y[i]), shown(value, stage.is_rate)]),
    hovertemplate: `${facts.over} = %{customdata[0]}${facts.other ? `<br>${facts.other} = %{customdata[1]}` : ""}<br>${stage.words} %{customdata[2]}<extra></extra>` };
  const ring = (at, symbol, ink, width) => ({ x: [stage.x[at]], y: [height[at]], type: "scatter", mode: "markers", hoverinfo: "skip",
    marker: { symbol, size: symbol === "star" ? 14 : size + 5, color: symbol === "star" ? ink : "rgba(0,0,0,0)", line: { color: symbol === "star" ? color("card") : ink, width } } });
  const chosen = chosenCell(pairs.stage);
  const traces = [cells, ...(chosen === null ? [] : [ring(chosen, "star", color("warm"), 1)]), ...(pairs.cell === null ? [] : [ring(pairs.cell, "square", color("text"), 2.5)])];
  const yaxis = !facts.other ? axis("", { showticklabels: false, zeroline: false }) : isLog ? logAxis(facts.other, rows, "surface-plot")
    : axis(facts.other, { tickvals: rows.map((_, i) => i), ticktext: rows.map((value) => figure(value)), zeroline: false });
  return plot("surface-plot", traces, { xaxis: logAxis(facts.over, stage.x, "surface-plot"), yaxis, hovermode: "closest" });
}
