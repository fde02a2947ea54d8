// The table of scores: every light field that was measured, side by side. A row is put on the right of the split.

const scored = range(page.fields.length, (number) => number).filter((number) => page.fields[number].psnr);
const rowsOfScores = new Map(); // number of a light field -> its row

/** Mean and least of the views; a view that is equal to the truth is infinitely good. */
function summary(field) {
  const all = page.fields[field].psnr.flat().map((value) => value ?? Infinity);
  return { mean: all.reduce((sum, value) => sum + value, 0) / all.length, least: Math.min(...all) };
}

function shownScore(value) {
  return Number.isFinite(value) ? value.toFixed(2) : "equal";
}

function buildScores() {
  byId("scores").hidden = scored.length < 2;
  if (scored.length < 2) return;
  const best = Math.max(...scored.map((number) => summary(number).mean));
  const timed = scored.some((number) => page.fields[number].seconds !== null);
  byId("scores-time").hidden = !timed;
  for (const number of scored) {
    const { name, seconds } = page.fields[number];
    const { mean, least } = summary(number);
    const choose = make("button", { type: "button", title: `Show ${name} on the right` }, name);
    choose.addEventListener("click", () => change({ right: number }));
    const row = make(
      "tr", {},
      make("th", { scope: "row" }, make("i", { className: "dot" }), choose),
      make("td", { className: mean === best ? "best" : "" }, shownScore(mean)),
      make("td", {}, shownScore(least)),
      make("td", { hidden: !timed }, seconds === null ? "" : `${seconds.toFixed(1)} s`),
    );
    rowsOfScores.set(number, row);
    byId("scores").querySelector("tbody").append(row);
  }
  byId("scores-how").textContent = `PSNR in dB: mean and worst of the views; ${page.measured}.`;
}

/** Mark the rows of the light fields that are shown. */
function drawScores() {
  for (const [number, row] of rowsOfScores) {
    const side = number === state.right ? "right" : number === state.left ? "left" : "";
    row.querySelector(".dot").className = `dot ${side}`;
    row.querySelector("button").setAttribute("aria-pressed", String(number === state.right));
  }
}

/** Put the next light field of the list on a side. */
function nextField(side, step) {
  change({ [side]: (state[side] + step + page.fields.length) % page.fields.length });
  say(`${side}: ${page.fields[state[side]].name}`);
}
