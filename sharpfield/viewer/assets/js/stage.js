// Where things lie on the canvas, and drawing them: the picture, its split, and the epipolar images beside it.
//
//   picture            | columns of pixels: left, right
//   -------------------+
//   rows of pixels: left
//   rows of pixels: right

const byId = (id) => document.getElementById(id);
const stageElement = byId("stage");
const canvas = byId("canvas");

const GAP = 6;

/** CSS pixels that an epipolar image is about thick. */
const stripSize = () => (window.innerWidth < 560 ? 26 : 42);

const stage = {
  painter: null,
  textures: new Map(), // name -> ViewTexture
  loader: null,
  places: null, // of the last drawing
  draws: 0,
  first: null, // when the first picture was there, ms after the page was opened
};

/** Return the rectangles of everything, in pixels of the canvas (`ratio` of them a CSS pixel). */
function layOut(width, height, ratio) {
  const whole = (value) => Math.max(0, Math.round(value * ratio));
  const sides = compares() ? ["left", "right"] : ["right"];
  const thick = (count) => Math.max(1, whole(clamp(Math.round(stripSize() / count), 3, 10)));
  const shows = { row: state.epipolar && COLUMNS > 1, column: state.epipolar && ROWS > 1 };
  const gap = whole(GAP);
  const depth = (shown, count) => (shown ? sides.length * (thick(count) * count + gap) : 0);
  const across = depth(shows.column, ROWS);
  const below = depth(shows.row, COLUMNS);
  const picture = { x: 0, y: 0, width: Math.max(1, whole(width) - across), height: Math.max(1, whole(height) - below) };
  const places = { picture, row: {}, column: {}, thickRow: thick(COLUMNS), thickColumn: thick(ROWS), gap, ratio };
  sides.forEach((side, number) => {
    if (shows.row) {
      const size = thick(COLUMNS) * COLUMNS;
      places.row[side] = { x: 0, y: picture.height + gap + number * (size + gap), width: picture.width, height: size };
    }
    if (shows.column) {
      const size = thick(ROWS) * ROWS;
      places.column[side] = { x: picture.width + gap + number * (size + gap), y: 0, width: size, height: picture.height };
    }
  });
  places.split = compares() ? clamp(Math.round(picture.width * state.split), 0, picture.width) : 0;
  places.view = viewOf(picture, ratio);
  return places;
}

/** Return how the frame lies on the picture's place: its corner and its zoom, in pixels of the canvas. */
function viewOf(picture, ratio) {
  const fit = fitZoom(picture);
  const zoom = state.zoom ? state.zoom * ratio : fit;
  const center = state.zoom ? [state.x, state.y] : [FRAME_WIDTH / 2, FRAME_HEIGHT / 2];
  const at = (size, middle) => Math.round(size / 2 - middle * zoom);
  return { zoom, left: at(picture.width, center[0]), top: at(picture.height, center[1]) };
}

/** The zoom at which the whole frame is seen; pixels stay whole when that costs little. */
function fitZoom(picture) {
  const most = Math.min(picture.width / FRAME_WIDTH, picture.height / FRAME_HEIGHT);
  const whole = Math.floor(most);
  return whole >= 1 && most / whole < 1.3 ? whole : Math.min(most, MOST_ZOOM * (window.devicePixelRatio || 1));
}

/** The zoom as people mean it: CSS pixels a pixel of the frame. */
function currentZoom() {
  return state.zoom || (stage.places ? stage.places.view.zoom / stage.places.ratio : 1);
}

/** Zoom so that what is at (x, y), CSS pixels on the stage, stays there. */
function zoomAt(zoom, x, y) {
  const next = clamp(zoom, Math.min(0.1, currentZoom()), MOST_ZOOM);
  const [fx, fy] = frameAt(x, y);
  const { picture, ratio } = stage.places;
  change({
    zoom: next,
    x: fx + (picture.width / 2 / ratio - x) / next,
    y: fy + (picture.height / 2 / ratio - y) / next,
  });
}

function zoomMiddle(zoom) {
  const { picture, ratio } = stage.places;
  zoomAt(zoom, picture.width / 2 / ratio, picture.height / 2 / ratio);
}

/** Move the picture by CSS pixels. */
function panBy(dx, dy) {
  const zoom = currentZoom();
  const [x, y] = state.zoom ? [state.x, state.y] : [FRAME_WIDTH / 2, FRAME_HEIGHT / 2];
  change({ zoom, x: x - dx / zoom, y: y - dy / zoom });
}

/** Return what pixel of the frame (with its fraction) is at CSS pixels of the stage. */
function frameAt(x, y) {
  const { view, ratio } = stage.places;
  return [(x * ratio - view.left) / view.zoom, (y * ratio - view.top) / view.zoom];
}

/** Return where a position of the frame is, in CSS pixels of the stage. */
function stageAt(x, y) {
  const { view, ratio } = stage.places;
  return [(x * view.zoom + view.left) / ratio, (y * view.zoom + view.top) / ratio];
}

/** How many CSS pixels a drag takes from view to view. */
function dragPerView() {
  const { picture, ratio } = stage.places;
  return clamp((0.6 * picture.width) / ratio / Math.max(1, COLUMNS - 1, ROWS - 1), 24, 120);
}

/** Return the texture of a light field's views or errors, made when it is first wanted. */
function textureOf(field) {
  const kind = kindOf(field);
  const name = `${kind}-${field}`;
  if (!stage.textures.has(name)) {
    const [height, width] = page.fields[field].size;
    const grey = kind === "error" || page.fields[field].channels === 1;
    stage.textures.set(name, new ViewTexture(stage.painter.gl, width, height, grey));
    forgetOldTextures(name);
  }
  const texture = stage.textures.get(name);
  texture.used = stage.draws;
  return texture;
}

/** Keep what is shown and two more; the rest is decoded again when it is wanted. */
function forgetOldTextures(newest) {
  const idle = [...stage.textures].filter(([name, texture]) => name !== newest && texture.used < stage.draws);
  idle.sort((one, other) => other[1].used - one[1].used);
  for (const [name, texture] of idle.slice(2)) {
    texture.free();
    stage.textures.delete(name);
  }
}

/** What is to be loaded: the pictures of the light fields that are shown. */
function wantedTextures() {
  return [...new Set([state.right, state.left])].map((field) => ({ texture: textureOf(field), field, kind: kindOf(field) }));
}

/** Whether frames come too slowly to move smoothly, as they do without a graphics processor: then drafts are drawn. */
const pace = { last: 0, mean: 16, draft: false };

function keepPace() {
  const now = performance.now();
  const spent = now - pace.last;
  pace.last = now;
  if (!state.moving || spent > 1000) return;
  pace.mean += 0.25 * (spent - pace.mean);
  if (pace.draft ? pace.mean < 13 : pace.mean > 36) Object.assign(pace, { draft: !pace.draft, mean: 20 });
}

/** Draw everything as it is now. */
function render() {
  const painter = stage.painter;
  if (!painter || painter.gl.isContextLost()) return;
  const ratio = window.devicePixelRatio || 1;
  const width = stageElement.clientWidth;
  const height = stageElement.clientHeight;
  const size = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  const places = layOut(width, height, ratio);
  stage.places = places;
  stage.draws += 1;
  painter.clear(surround());
  const { picture, split, view } = places;
  const parts = { left: { ...picture, width: split }, right: { ...picture, x: split, width: picture.width - split } };
  const [v, u] = nearestView();
  for (const side of compares() ? ["left", "right"] : ["right"]) {
    const field = state[side];
    const texture = textureOf(field);
    const tone = kindOf(field) === "error" ? "error" : page.fields[field].channels === 1 ? "grey" : "color";
    painter.picture(texture, parts[side], view, tone, state.moving && pace.draft);
    const row = { down: false, line: state.line.y, thick: places.thickRow, layers: range(COLUMNS, (k) => v * COLUMNS + k) };
    const column = { down: true, line: state.line.x, thick: places.thickColumn, layers: range(ROWS, (k) => k * COLUMNS + u) };
    if (places.row[side]) painter.epipolar(texture, places.row[side], view, tone, row);
    if (places.column[side]) painter.epipolar(texture, places.column[side], view, tone, column);
  }
  if (stage.first === null && textureOf(state.right).count) stage.first = performance.now();
}

let surroundColor = null;

/** The color around the picture, as the style says. */
function surround() {
  if (!surroundColor) {
    const found = getComputedStyle(stageElement).backgroundColor.match(/[\d.]+/g) || [0, 0, 0];
    surroundColor = found.slice(0, 3).map((value) => value / 255);
  }
  return surroundColor;
}
