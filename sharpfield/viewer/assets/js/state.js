// What is shown: one plain object, changed through `change`, and what follows from it.

const state = {
  left: page.left, right: page.right, // numbers of light fields
  split: 0.5, // share of the picture that shows the left one
  v: ROWS >> 1, u: COLUMNS >> 1, // viewpoint: row and column of the grid, whole or between
  focus: page.focus.start, // disparity that is sharp between views and through an aperture, pixels of the frame a view
  aperture: 0, // how many views on either side count fully
  zoom: 0, // screen (CSS) pixels a pixel of the frame; 0 fits the picture into its place
  x: FRAME_WIDTH / 2, y: FRAME_HEIGHT / 2, // what is in the middle of the place
  line: { x: Math.floor(0.62 * FRAME_WIDTH), y: Math.floor(0.55 * FRAME_HEIGHT), held: false }, // pixel whose epipolar images are shown
  epipolar: LAYERS > 1, errors: false, gain: 8, smooth: false,
  drag: "view", orbit: false, moving: false,
};

const MOST_ZOOM = 8;
const compares = () => state.left !== state.right;
const hasErrors = page.fields.some((field) => field.errors);

const listeners = [];

/** Change what is shown; everything that shows it follows with the next frame. */
function change(values) {
  Object.assign(state, values);
  state.v = clamp(state.v, 0, ROWS - 1);
  state.u = clamp(state.u, 0, COLUMNS - 1);
  state.focus = clamp(state.focus, page.focus.low, page.focus.high);
  state.aperture = clamp(state.aperture, 0, Math.max(ROWS, COLUMNS) - 1);
  state.split = clamp(state.split, 0, 1);
  state.x = clamp(state.x, 0, FRAME_WIDTH);
  state.y = clamp(state.y, 0, FRAME_HEIGHT);
  state.line.x = clamp(Math.floor(state.line.x), 0, FRAME_WIDTH - 1);
  state.line.y = clamp(Math.floor(state.line.y), 0, FRAME_HEIGHT - 1);
  for (const listener of listeners) listener();
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

function range(count, make) {
  return Array.from({ length: count }, (_, k) => make(k));
}

/** How much each of `count` views in a line counts: 1 within the aperture, 0 one view further. */
function viewWeight(k, at, aperture) {
  return clamp(1 + aperture - Math.abs(k - at), 0, 1);
}

/** Which pictures of a light field are shown: its views, or its errors where there are any. */
function kindOf(field) {
  return state.errors && page.fields[field].errors ? "error" : "view";
}

/** The views that the viewpoint sees through, those that are loaded: layer, weight, shift in the frame. */
function taps(has) {
  const found = [];
  for (let v = 0; v < ROWS; v++) {
    const along = viewWeight(v, state.v, state.aperture);
    if (!along) continue;
    for (let u = 0; u < COLUMNS; u++) {
      const weight = along * viewWeight(u, state.u, state.aperture);
      if (weight > 0.002 && has(v * COLUMNS + u)) found.push(tap(v, u, weight));
    }
  }
  if (found.length) return found;
  // nothing is there yet: the nearest view that is, moved to where it would be seen
  let best = null;
  for (let layer = 0; layer < LAYERS; layer++) {
    if (has(layer) && (best === null || distanceTo(layer) < distanceTo(best))) best = layer;
  }
  return best === null ? [] : [tap(Math.floor(best / COLUMNS), best % COLUMNS, 1)];
}

function tap(v, u, weight) {
  return [v * COLUMNS + u, weight, -(u - state.u) * state.focus, -(v - state.v) * state.focus];
}

function distanceTo(layer) {
  return Math.hypot(Math.floor(layer / COLUMNS) - state.v, (layer % COLUMNS) - state.u);
}

/** The row and the column of views nearest to the viewpoint. */
function nearestView() {
  return [Math.round(state.v), Math.round(state.u)];
}
