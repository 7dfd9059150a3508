// Held-out decisions together: ROC, calibration, confusion, residuals, coverage; and features.

const diagonal = () => ({ type: "scatter", mode: "lines", x: [0, 1], y: [0, 1], line: { color: color("quiet"), dash: "dot", width: 1.5 }, hoverinfo: "skip" });
const unitAxis = (title) => axis(title, { range: [-0.02, 1.02], tickformat: ".0%" });

function drawRoc() {
  const roc = facts.classified.roc.find((each) => each.machine === facts.machines[state.machine]) || facts.classified.roc[0];
  byId("roc-area").textContent = `area ${roc.area.toFixed(4)}${facts.machines.length > 1 ? `, ${short(roc.machine, 30)}` : ""}`;
  const line = { type: "scatter", mode: "lines", x: roc.fpr, y: roc.tpr, line: { color: color("cold"), width: 2.5, shape: "hv" }, hovertemplate: "%{y:.1%} of the positive at %{x:.1%} of the negative<extra></extra>" };
  return plot("roc-plot", [diagonal(), line], { xaxis: unitAxis("false positive rate"), yaxis: unitAxis("true positive rate") });
}

function drawCalibration() {
  const { predicted, fraction, counts } = facts.classified.calibration;
  const most = Math.max(...counts);
  const line = { type: "scatter", mode: "lines+markers", cliponaxis: false, x: predicted, y: fraction, line: { color: color("cold"), width: 2 },
    marker: { size: counts.map((count) => 6 + 12 * Math.sqrt(count / most)), color: color("cold"), opacity: 0.85 }, customdata: counts.map((count) => figure(count)),
    hovertemplate: "predicted %{x:.1%}, came true %{y:.1%}<br>%{customdata} rows<extra></extra>" };
  return plot("calibration-plot", [diagonal(), line], { xaxis: unitAxis("mean predicted probability"), yaxis: unitAxis("fraction that came true") });
}

function drawConfusion() {
  const { labels, confusion } = facts.classified;
  const names = labels.map((label) => asText(label, 14));
  const at = labels.map((_, i) => i);
  const heat = { type: "heatmap", z: confusion.map((row) => row.map((count) => Math.log10(1 + count))), x: at, y: at, colorscale: [[0, color("card")], [1, color("cold")]], showscale: false,
    customdata: confusion.map((row, i) => row.map((count, j) => [count, names[i], names[j]])), hovertemplate: "%{customdata[0]} rows: label %{customdata[1]}, predicted %{customdata[2]}<extra></extra>" };
  const ticks = { tickvals: at, ticktext: names };
  return plot("confusion-plot", [heat], { xaxis: axis("predicted", ticks), yaxis: axis("label", { ...ticks, autorange: "reversed" }) });
}

function drawResiduals() {
  const { predicted, residual } = facts.residuals;
  const points = { type: "scatter", mode: "markers", x: predicted, y: residual, marker: { color: color("cold"), size: 5, opacity: 0.55 }, hovertemplate: "prediction %{x:.5g}<br>residual %{y:.5g}<extra></extra>" };
  return plot("residual-plot", [points], { xaxis: axis("held-out prediction"), yaxis: axis("residual", { zeroline: true, zerolinecolor: color("quiet") }), hovermode: "closest" });
}

function drawHistogram() {
  const { edges, counts } = facts.residuals;
  const bars = { type: "bar", x: counts.map((_, i) => (edges[i] + edges[i + 1]) / 2), y: counts, width: counts.map((_, i) => 0.94 * (edges[i + 1] - edges[i])), marker: { color: color("cold"), opacity: 0.8 },
    hovertemplate: "%{y} rows near %{x:.4g}<extra></extra>" };
  return plot("histogram-plot", [bars], { xaxis: axis("residual"), yaxis: axis("rows") });
}

function drawCoverage() {
  const { nominal, covered } = facts.residuals;
  const line = { type: "scatter", mode: "lines+markers", x: nominal, y: covered, line: { color: color("cold"), width: 2 }, marker: { size: 8 }, hovertemplate: "meant %{x:.0%}, covered %{y:.1%}<extra></extra>" };
  const span = { range: [0.45, 1.02], tickformat: ".0%" };
  return plot("coverage-plot", [diagonal(), line], { xaxis: axis("meant to contain the target", span), yaxis: axis("do contain it", span) });
}

function drawShares() {
  const each = facts.levels.each, levels = each.map((row) => row.level);
  const ends = [0, ...levels, 1], spread = [0, ...each.map((row) => 2 * row.deviation), 0];
  const edge = (side) => ends.map((level, i) => Math.min(1, Math.max(0, level + side * spread[i])));
  const band = { type: "scatter", mode: "lines", x: [...ends, ...[...ends].reverse()], y: [...edge(1), ...edge(-1).reverse()], fill: "toself", fillcolor: color("grid"), line: { width: 0 }, hoverinfo: "skip" };
  const line = { type: "scatter", mode: "lines+markers", cliponaxis: false, x: levels, y: each.map((row) => row.below), line: { color: color("cold"), width: 2 }, marker: { size: 8 }, hovertemplate: "quantile %{x:.3g}: %{y:.1%} are below<extra></extra>" };
  return plot("shares-plot", [band, diagonal(), line], { xaxis: unitAxis("quantile"), yaxis: unitAxis("held-out targets below it") });
}

// Rows in the order of the middle prediction; between the first and the last, and so on inwards, there is a band.
function drawFan() {
  const { predicted, target } = facts.levels.fan, each = facts.levels.each, last = predicted.length - 1;
  const at = target.map((_, i) => i + 1), traces = [];
  for (let k = 0; k < last - k; k += 1) {
    traces.push({ type: "scatter", mode: "lines", x: [...at, ...[...at].reverse()], y: [...predicted[k], ...[...predicted[last - k]].reverse()], fill: "toself", fillcolor: color("cold"), opacity: 0.22, line: { width: 0 }, hoverinfo: "skip" });
  }
  if (last % 2 === 0) traces.push({ type: "scatter", mode: "lines", x: at, y: predicted[last / 2], line: { color: color("cold"), width: 2 }, hoverinfo: "skip" });
  const isOut = target.map((y, i) => y < predicted[0][i] || y > predicted[last][i]);
  traces.push({ type: "scatter", mode: "markers", x: at, y: target, marker: { size: 5, opacity: 0.8, color: isOut.map((out) => color(out ? "warm" : "text")) },
    customdata: at.map((_, i) => each.map((row, k) => `${facts.levels.kind} ${figure(row.level)}: ${figure(predicted[k][i])}`).join("<br>")), hovertemplate: "target %{y:.5g}<br>%{customdata}<extra></extra>" });
  return plot("fan-plot", traces, { xaxis: axis("rows, by their middle prediction"), yaxis: axis("target"), hovermode: "closest" });
}

function drawFeatures() {
  const paths = facts.feature_paths;
  if (!paths) return drawRelevance();
  const machine = Math.min(state.machine, paths.coefs.length - 1);
  const lines = paths.names.map((name, j) => ({ type: "scatter", mode: "lines", name: asText(name, 24), x: paths.values, y: paths.coefs[machine][j], line: { width: 2, color: PALETTE[j % PALETTE.length], dash: ["solid", "dash", "dot"][Math.floor(j / PALETTE.length) % 3] },
    hovertemplate: `%{fullData.name}: %{y:.4g}<extra></extra>` }));
  const choice = { type: "line", xref: "x", yref: "paper", x0: facts.chosen.value, x1: facts.chosen.value, y0: 0, y1: 1, line: { color: color("warm"), width: 2, dash: "dot" } };
  return plot("features-plot", lines, { xaxis: logAxis(`${facts.over} (the dotted line is the choice)`, paths.values, "features-plot", { autorange: "reversed" }), yaxis: axis("coefficient"), shapes: [choice],
    showlegend: window.innerWidth > 700, legend: { orientation: "v", x: 1.02, y: 1 }, hovermode: "closest" });
}

function drawRelevance() {
  const { names, gammas } = facts.relevance;
  const at = names.map((_, i) => i);
  byId("features-plot").style.height = `${Math.max(240, 70 + 20 * names.length)}px`;
  const bars = { type: "bar", orientation: "h", x: gammas, y: at, marker: { color: color("cold") }, hovertemplate: "gamma %{x:.4g}<extra></extra>" };
  return plot("features-plot", [bars], { xaxis: axis("gamma"), yaxis: axis("", { tickvals: at, ticktext: names.map((name) => asText(name)), autorange: "reversed" }) });
}

function drawImportance() {
  const columns = facts.importance.columns.slice(0, 30);
  const at = columns.map((_, i) => i);
  byId("importance-plot").style.height = `${Math.max(200, 70 + 24 * columns.length)}px`;
  const isClear = columns.map((column) => column.interval[0] > 0);
  const bars = { type: "bar", orientation: "h", x: columns.map((column) => column.rise), y: at, marker: { color: isClear.map((clear) => (clear ? color("cold") : color("quiet"))), opacity: isClear.map((clear) => (clear ? 0.85 : 0.4)) },
    error_x: { type: "data", symmetric: false, array: columns.map((column) => column.interval[1] - column.rise), arrayminus: columns.map((column) => column.rise - column.interval[0]), color: color("text"), thickness: 1.5, width: 4 },
    customdata: columns.map((column) => [figure(column.rise), figure(column.interval[0]), figure(column.interval[1]),
      column.error_rise === null ? "" : `<br>error rate ${column.error_rise < 0 ? "−" : "+"}${(100 * Math.abs(column.error_rise)).toFixed(2)} points`]),
    hovertemplate: "%{customdata[0]} (%{customdata[1]} to %{customdata[2]})%{customdata[3]}<extra></extra>" };
  const most = window.innerWidth > 700 ? 26 : 14;
  return plot("importance-plot", [bars], { xaxis: axis(`rise of the held-out${window.innerWidth > 700 ? " " : "<br>"}${facts.importance.kind}`, { zeroline: true, zerolinecolor: color("quiet") }),
    yaxis: axis("", { tickvals: at, ticktext: columns.map((column) => asText(column.name, most)), autorange: "reversed" }) });
}

function setUpHeldOut() {
  const drawers = { "roc-plot": drawRoc, "calibration-plot": drawCalibration, "confusion-plot": drawConfusion, "residual-plot": drawResiduals,
    "histogram-plot": drawHistogram, "shares-plot": drawShares, "fan-plot": drawFan, "coverage-plot": drawCoverage, "features-plot": drawFeatures, "importance-plot": drawImportance };
  Object.entries(drawers).forEach(([id, draw]) => register(id, draw));
}
