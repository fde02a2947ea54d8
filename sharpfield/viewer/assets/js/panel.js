// The panel: which light fields, the map of viewpoints with the PSNR of every view, sliders, facts, theme.

function make(tag, values = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(values)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const pixels = ([height, width]) => `${width} × ${height}`;

/** Fill in what never changes. */
function buildPanel() {
  byId("subtitle").textContent = subtitle();
  document.body.classList.toggle("alone", page.fields.length < 2);
  for (const side of ["left", "right"]) {
    const options = page.fields.map((field, number) => make("option", { value: number }, field.name));
    byId(side).append(...options);
    byId(side).addEventListener("change", (event) => change({ [side]: Number(event.target.value) }));
  }
  byId("compare-title").textContent = page.fields.length > 1 ? "Compare" : "Shown";
  const { low, high } = page.focus;
  Object.assign(byId("focus"), { min: low, max: high });
  byId("focus").addEventListener("input", (event) => change({ focus: Number(event.target.value) }));
  byId("aperture").max = Math.max(ROWS, COLUMNS) - 1;
  byId("aperture").addEventListener("input", (event) => change({ aperture: Number(event.target.value) }));
  byId("gain").addEventListener("input", (event) => change({ gain: Number(event.target.value) }));
  for (const name of ["epipolar", "errors", "smooth"]) {
    byId(name).addEventListener("change", (event) => change({ [name]: event.target.checked }));
  }
  if (LAYERS < 2) for (const name of ["viewpoint", "epipolar-label", "orbit"]) byId(name).hidden = true;
  if (LAYERS < 2) for (const name of ["focus", "aperture"]) byId(name).closest("section").hidden = true;
  byId("errors-label").hidden = !hasErrors;
  buildMaps();
  buildScores();
  buildFacts();
  byId("theme").addEventListener("click", nextTheme);
  byId("help").addEventListener("click", () => byId("keys").showModal());
}

function subtitle() {
  const sizes = [...new Set(page.fields.map((field) => pixels(field.size)))];
  const views = LAYERS > 1 ? `${ROWS} × ${COLUMNS} views` : "one view";
  return `${views} of ${sizes.join(" and ")} pixels`;
}

function buildFacts() {
  for (const [number, field] of page.fields.entries()) {
    const list = make("dl", {}, ...field.facts.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
    const open = number === state.right || (number === state.left && page.fields.length < 3);
    byId("facts").append(make("details", { open }, make("summary", {}, field.name), list));
  }
  byId("notes").hidden = page.notes.length === 0;
  byId("notes").querySelector("ul").append(...page.notes.map((note) => make("li", {}, note)));
}

const maps = [];
let mapsShow = "";

/** A map of the grid of views for each side that has scores, or one without. */
function buildMaps() {
  for (const side of ["left", "right"]) {
    const cells = range(LAYERS, () => make("span", { className: "cell" }));
    const dot = make("i", { className: "here" });
    const map = make("div", { className: `map ${side}`, role: "img" }, ...cells, dot);
    map.style.gridTemplateColumns = `repeat(${COLUMNS}, 1fr)`;
    map.style.setProperty("--columns", COLUMNS);
    map.style.setProperty("--rows", ROWS);
    map.style.aspectRatio = `${COLUMNS} / ${ROWS}`;
    maps.push({ side, map, cells, dot });
    byId("maps").append(map);
  }
}

function drawMaps() {
  const scored = (side) => page.fields[state[side]].psnr;
  const all = ["left", "right"].flatMap((side) => (scored(side) || []).flat()).filter((value) => value !== null);
  const low = Math.min(...all);
  const high = Math.max(...all, low + 0.01);
  const any = all.length > 0;
  const [row, column] = nearestView();
  for (const { dot } of maps) {
    dot.style.left = `${(100 * (state.u + 0.5)) / COLUMNS}%`;
    dot.style.top = `${(100 * (state.v + 0.5)) / ROWS}%`;
  }
  const now = [state.left, state.right, row, column].join();
  if (now === mapsShow) return;
  mapsShow = now;
  for (const { side, map, cells } of maps) {
    const psnr = scored(side);
    map.hidden = any ? !psnr || (side === "left" && !compares()) : side === "left";
    if (map.hidden) continue;
    cells.forEach((cell, layer) => {
      const [v, u] = [Math.floor(layer / COLUMNS), layer % COLUMNS];
      const value = psnr ? psnr[v][u] : undefined;
      cell.classList.toggle("now", v === row && u === column);
      cell.title = `view (${v}, ${u})${psnr ? `: ${decibels(value)}` : ""}`;
      cell.textContent = psnr && COLUMNS <= 5 ? (value === null ? "=" : value.toFixed(1)) : "";
      const share = value === null ? 1 : (value - low) / (high - low);
      cell.style.setProperty("--share", psnr ? share.toFixed(3) : "none");
      cell.classList.toggle("scored", Boolean(psnr));
    });
    map.setAttribute("aria-label", psnr ? `PSNR of the views of ${page.fields[state[side]].name}` : "Grid of views");
  }
  byId("legend").hidden = !any;
  if (any) byId("legend").textContent = `PSNR of every view, ${low.toFixed(1)} to ${high.toFixed(1)} dB; ${page.measured}`;
}

/** Show the state in every control. */
function drawPanel() {
  document.body.classList.toggle("compares", compares());
  for (const side of ["left", "right"]) byId(side).value = String(state[side]);
  byId("focus").value = String(state.focus);
  byId("focus-now").textContent = `${signed(state.focus)} px`;
  byId("aperture").value = String(state.aperture);
  byId("aperture-now").textContent = state.aperture ? `± ${state.aperture.toFixed(1)} views` : "pinhole";
  byId("viewpoint-now").textContent = `row ${whole(state.v)}, column ${whole(state.u)}`;
  byId("zoom-now").textContent = `${Math.round(100 * currentZoom())} %`;
  for (const name of ["epipolar", "errors", "smooth"]) byId(name).checked = state[name];
  byId("gain-label").hidden = !state.errors;
  byId("gain").value = String(state.gain);
  byId("gain-now").textContent = `${(100 / state.gain).toFixed(1)} %`;
  byId("orbit").setAttribute("aria-pressed", String(state.orbit));
  for (const mode of ["view", "pan"]) {
    const button = byId(`drag-${mode}`);
    button.setAttribute("aria-checked", String(state.drag === mode));
    button.tabIndex = state.drag === mode ? 0 : -1;
  }
  stageElement.classList.toggle("pans", state.drag === "pan");
  byId("line").textContent = state.epipolar ? `line at x ${state.line.x}, y ${state.line.y}${state.line.held ? " (held)" : ""}` : "";
  const [v, u] = nearestView();
  byId("where").textContent = LAYERS > 1 ? `view (${v}, ${u})` : "";
  drawMaps();
  drawScores();
}

function signed(value) {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
}

function whole(value) {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

const THEMES = ["system", "light", "dark"];
let theme = 0;

/** Light, dark, or what the system says. */
function nextTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const order = dark ? [0, 1, 2] : [0, 2, 1];
  theme = (theme + 1) % THEMES.length;
  setTheme(THEMES[order[theme]]);
}

function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  surroundColor = null;
  change({});
}
