// Start: wire everything, draw with every frame in which something changed.

let scheduled = false;

function schedule() {
  if (scheduled || !stage.painter) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    draw();
  });
}

function draw() {
  try {
    keepPace();
    render();
    drawOverlay();
    drawPanel();
    stage.loader.run();
    drawLoading();
  } catch (error) {
    fail(error);
  }
}

function drawLoading() {
  const shown = wantedTextures();
  const there = shown.reduce((sum, { texture }) => sum + texture.count, 0);
  const all = shown.length * LAYERS;
  byId("loading").hidden = there === all;
  byId("loading").textContent = `${there} of ${all} views`;
  if (there === all) for (const done of waiting.splice(0)) done();
}

const waiting = []; // for everything that is shown to be loaded

function whenLoaded() {
  schedule();
  return new Promise((done) => waiting.push(done));
}

function complain(error) {
  byId("trouble").textContent = `Something went wrong: ${error.message}`;
  byId("trouble").hidden = false;
  console.error(error);
}

/** Give up drawing: what failed once would fail with every frame. */
function fail(error) {
  complain(error);
  stage.painter = null;
}

/** Make what lives in the graphics memory: at the start, and again when the browser took it away. */
function begin() {
  stage.textures.clear();
  stage.painter = new Painter(canvas);
  stage.loader = new Loader(wantedTextures, distanceTo, schedule, complain);
  draw();
}

/** Without WebGL there is still the middle view of the result. */
async function showPlainly() {
  byId("trouble").textContent = "This browser has no WebGL 2: only the middle view is shown.";
  byId("trouble").hidden = false;
  const layer = (ROWS >> 1) * COLUMNS + (COLUMNS >> 1);
  const source = URL.createObjectURL(await blobOf(state.right, "view", layer));
  canvas.replaceWith(make("img", { className: "plain", src: source, alt: page.fields[state.right].name }));
}

/** A narrow window gives the picture the height it needs, a wide one gives it the window. */
function sizeStage() {
  const narrow = matchMedia("(max-width: 860px)").matches;
  const strips = state.epipolar ? (compares() ? 2 : 1) * (stripSize() + GAP) : 0;
  const across = state.epipolar && ROWS > 1 ? strips : 0;
  const wanted = ((stageElement.clientWidth - across) * FRAME_HEIGHT) / FRAME_WIDTH + (COLUMNS > 1 ? strips : 0);
  stageElement.style.height = narrow ? `${Math.round(clamp(wanted, 220, 0.72 * window.innerHeight))}px` : "";
}

buildPanel();
watchPointers();
watchKeys();
listeners.push(schedule, sizeStage);
new ResizeObserver(schedule).observe(stageElement);
window.addEventListener("resize", () => change({}));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  surroundColor = null;
  schedule();
});
canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
canvas.addEventListener("webglcontextrestored", begin);
sizeStage();
try {
  begin();
} catch (error) {
  if (error.message === "no WebGL 2") showPlainly();
  else fail(error);
}

// for scripts and tests: what is shown, changing it, and the pixels that are on the canvas; `ready` is a promise
window.sharpfield = {
  get ready() { return whenLoaded(); },
  page,
  state,
  change,
  get firstPicture() { return stage.first; },
  get places() { return stage.places; },
  get draft() { return pace.draft; },
  get draws() { return stage.draws; },
  get dragPerView() { return dragPerView(); },
  pixels(rectangle) {
    render();
    return stage.painter.read(rectangle);
  },
};
