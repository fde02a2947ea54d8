// The light fields of the page: a manifest, and compressed pictures in elements that are decoded when needed.

const page = JSON.parse(document.getElementById("manifest").textContent);
const [ROWS, COLUMNS] = page.grid;
const [FRAME_HEIGHT, FRAME_WIDTH] = page.frame;
const LAYERS = ROWS * COLUMNS;

// all elements are there; those of the middle views are from the start
const documentRead = new Promise((done) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", done, { once: true });
  else done();
});

const blobs = new Map();

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** Return a picture as a compressed file; its element is dropped, so that the page holds it once. */
async function blobOf(field, kind, layer) {
  const name = `${kind}-${field}-${layer}`;
  if (!blobs.has(name)) {
    if (!document.getElementById(name)) await documentRead;
    const element = document.getElementById(name);
    if (!element) throw new Error(`picture ${name} is missing: the file is not complete`);
    blobs.set(name, new Blob([bytesOf(element.textContent)], { type: page.mime }));
    element.remove();
  }
  return blobs.get(name);
}

/** Decode a picture as it is: colors neither converted nor multiplied. */
async function bitmapOf(field, kind, layer) {
  const exact = { colorSpaceConversion: "none", premultiplyAlpha: "none" };
  return createImageBitmap(await blobOf(field, kind, layer), exact);
}

/** Fills textures one picture after the other, the most wanted first. */
class Loader {
  // fields: functions that the page gives: `wanted()` -> [{texture, field, kind}], `near(layer)` -> distance
  constructor(wanted, near, loaded, failed) {
    Object.assign(this, { wanted, near, loaded, failed });
    this.busy = new Set();
    this.running = 0;
    this.stopped = false;
  }

  /** Start as many as may run at once; called again whenever something new is wanted. */
  run() {
    while (this.running < 3 && !this.stopped) {
      const next = this.next();
      if (!next) return;
      this.running += 1;
      const { texture, field, kind, layer, name } = next;
      this.busy.add(name);
      bitmapOf(field, kind, layer)
        .then((bitmap) => {
          texture.put(layer, bitmap);
          bitmap.close();
          this.loaded();
        })
        .catch((error) => {
          if (!this.stopped) this.failed(error);
          this.stopped = true; // what failed once fails again
        })
        .finally(() => {
          this.busy.delete(name);
          this.running -= 1;
          this.run();
        });
    }
  }

  next() {
    let best = null;
    let least = Infinity;
    for (const { texture, field, kind } of this.wanted()) {
      for (let layer = 0; layer < LAYERS; layer++) {
        const name = `${kind}-${field}-${layer}`;
        const distance = this.near(layer);
        if (texture.has(layer) || this.busy.has(name) || distance >= least) continue;
        least = distance;
        best = { texture, field, kind, layer, name };
      }
    }
    return best;
  }
}
