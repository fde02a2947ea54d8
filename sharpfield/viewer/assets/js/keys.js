// The keyboard: everything that pointers do. Keys belong to a slider or a list while that has the focus.

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const LINE_KEYS = { j: [-1, 0], l: [1, 0], i: [0, -1], k: [0, 1] };

function watchKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open || !stage.places) return;
    const target = event.target;
    const slides = target.matches?.("input[type=range], select");
    if (target === byId("split") && splitKey(event)) return event.preventDefault();
    if (target.getAttribute?.("role") === "radio" && event.key in ARROWS) return chooseDrag(event);
    if (slides && (event.key in ARROWS || event.key.length === 1 || /^(Page|Home|End)/.test(event.key))) return undefined;
    if (event.key in ARROWS ? arrow(event) : letter(event)) event.preventDefault();
    return undefined;
  });
  byId("drag-view").addEventListener("click", () => change({ drag: "view" }));
  byId("drag-pan").addEventListener("click", () => change({ drag: "pan" }));
  byId("orbit").addEventListener("click", toggleOrbit);
  byId("swap").addEventListener("click", swap);
  byId("zoom-in").addEventListener("click", () => zoomMiddle(nextZoom(1)));
  byId("zoom-out").addEventListener("click", () => zoomMiddle(nextZoom(-1)));
  byId("zoom-one").addEventListener("click", () => zoomMiddle(1 / (window.devicePixelRatio || 1)));
  byId("zoom-fit").addEventListener("click", () => change({ zoom: 0 }));
}

function chooseDrag(event) {
  change({ drag: state.drag === "view" ? "pan" : "view" });
  byId(`drag-${state.drag}`).focus();
  event.preventDefault();
}

function arrow(event) {
  const [dv, du] = ARROWS[event.key];
  if (event.shiftKey) {
    panBy(-60 * du, -60 * dv);
    return true;
  }
  if (LAYERS < 2) return false;
  stopMoving();
  const [v, u] = nearestView();
  change({ v: v + dv, u: u + du });
  say(`view ${nearestView().join(", ")}`);
  return true;
}

/** Do what a letter stands for; whether it stands for something. */
function letter(event) {
  const key = event.key.toLowerCase();
  const sign = event.shiftKey ? -1 : 1;
  const deeds = {
    "+": () => zoomMiddle(nextZoom(1)),
    "=": () => zoomMiddle(nextZoom(1)),
    "-": () => zoomMiddle(nextZoom(-1)),
    0: () => change({ zoom: 0 }),
    1: () => zoomMiddle(1 / (window.devicePixelRatio || 1)),
    ",": () => change({ split: state.split - 0.05 }),
    ".": () => change({ split: state.split + 0.05 }),
    x: swap,
    n: () => nextField(event.shiftKey ? "left" : "right", 1),
    o: toggleOrbit,
    "[": () => change({ focus: state.focus - 0.1 }),
    "]": () => change({ focus: state.focus + 0.1 }),
    a: () => change({ aperture: state.aperture + 0.5 * sign }),
    f: focusOnLine,
    e: () => change({ epipolar: !state.epipolar && LAYERS > 1 }),
    r: () => change({ errors: !state.errors && hasErrors }),
    t: nextTheme,
    "?": () => byId("keys").showModal(),
    escape: () => change({ line: { ...state.line, held: false } }),
  };
  if (key in LINE_KEYS) {
    const [dx, dy] = LINE_KEYS[key];
    const far = event.shiftKey ? 10 : 1;
    change({ line: { x: state.line.x + far * dx, y: state.line.y + far * dy, held: true } });
    return true;
  }
  if (!Object.hasOwn(deeds, key)) return false;
  deeds[key]();
  return true;
}

function splitKey(event) {
  const step = { ArrowLeft: -0.02, ArrowRight: 0.02, ArrowDown: -0.02, ArrowUp: 0.02, PageDown: -0.1, PageUp: 0.1 }[event.key];
  const end = { Home: 0, End: 1 }[event.key];
  if (step === undefined && end === undefined) return false;
  change({ split: end ?? state.split + step });
  return true;
}

/** The next zoom up or down of a fixed ladder. */
function nextZoom(sign) {
  const ladder = [0.1, 0.25, 0.33, 0.5, 0.67, 1, 1.5, 2, 3, 4, 6, 8];
  const now = currentZoom();
  const further = ladder.filter((step) => (sign > 0 ? step > now * 1.01 : step < now * 0.99));
  return further.length ? (sign > 0 ? further[0] : further.at(-1)) : now;
}

function swap() {
  change({ left: state.right, right: state.left });
}

function say(text) {
  byId("said").textContent = text;
}

let orbitBegun = 0;

/** Circle slowly around the middle of the grid, until something else moves the viewpoint. */
function toggleOrbit() {
  if (LAYERS < 2) return;
  if (state.orbit) return stopOrbit();
  cancelAnimationFrame(settling);
  orbitBegun = performance.now();
  change({ orbit: true, moving: true });
  requestAnimationFrame(orbitStep);
}

function stopOrbit() {
  change({ orbit: false });
  settle();
}

function orbitStep(now) {
  if (!state.orbit) return;
  const angle = (2 * Math.PI * (now - orbitBegun)) / 7000;
  const reach = (count) => 0.42 * (count - 1);
  change({
    u: (COLUMNS - 1) / 2 + reach(COLUMNS) * Math.sin(angle),
    v: (ROWS - 1) / 2 - reach(ROWS) * Math.cos(angle),
  });
  requestAnimationFrame(orbitStep);
}
