// Pointers: one drags the viewpoint (or the picture), two pan and zoom, a click holds the epipolar line.

const pointers = new Map(); // id -> {x, y}
let gesture = null;
let settling = 0;

const CLICK = 5; // CSS pixels that a click may move

function pointOf(event) {
  const box = stageElement.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function insidePicture({ x, y }) {
  const { picture, ratio } = stage.places;
  return x >= 0 && y >= 0 && x * ratio < picture.width && y * ratio < picture.height;
}

function watchPointers() {
  canvas.addEventListener("pointerdown", (event) => {
    const at = pointOf(event);
    if (!stage.places || !insidePicture(at)) return;
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at);
    stopMoving();
    const pans = event.shiftKey || event.button !== 0 || state.drag === "pan";
    gesture = pointers.size > 1 ? pinchFrom() : { kind: pans ? "pan" : "view", from: at, last: at, v: state.v, u: state.u, moved: false };
    if (gesture.kind !== "pinch") stageElement.classList.add("dragging");
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!stage.places) return;
    const at = pointOf(event);
    if (!pointers.has(event.pointerId)) {
      if (event.pointerType === "mouse" && !state.line.held && insidePicture(at)) moveLine(at, false);
      return;
    }
    pointers.set(event.pointerId, at);
    if (gesture) follow(at);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      if (!pointers.delete(event.pointerId) || !gesture) return;
      if (gesture.kind === "pinch") {
        if (pointers.size === 0) gesture = null;
        return;
      }
      const { moved, kind } = gesture;
      gesture = null;
      stageElement.classList.remove("dragging");
      if (!moved && name === "pointerup" && event.button === 0) holdLine(pointOf(event));
      else if (kind === "view") settle();
    });
  }
  canvas.addEventListener("dblclick", (event) => {
    const at = pointOf(event);
    if (stage.places && insidePicture(at)) moveLine(at, true), focusOnLine();
  });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", wheel, { passive: false });
  watchSplit();
  for (const { map } of maps) watchMap(map);
}

function pinchFrom() {
  const [one, other] = [...pointers.values()];
  const middle = { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
  return { kind: "pinch", middle, spread: Math.hypot(one.x - other.x, one.y - other.y), zoom: currentZoom() };
}

function follow(at) {
  if (gesture.kind === "pinch") {
    if (pointers.size < 2) return;
    const now = pinchFrom();
    panBy(now.middle.x - gesture.middle.x, now.middle.y - gesture.middle.y);
    zoomAt((gesture.zoom * now.spread) / Math.max(1, gesture.spread), now.middle.x, now.middle.y);
    gesture.middle = now.middle;
    return;
  }
  const [dx, dy] = [at.x - gesture.from.x, at.y - gesture.from.y];
  gesture.moved ||= Math.hypot(dx, dy) >= CLICK;
  if (!gesture.moved) return;
  if (gesture.kind === "pan") {
    panBy(at.x - gesture.last.x, at.y - gesture.last.y);
    gesture.last = at;
  } else {
    // near things follow the pointer: the camera goes the other way
    change({ u: gesture.u - dx / dragPerView(), v: gesture.v - dy / dragPerView(), moving: true });
  }
}

function wheel(event) {
  const at = pointOf(event);
  if (!stage.places || !insidePicture(at)) return;
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 16 : 1;
  const speed = event.ctrlKey ? 0.01 : 0.0015;
  zoomAt(currentZoom() * Math.exp(-event.deltaY * lines * speed), at.x, at.y);
}

/** Slide to the nearest view: between views only what is in focus is sharp. */
function settle() {
  const [v, u] = nearestView();
  const from = [state.v, state.u];
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const begun = performance.now();
  const step = (now) => {
    const part = calm ? 1 : clamp((now - begun) / 160, 0, 1);
    const eased = 1 - (1 - part) ** 3;
    if (part >= 1) return change({ v, u, moving: false });
    change({ v: from[0] + (v - from[0]) * eased, u: from[1] + (u - from[1]) * eased });
    settling = requestAnimationFrame(step);
    return undefined;
  };
  settling = requestAnimationFrame(step);
}

function stopMoving() {
  cancelAnimationFrame(settling);
  if (state.orbit || state.moving) change({ orbit: false, moving: false });
}

function moveLine(at, held) {
  const [x, y] = frameAt(at.x, at.y);
  if (x < 0 || y < 0 || x >= FRAME_WIDTH || y >= FRAME_HEIGHT) return;
  change({ line: { x, y, held } });
}

/** A click holds the line where it is; another one on the held place lets it go. */
function holdLine(at) {
  if (!state.epipolar) return;
  const [x, y] = stageAt(state.line.x + 0.5, state.line.y + 0.5);
  const same = state.line.held && Math.hypot(at.x - x, at.y - y) < 12;
  moveLine(at, !same);
}

/** Focus on what the nearest view shows at the line. */
function focusOnLine() {
  const texture = stage.textures.get(`view-${state.right}`);
  if (!texture || LAYERS < 2 || texture.count < 2) return;
  change({ focus: stage.painter.agreement(texture, state.line.x, state.line.y, nearestView()) });
}

function watchSplit() {
  const handle = byId("split");
  let grip = null;
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    const at = pointOf(event);
    grip = at.x - stage.places.split / stage.places.ratio;
    event.preventDefault();
    handle.focus({ preventScroll: true });
  });
  handle.addEventListener("pointermove", (event) => {
    if (grip === null) return;
    const { picture, ratio } = stage.places;
    change({ split: ((pointOf(event).x - grip) * ratio) / picture.width });
  });
  for (const name of ["pointerup", "pointercancel"]) handle.addEventListener(name, () => (grip = null));
  handle.addEventListener("dblclick", () => change({ split: 0.5 }));
  handle.addEventListener("wheel", wheel, { passive: false });
}

/** The map of views moves the viewpoint, too. */
function watchMap(map) {
  let held = false;
  const go = (event) => {
    const box = map.getBoundingClientRect();
    const share = (value, start, size) => (value - start) / size;
    change({
      u: share(event.clientX, box.left, box.width) * COLUMNS - 0.5,
      v: share(event.clientY, box.top, box.height) * ROWS - 0.5,
      moving: true,
    });
  };
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    stopMoving();
    held = true;
    go(event);
  });
  map.addEventListener("pointermove", (event) => held && go(event));
  for (const name of ["pointerup", "pointercancel"]) {
    map.addEventListener(name, () => {
      if (held) settle();
      held = false;
    });
  }
}
