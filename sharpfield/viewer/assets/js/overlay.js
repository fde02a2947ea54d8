// Lines and words that lie over the canvas: the cross of the epipolar lines, slopes of the focus, names of the sides.

const overlay = byId("overlay");

function svgLine(x1, y1, x2, y2, kind) {
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) line.setAttribute(name, value.toFixed(2));
  line.setAttribute("class", kind);
  return line;
}

function svgRectangle({ x, y, width, height }, kind) {
  const rectangle = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ x, y, width, height })) rectangle.setAttribute(name, value.toFixed(2));
  rectangle.setAttribute("class", kind);
  return rectangle;
}

/** Draw the lines anew; every line is a dark one under a light one, to be seen on anything. */
function drawOverlay() {
  const places = stage.places;
  const made = [];
  const both = (...ends) => made.push(svgLine(...ends, "under"), svgLine(...ends, "over"));
  if (state.epipolar && places) {
    const { ratio, picture } = places;
    const [x, y] = stageAt(state.line.x + 0.5, state.line.y + 0.5);
    const right = picture.width / ratio;
    const bottom = picture.height / ratio;
    const inside = x >= 0 && x <= right && y >= 0 && y <= bottom;
    const [[x0, y0], [x1, y1]] = [stageAt(0, 0), stageAt(FRAME_WIDTH, FRAME_HEIGHT)];
    const [first, last] = [Math.max(0, x0), Math.min(right, x1)];
    const [top, end] = [Math.max(0, y0), Math.min(bottom, y1)];
    if (COLUMNS > 1 && y >= 0 && y <= bottom) both(first, y, Math.max(first, x - 9), y), both(Math.min(last, x + 9), y, last, y);
    if (ROWS > 1 && x >= 0 && x <= right) both(x, top, x, Math.max(top, y - 9)), both(x, Math.min(end, y + 9), x, end);
    if (state.line.held && inside) made.push(svgRectangle({ x: x - 5, y: y - 5, width: 10, height: 10 }, "held"));
    const [v, u] = nearestView();
    for (const side of ["left", "right"]) {
      const row = inCss(places.row[side], ratio);
      if (row) {
        made.push(svgRectangle({ x: 0, y: row.y, width: 3, height: row.height }, side));
        slope(made, row, x, (k) => (k + 0.5) * (places.thickRow / ratio), COLUMNS, u, false);
      }
      const column = inCss(places.column[side], ratio);
      if (column) {
        made.push(svgRectangle({ x: column.x, y: 0, width: column.width, height: 3 }, side));
        slope(made, column, y, (k) => (k + 0.5) * (places.thickColumn / ratio), ROWS, v, true);
      }
    }
  }
  overlay.replaceChildren(...made);
  drawSides();
}

function inCss(rectangle, ratio) {
  if (!rectangle) return null;
  return Object.fromEntries(Object.entries(rectangle).map(([name, value]) => [name, value / ratio]));
}

/** The line that a point of the disparity in focus draws through an epipolar image, cut at its sides. */
function slope(made, strip, at, middleOf, count, current, down) {
  const step = (-state.focus * stage.places.view.zoom) / stage.places.ratio;
  const start = down ? strip.y : strip.x;
  const end = start + (down ? strip.height : strip.width);
  const points = range(count, (k) => [at + (k - current) * step, middleOf(k) + (down ? strip.x : strip.y)]);
  if (points.some(([along]) => along < start || along > end)) return;
  const [first, last] = [points[0], points[count - 1]];
  const ends = down ? [first[1], first[0], last[1], last[0]] : [first[0], first[1], last[0], last[1]];
  made.push(svgLine(...ends, "slope"));
}

/** Names of the two sides, and the handle between them. */
function drawSides() {
  const places = stage.places;
  if (!places) return;
  const { picture, split, ratio } = places;
  const handle = byId("split");
  handle.style.left = `${split / ratio}px`;
  handle.style.height = `${picture.height / ratio}px`;
  handle.setAttribute("aria-valuenow", Math.round(100 * state.split));
  const text = `${Math.round(100 * state.split)} % ${page.fields[state.left].name}`;
  handle.setAttribute("aria-valuetext", text);
  for (const side of ["left", "right"]) {
    const chip = byId(`chip-${side}`);
    const limit = side === "left" ? split : picture.width - split;
    const room = compares() ? limit / ratio : picture.width / ratio;
    chip.textContent = caption(state[side], room > 190);
    chip.style.maxWidth = `${Math.max(0, room - 20)}px`;
    chip.classList.toggle("gone", room < 60);
    if (side === "right") chip.style.right = `${(canvas.width - picture.width) / ratio + 8}px`;
  }
}

/** A light field's name, with its PSNR at the nearest view where that is known. */
function caption(field, wide) {
  const { name, psnr, truth, errors } = page.fields[field];
  const [v, u] = nearestView();
  const score = psnr && wide ? `  ${decibels(psnr[v][u])}` : "";
  const kind = state.errors && wide ? (errors ? "  error" : truth ? "" : "  (no errors: another size)") : "";
  return name + score + kind;
}

function decibels(value) {
  return value === null ? "equal" : `${value.toFixed(2)} dB`;
}
