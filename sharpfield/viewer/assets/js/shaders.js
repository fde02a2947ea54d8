// Shaders. All positions are in pixels of the frame (the largest views), x to the right and y down.

const MOST_TAPS = 81;
const FEW = 4;

const VERTEX = `#version 300 es
void main() {
  // one triangle that covers everything; the viewport cuts the place out
  gl_Position = vec4(4.0 * float(gl_VertexID & 1) - 1.0, 2.0 * float(gl_VertexID & 2) - 1.0, 0.0, 1.0);
}`;

// What differs between drawings is compiled in, not asked for every pixel: without a graphics processor both
// sides of a question are computed. The place is clipped to the frame by the caller, so nothing is discarded.
const TONES = {
  color: "vec3 toned(vec3 value) { return value; }",
  grey: "vec3 toned(vec3 value) { return value.rrr; }",
  error: `
uniform float white;     // gain times the error that code 1 stands for
uniform vec3 ramp[${page.heat.length}];
vec3 toned(vec3 value) {
  float at = clamp(value.r * value.r * white, 0.0, 1.0) * float(${page.heat.length - 1});
  int first = min(int(at), ${page.heat.length - 2});
  return mix(ramp[first], ramp[first + 1], at - float(first));
}`,
};

const COMMON = (tone) => `#version 300 es
precision highp float;
precision highp sampler2DArray;
uniform sampler2DArray views;
uniform vec2 origin;      // where the frame's corner lies on the canvas, in its pixels from the bottom left
uniform vec2 unit;        // texels a pixel of the canvas, y downward
uniform vec2 texels;      // size of this light field's views
uniform float sharpness;  // how much texels are magnified, at least 1
out vec4 color;

vec2 place() { return (gl_FragCoord.xy - origin) * unit; }

// texels keep their edges when magnified: they blend over one pixel of the screen only
vec2 crisp(vec2 at) {
  vec2 edge = floor(at + 0.5);
  return edge + clamp((at - edge) * sharpness, -0.5, 0.5);
}
${TONES[tone]}
`;

// sum_k w_k I_k(p + shift_k) / sum_k w_k; a few views are written one by one, which compiles to faster code than
// a loop does without a graphics processor
const addView = (k) => `
  from = (start + taps[${k}].zw) / texels;
  off = abs(from - 0.5);
  weight = taps[${k}].y * (max(off.x, off.y) > 0.5 ? outside : 1.0);
  sum += weight * texture(views, vec3(from, taps[${k}].x)).rgb;
  weights += weight;`;

const seenThrough = (count) => `
uniform vec4 taps[${count}]; // layer, weight, shift along x and y in texels
uniform int count;
uniform float outside;
vec3 seen(vec2 at) {
  vec2 start = crisp(at);
  if (${count} == 1) return texture(views, vec3((start + taps[0].zw) / texels, taps[0].x)).rgb;
  vec2 from, off;
  float weight, weights = 0.0;
  vec3 sum = vec3(0.0);
  ${count <= FEW ? range(count, addView).join("") : `for (int k = 0; k < count; k++) {${addView("k")}\n  }`}
  return sum / weights;
}
`;

// `fine`: samples a pixel of the canvas along each axis, more than one where views are made smaller
const PICTURE = (tone, count, fine) => `${COMMON(tone)}${seenThrough(count)}
void main() {
  vec2 at = place();
  vec3 sum = vec3(0.0);
  for (int j = 0; j < ${fine}; j++)
    for (int i = 0; i < ${fine}; i++)
      sum += seen(at + ((vec2(i, j) + 0.5) / ${fine}.0 - 0.5) * unit);
  color = vec4(toned(sum / ${fine * fine}.0), 1.0);
}`;

// one line of pixels of one view
const EPIPOLAR = (tone, direction) => `${COMMON(tone)}
uniform float line;     // the texel across
uniform float layer;

void main() {
  vec2 from = crisp(place());
  vec2 texel = ${direction === "down" ? "vec2(line, from.y)" : "vec2(from.x, line)"};
  color = vec4(toned(texture(views, vec3(texel / texels, layer)).rgb), 1.0);
}`;

// how much the views disagree around a point, for every disparity: one pixel of the target each
const AGREEMENT = () => `#version 300 es
precision highp float;
precision highp sampler2DArray;
uniform sampler2DArray views;
uniform vec2 center;     // in texels of the views
uniform vec2 middle;     // column and row of the view in which the point is
uniform vec2 grid;       // columns, rows
uniform vec2 texels;
uniform vec2 range;      // disparity of the first pixel, and the step, in texels
uniform bool there[${MOST_TAPS}];
out vec4 color;

void main() {
  float disparity = range.x + floor(gl_FragCoord.x) * range.y;
  float spread = 0.0;
  for (int j = -3; j <= 3; j++) for (int i = -3; i <= 3; i++) {
    vec2 at = center + vec2(i, j);
    vec3 sum = vec3(0.0), squares = vec3(0.0);
    float count = 0.0;
    for (int k = 0; k < int(grid.x * grid.y); k++) {
      vec2 offset = vec2(k % int(grid.x), k / int(grid.x)) - middle;
      if (!there[k] || max(abs(offset.x), abs(offset.y)) > 2.0) continue;
      vec3 value = texture(views, vec3((at - offset * disparity) / texels, float(k))).rgb;
      sum += value; squares += value * value; count += 1.0;
    }
    vec3 variance = squares / count - (sum / count) * (sum / count);
    spread += variance.r + variance.g + variance.b;
  }
  float coded = clamp(sqrt(spread / 49.0), 0.0, 0.99999);
  color = vec4(floor(coded * 256.0) / 255.0, fract(coded * 256.0), 0.0, 1.0);
}`;
