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

class Painter {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false, stencil: false });
    if (!gl) throw new Error("no WebGL 2");
    this.gl = gl;
    this.canvas = canvas;
    this.programs = { picture: this.compile(PICTURE), epipolar: this.compile(EPIPOLAR), agreement: this.compile(AGREEMENT) };
    gl.bindVertexArray(gl.createVertexArray());
    gl.enable(gl.SCISSOR_TEST);
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
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.scissor(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...color, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }

  /** Draw into a rectangle of the canvas (x, y from the top left), nothing outside it. */
  draw(program, texture, rectangle, set) {
    const gl = this.gl;
    const { x, y, width, height } = rectangle;
    if (width <= 0 || height <= 0 || !texture?.texture) return;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.scissor(x, this.canvas.height - y - height, width, height);
    gl.useProgram(program.program);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture.texture);
    set(program.places);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  setCommon(places, texture, view, kind, channels) {
    const gl = this.gl;
    gl.uniform2f(places.origin, view.left, view.top);
    gl.uniform1f(places.zoom, view.zoom);
    gl.uniform2f(places.frame, FRAME_WIDTH, FRAME_HEIGHT);
    gl.uniform2f(places.texels, texture.width, texture.height);
    gl.uniform1f(places.height, this.canvas.height);
    gl.uniform1i(places.tone, kind === "error" ? 2 : channels === 1 ? 1 : 0);
    gl.uniform1f(places.gain, state.gain);
    gl.uniform1f(places.largest, page.largestError);
    gl.uniform3fv(places.ramp, page.heat.flat().map((value) => value / 255));
    gl.uniform1i(places.smoothed, state.smooth ? 1 : 0);
  }

  /** Draw what the viewpoint sees of a light field. */
  picture(texture, rectangle, view, kind, channels, draft) {
    const gl = this.gl;
    const found = taps((layer) => texture.has(layer)).slice(0, MOST_TAPS);
    if (!found.length) return;
    const perTexel = (view.zoom * FRAME_WIDTH) / texture.width;
    const fine = draft ? 1 : clamp(Math.ceil(1 / perTexel - 0.02), 1, 4);
    this.draw(this.programs.picture, texture, rectangle, (places) => {
      this.setCommon(places, texture, view, kind, channels);
      gl.uniform4fv(places.taps, found.flat());
      gl.uniform1i(places.count, found.length);
      gl.uniform1i(places.fine, fine);
      gl.uniform1f(places.outside, page.outside);
    });
  }

  /** Draw the line of pixels of all views in a row (or column) of the grid, view under view. */
  epipolar(texture, rectangle, view, kind, channels, { down, line, layers, thick }) {
    const gl = this.gl;
    this.draw(this.programs.epipolar, texture, rectangle, (places) => {
      this.setCommon(places, texture, view, kind, channels);
      gl.uniform1i(places.down, down ? 1 : 0);
      gl.uniform1f(places.line, line);
      gl.uniform1f(places.start, down ? rectangle.x : rectangle.y);
      gl.uniform1f(places.thick, thick);
      gl.uniform1i(places.views_shown, layers.length);
      gl.uniform1iv(places.layers, layers.map((layer) => (texture.has(layer) ? layer : -1)));
    });
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
    const { program, places } = this.programs.agreement;
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
