// What concerns the whole page: colours, the machine that is shown, printing.

const THEMES = ["auto", "light", "dark"];

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = `Colours: ${theme}`;
  byId("theme").setAttribute("aria-label", `Colours: ${theme === "auto" ? "as the system has them" : theme}`);
  redrawAll();
}

function setUpTheme() {
  let theme = "auto";
  try { theme = localStorage.getItem("svmpath-theme") || "auto"; } catch { /* not every browser lets a file remember */ }
  setTheme(THEMES.includes(theme) ? theme : "auto");
  byId("theme").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
    setTheme(next);
    try { localStorage.setItem("svmpath-theme", next); } catch { /* as above */ }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
}

function setUpMachine() {
  const select = byId("machine");
  if (!select) return;
  if (facts.levels) state.machine = Math.floor((facts.machines.length - 1) / 2); // the median, as a rule
  fillSelect(select, facts.machines.map((name, i) => [i, name]), state.machine);
  select.addEventListener("change", () => {
    state.machine = Number(select.value);
    ["walk-plot", "roc-plot", "features-plot"].forEach(redraw);
  });
}

// Paper is light, and every picture is on it.
function setUpPrinting() {
  let theme = "auto";
  addEventListener("beforeprint", () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    drawings.forEach((drawing, id) => {
      if (drawing.ready) drawing.draw();
      else drawNow(id);
      Plotly.relayout(id, { width: Math.min(byId(id).clientWidth || 660, 660) });
    });
  });
  addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = theme;
    redrawAll();
    drawings.forEach((_, id) => Plotly.relayout(id, { width: null, autosize: true }));
  });
}

function setUpCopy() {
  const button = byId("copy");
  if (!button) return;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(byId("snippet").textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(byId("snippet"));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

setUpTheme();
setUpMachine();
setUpCurve();
setUpSurface();
setUpWalk();
setUpHeldOut();
setUpTable();
setUpCopy();
setUpPrinting();
drawSoon("curve-plot");
document.documentElement.dataset.ready = "yes";
