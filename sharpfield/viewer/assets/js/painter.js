// WebGL: textures of views, and the three things that are drawn with them.

/** All views of a light field (or all its error maps) in one texture with a layer a view. */
class ViewTexture {
  constructor(gl, width, height, grey) {
    Object.assign(this, { gl, width, height, grey });
    this.there = new Uint8Array(LAYERS);
    this.count = 0;
    this.used = 0; // when it was last drawn
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, this.texture);
    gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1, grey ? gl.R8 : gl.RGBA8, width, height, LAYERS);
    const settings = { MIN_FILTER: gl.LINEAR, MAG_FILTER: gl.LINEAR, WRAP_S: gl.CLAMP_TO_EDGE, WRAP_T: gl.CLAMP_TO_EDGE };
    for (const [name, value] of Object.entries(settings)) {
      gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl[`TEXTURE_${name}`], value);
    }
    if (gl.getError() === gl.OUT_OF_MEMORY) throw new Error("the graphics memory is too small for these views");
  }

  has(layer) {
    return this.there[layer] === 1;
  }

  put(layer, bitmap) {
    const gl = this.gl;
    if (!this.texture || gl.isContextLost()) return;
    const format = this.grey ? gl.RED : gl.RGBA;
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, this.texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texSubImage3D(
      gl.TEXTURE_2D_ARRAY, 0, 0, 0, layer, this.width, this.height, 1, format, gl.UNSIGNED_BYTE, bitmap,
    );
    this.count += 1 - this.there[layer];
    this.there[layer] = 1;
  }

  free() {
    this.gl.deleteTexture(this.texture);
    this.texture = null;
  }
}

/** Return the part of a rectangle of the canvas where the frame is, along x, y or both. */
function clipped({ x, y, width, height }, view, axes = "xy") {
  const cut = (start, size, first, last) => [Math.max(start, Math.round(first)), Math.min(start + size, Math.round(last))];
  const [left, right] = axes.includes("x") ? cut(x, width, view.left, view.left + FRAME_WIDTH * view.zoom) : [x, x + width];
  const [top, bottom] = axes.includes("y") ? cut(y, height, view.top, view.top + FRAME_HEIGHT * view.zoom) : [y, y + height];
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Return the strips of an epipolar image, one a view. */
function strips({ x, y, width, height }, thick, count, down) {
  return range(count, (k) => (down ? { x: x + k * thick, y, width: thick, height } : { x, y: y + k * thick, width, height: thick }));
}

class Painter {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false, stencil: false });
    if (!gl) throw new Error("no WebGL 2");
    this.gl = gl;
    this.canvas = canvas;
    this.programs = new Map();
    gl.bindVertexArray(gl.createVertexArray());
    gl.enable(gl.SCISSOR_TEST);
    this.coarse = null; // a smaller canvas behind the canvas, for drafts
    this.target = canvas; // what is drawn on: its width and height
  }

  /** Return the program that these words choose, compiled when it is first wanted. */
  program(kind, ...words) {
    const name = [kind.name, ...words].join(" ");
    if (!this.programs.has(name)) this.programs.set(name, this.compile(kind(...words)));
    return this.programs.get(name);
  }

  compile(fragment) {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
        throw new Error(gl.getShaderInfoLog(shader));
      }
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(gl.getProgramInfoLog(program));
    }
    const places = {};
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    for (let i = 0; i < count; i++) {
      const name = gl.getActiveUniform(program, i).name.replace("[0]", "");
      places[name] = gl.getUniformLocation(program, name);
    }
    return { program, places };
  }

  clear(color) {
    const gl = this.gl;
    this.background = color;
    gl.viewport(0, 0, this.target.width, this.target.height);
    gl.scissor(0, 0, this.target.width, this.target.height);
    gl.clearColor(...color, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }

  /** Draw into a rectangle of the canvas (x, y from the top left), nothing outside it. */
  draw(program, texture, rectangle, set) {
    const gl = this.gl;
    const { x, y, width, height } = rectangle;
    if (width <= 0 || height <= 0 || !texture?.texture) return;
    gl.viewport(0, 0, this.target.width, this.target.height);
    gl.scissor(x, this.target.height - y - height, width, height);
    gl.useProgram(program.program);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture.texture);
    set(program.places);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  setCommon(places, texture, view, tone) {
    const gl = this.gl;
    const scale = texture.width / FRAME_WIDTH;
    gl.uniform2f(places.origin, view.left, this.target.height - view.top);
    gl.uniform2f(places.unit, scale / view.zoom, -texture.height / FRAME_HEIGHT / view.zoom);
    gl.uniform2f(places.texels, texture.width, texture.height);
    gl.uniform1f(places.sharpness, state.smooth ? 1 : Math.max(1, view.zoom / scale));
    if (tone === "error") {
      gl.uniform1f(places.white, state.gain * page.largestError);
      gl.uniform3fv(places.ramp, page.heat.flat().map((value) => value / 255));
    }
  }

  /** Draw what the viewpoint sees of a light field; a draft has half the pixels along each axis. */
  picture(texture, rectangle, view, tone, draft) {
    if (!draft) return this.sharpPicture(texture, rectangle, view, tone, 4);
    const gl = this.gl;
    const { x, y, width, height } = rectangle;
    if (width <= 0) return undefined;
    this.target = this.coarseTarget();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.coarse.frame);
    this.clear(this.background);
    const small = { x: 0, y: 0, width: Math.ceil(width / 2), height: Math.ceil(height / 2) };
    const smallView = { zoom: view.zoom / 2, left: (view.left - x) / 2, top: (view.top - y) / 2 };
    this.sharpPicture(texture, small, smallView, tone, 1);
    const from = this.target.height;
    this.target = this.canvas;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.coarse.frame);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    const bottom = this.canvas.height - y;
    gl.scissor(x, bottom - height, width, height);
    gl.blitFramebuffer(
      0, from - small.height, small.width, from, x, bottom - 2 * small.height, x + 2 * small.width, bottom,
      gl.COLOR_BUFFER_BIT, gl.LINEAR,
    );
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return undefined;
  }

  coarseTarget() {
    const gl = this.gl;
    const [width, height] = [Math.ceil(this.canvas.width / 2) + 1, Math.ceil(this.canvas.height / 2) + 1];
    if (this.coarse?.width !== width || this.coarse?.height !== height) {
      this.coarse ??= { frame: gl.createFramebuffer(), pixels: gl.createRenderbuffer() };
      Object.assign(this.coarse, { width, height });
      gl.bindRenderbuffer(gl.RENDERBUFFER, this.coarse.pixels);
      gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, width, height);
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.coarse.frame);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, this.coarse.pixels);
    }
    return this.coarse;
  }

  sharpPicture(texture, rectangle, view, tone, finest) {
    const gl = this.gl;
    const found = taps((layer) => texture.has(layer)).slice(0, MOST_TAPS);
    if (!found.length) return;
    const scale = texture.width / FRAME_WIDTH;
    const fine = clamp(Math.ceil(scale / view.zoom - 0.02), 1, finest);
    const room = [1, 2, FEW, MOST_TAPS].find((count) => found.length <= count);
    if (room <= FEW) while (found.length < room) found.push([found[0][0], 0, 0, 0]);
    this.draw(this.program(PICTURE, tone, room, fine), texture, clipped(rectangle, view), (places) => {
      this.setCommon(places, texture, view, tone);
      gl.uniform4fv(places.taps, found.flatMap(([layer, weight, x, y]) => [layer, weight, x * scale, y * scale]));
      gl.uniform1i(places.count ?? null, found.length);
      gl.uniform1f(places.outside ?? null, page.outside);
    });
  }

  /** Draw the line of pixels of all views in a row (or column) of the grid, view under view. */
  epipolar(texture, rectangle, view, tone, { down, line, layers, thick }) {
    const gl = this.gl;
    const program = this.program(EPIPOLAR, tone, down ? "down" : "across");
    const scale = down ? texture.width / FRAME_WIDTH : texture.height / FRAME_HEIGHT;
    for (const [k, strip] of strips(rectangle, thick, layers.length, down).entries()) {
      if (!texture.has(layers[k])) continue;
      this.draw(program, texture, clipped(strip, view, down ? "y" : "x"), (places) => {
        this.setCommon(places, texture, view, tone);
        gl.uniform1f(places.line, Math.floor((line + 0.5) * scale) + 0.5);
        gl.uniform1f(places.layer, layers[k]);
      });
    }
  }

  /** Return the disparity (pixels of the frame) at which the views agree most around a pixel of a view. */
  agreement(texture, x, y, [row, column]) {
    const gl = this.gl;
    const scale = texture.width / FRAME_WIDTH;
    const { low, high } = page.focus;
    const count = Math.max(2, Math.ceil((high - low) / 0.05) + 1);
    const step = (high - low) / (count - 1);
    const target = gl.createRenderbuffer();
    const frame = gl.createFramebuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, target);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, count, 1);
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, target);
    gl.viewport(0, 0, count, 1);
    gl.scissor(0, 0, count, 1);
    const { program, places } = this.program(AGREEMENT);
    gl.useProgram(program);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture.texture);
    gl.uniform2f(places.center, (x + 0.5) * scale, (y + 0.5) * scale);
    gl.uniform2f(places.middle, column, row);
    gl.uniform2f(places.grid, COLUMNS, ROWS);
    gl.uniform2f(places.texels, texture.width, texture.height);
    gl.uniform2f(places.range, low * scale, step * scale);
    gl.uniform1iv(places.there, Array.from(texture.there));
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    const codes = new Uint8Array(4 * count);
    gl.readPixels(0, 0, count, 1, gl.RGBA, gl.UNSIGNED_BYTE, codes);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.deleteFramebuffer(frame);
    gl.deleteRenderbuffer(target);
    let best = 0;
    const spread = (i) => codes[4 * i] * 255 + codes[4 * i + 1];
    for (let i = 1; i < count; i++) if (spread(i) < spread(best)) best = i;
    return low + best * step;
  }

  /** Return the pixels of a rectangle of the canvas as it was just drawn: RGBA, rows from the top. */
  read({ x, y, width, height }) {
    const gl = this.gl;
    const upward = new Uint8Array(4 * width * height);
    gl.readPixels(x, this.canvas.height - y - height, width, height, gl.RGBA, gl.UNSIGNED_BYTE, upward);
    const pixels = new Uint8Array(upward.length);
    for (let row = 0; row < height; row++) {
      pixels.set(upward.subarray(4 * width * (height - 1 - row), 4 * width * (height - row)), 4 * width * row);
    }
    return pixels;
  }
}
