// The machine at one value after another along the path.

const walking = { timer: null };
const STEP = 380; // milliseconds from one machine to the next
const LEADS = {
  line: "The machine as a function of its only column.",
  lines: "The machines as functions of their only column; the thick line is the one that is picked above.",
  plane: "The colour is the decision value; the thick line is the boundary, the thin ones are the margins.",
  surface: "The colour is the prediction.",
  projection: "The rows on the two principal components of what the machine sees, with their shares of the variance. The colour is the decision value of the machine fitted to all rows; a cross marks rows on the wrong side.",
  fit: "Predictions of the machine fitted to all rows, against the target: the nearer to the line, the closer the fit, but only the held-out error says whether that is good.",
};

function setUpWalk() {
  const walk = facts.walk;
  if (!walk) return;
  const isPlane = walk.kind === "plane" && facts.task === "regression";
  const shownRows = walk.points.x.length;
  const part = shownRows < walk.of ? ` ${groups(shownRows)} of ${groups(walk.of)} rows are drawn, picked at random.` : "";
  byId("walk-lead").textContent = LEADS[isPlane ? "surface" : facts.levels && walk.kind === "line" ? "lines" : walk.kind] + part;
  byId("slider").addEventListener("input", showFrame);
  byId("play").addEventListener("click", () => (walking.timer === null ? play() : pause()));
  byId("to-choice").addEventListener("click", () => { pause(); setFrame(walk.start); });
  showFrame();
  register("walk-plot", drawWalk);
}

function play() {
  const last = facts.walk.values.length - 1;
  if (Number(byId("slider").value) >= last) setFrame(0);
  byId("play").textContent = "Pause";
  walking.timer = setInterval(() => {
    const next = Number(byId("slider").value) + 1;
    if (next <= last) setFrame(next);
    if (next >= last) pause();
  }, STEP);
}

function pause() {
  clearInterval(walking.timer);
  walking.timer = null;
  byId("play").textContent = "Play";
}

function setFrame(frame) {
  byId("slider").value = String(frame);
  showFrame();
}

function showFrame() {
  const walk = facts.walk, frame = Number(byId("slider").value);
  const text = `${facts.over} = ${figure(walk.values[frame])}`;
  byId("walk-value").textContent = text + (frame === walk.start ? " ★" : "");
  byId("slider").setAttribute("aria-valuetext", text + (frame === walk.start ? ", the choice" : ""));
  const first = facts.curves[0].measures[0];
  const show = (value, isRate) => (value === null || value === undefined ? "not computed here" : isRate ? rate(value) : figure(value));
  const isClass = facts.task === "classification";
  const isSquared = walk.training_kind === "mean squared error";
  const training = isClass ? rate(walk.training[frame]) : figure(isSquared ? Math.sqrt(walk.training[frame]) : walk.training[frame]);
  fillCells(byId("walk-cells"), [
    ["Support vectors", groups(walk.support[frame]), `of ${groups(walk.of)}`],
    ...(walk.features ? [["Features used", groups(walk.features[frame])]] : []),
    [`Held-out ${first.is_rate ? "error" : first.words}`, show(walk.held_out[frame], first.is_rate)],
    [`Training ${isClass ? "error" : isSquared ? "root mean squared error" : walk.training_kind}`, training],
  ]);
  redraw("walk-plot");
}

const DIVERGING = { light: [[0, "#1d5bb8"], [0.5, "#eef0f3"], [1, "#c2570c"]], dark: [[0, "#8ab8ff"], [0.5, "#2b3442"], [1, "#f0a35e"]] };

function drawWalk() {
  const walk = facts.walk, frame = Number(byId("slider").value);
  const machine = Math.min(state.machine, walk.pictures.length - 1);
  const values = walk.pictures[machine][frame];
  const draw = { line: drawLine, plane: drawPlane, projection: drawProjection, fit: drawFit }[walk.kind];
  return draw(walk, values, machine);
}

const positive = (walk, machine) => walk.points.code.map((code) => code === (facts.machines.length > 1 ? machine : 1));

// One trace of points per class, so that there is a legend.
function classTraces(walk, machine, more) {
  return facts.classes.map((label, k) => {
    const rows = walk.points.code.map((_, i) => i).filter((i) => walk.points.code[i] === k);
    const isOwn = facts.machines.length === 1 || k === machine;
    return { type: "scatter", mode: "markers", name: asText(label, 22), x: rows.map((i) => walk.points.x[i]), hoverinfo: "name", ...more(rows, k),
      marker: { size: 7, opacity: isOwn ? 0.95 : 0.55, color: facts.machines.length === 1 ? [color("cold"), color("warm")][k] : PALETTE[k % PALETTE.length],
        line: { width: 1, color: color("card") } } };
  });
}

function drawPlane(walk, values, machine) {
  const n = walk.grid.x.length, rows = walk.grid.y.map((_, j) => values.slice(j * n, (j + 1) * n));
  const isClass = facts.task === "classification";
  const ends = isClass ? { zmin: -2, zmax: 2 } : {};
  const heat = { type: "heatmap", x: walk.grid.x, y: walk.grid.y, z: rows, zsmooth: "best", colorscale: DIVERGING[isDark() ? "dark" : "light"], opacity: 0.55, hovertemplate: "%{z:.3g}<extra></extra>",
    colorbar: { thickness: 12, outlinewidth: 0, title: { text: isClass ? "decision" : "prediction", side: "top" } }, ...ends };
  const level = (at, width, dash) => ({ type: "contour", x: walk.grid.x, y: walk.grid.y, z: rows, autocontour: false, showscale: false, hoverinfo: "skip", showlegend: false,
    contours: { start: at, end: at, size: 1, coloring: "none", showlabels: false }, line: { color: color("text"), width, dash } });
  const lines = isClass ? [level(0, 3, "solid"), level(-1, 1, "dot"), level(1, 1, "dot")] : [];
  const points = isClass ? classTraces(walk, machine, (picked) => ({ y: picked.map((i) => walk.points.y[i]) }))
    : [{ type: "scatter", mode: "markers", x: walk.points.x, y: walk.points.y, hoverinfo: "skip", marker: { size: 6, color: walk.points.target, colorscale: DIVERGING[isDark() ? "dark" : "light"], line: { width: 1, color: color("text") } } }];
  return plot("walk-plot", [heat, ...lines, ...points], { xaxis: axis(asText(walk.titles[0], 40)), yaxis: axis(asText(walk.titles[1], 40)), showlegend: isClass, hovermode: "closest" });
}

// All levels at once: the one that is chosen above is the thick line.
function levelLines(walk, machine) {
  const frame = Number(byId("slider").value);
  return walk.pictures.map((frames, k) => ({ type: "scatter", mode: "lines", x: walk.grid.x, y: frames[frame], name: facts.machines[k], line: { color: color("cold"), width: 1.5 }, hovertemplate: `${facts.machines[k]}: %{y:.4g}<extra></extra>` })).filter((_, k) => k !== machine);
}

function drawLine(walk, values, machine) {
  const curve = { type: "scatter", mode: "lines", x: walk.grid.x, y: values, line: { color: color("text"), width: 2.5 }, name: "machine", hovertemplate: "%{y:.4g}<extra></extra>" };
  const isClass = facts.task === "classification";
  const points = isClass ? classTraces(walk, machine, (rows, k) => ({ y: rows.map(() => ((facts.machines.length > 1 ? k === machine : k === 1) ? 1 : -1)) }))
    : [{ type: "scatter", mode: "markers", x: walk.points.x, y: walk.points.target, marker: { color: color("cold"), size: 6, opacity: 0.7 }, name: "rows" }];
  const others = facts.levels ? levelLines(walk, machine) : [];
  return plot("walk-plot", [...points, ...others, curve], { xaxis: axis(asText(walk.titles[0], 40)), yaxis: axis(walk.titles[1]), showlegend: isClass, hovermode: "closest" });
}

function drawProjection(walk, values, machine) {
  const own = positive(walk, machine);
  const group = (isOwn) => {
    const rows = own.map((_, i) => i).filter((i) => own[i] === isOwn);
    return { type: "scatter", mode: "markers", x: rows.map((i) => walk.points.x[i]), y: rows.map((i) => walk.points.y[i]),
      name: asText(facts.machines.length > 1 ? (isOwn ? facts.classes[machine] : "other classes") : facts.classes[isOwn ? 1 : 0], 22),
      customdata: rows.map((i) => [asText(facts.classes[walk.points.code[i]]), figure(values[i], 3)]),
      hovertemplate: "%{customdata[0]}<br>decision value %{customdata[1]}<extra></extra>",
      marker: { size: 8, symbol: rows.map((i) => ((values[i] > 0) === isOwn ? (isOwn ? "circle" : "diamond") : "x")), color: rows.map((i) => values[i]), cmin: -2, cmax: 2,
        colorscale: DIVERGING[isDark() ? "dark" : "light"], showscale: isOwn, line: { width: 1, color: color("quiet") },
        colorbar: { thickness: 12, outlinewidth: 0, title: { text: "decision", side: "top" } } } };
  };
  return plot("walk-plot", [group(true), group(false)], { xaxis: axis(walk.titles[0]), yaxis: axis(walk.titles[1]), showlegend: true, hovermode: "closest" });
}

function drawFit(walk, values) {
  const all = walk.points.x, ends = [Math.min(...all), Math.max(...all)];
  const line = { type: "scatter", mode: "lines", x: ends, y: ends, line: { color: color("quiet"), dash: "dot", width: 1.5 }, hoverinfo: "skip" };
  const points = { type: "scatter", mode: "markers", x: all, y: values, marker: { color: color("cold"), size: 6, opacity: 0.65 }, hovertemplate: "target %{x:.5g}<br>prediction %{y:.5g}<extra></extra>" };
  const room = 0.05 * (ends[1] - ends[0]) || 1;
  return plot("walk-plot", [line, points], { xaxis: axis(walk.titles[0]), yaxis: axis("prediction", { range: [ends[0] - room, ends[1] + room] }), hovermode: "closest" });
}
