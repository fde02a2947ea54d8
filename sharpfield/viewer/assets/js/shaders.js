// Shaders. All positions are in pixels of the frame (the largest views), x to the right and y down.

const MOST_TAPS = 81;

const VERTEX = `#version 300 es
void main() {
  // one triangle that covers everything; the viewport cuts the place out
  gl_Position = vec4(4.0 * float(gl_VertexID & 1) - 1.0, 2.0 * float(gl_VertexID & 2) - 1.0, 0.0, 1.0);
}`;

const COMMON = `#version 300 es
precision highp float;
precision highp sampler2DArray;
uniform sampler2DArray views;
uniform vec2 origin;      // where the frame's corner lies on the canvas, in its pixels from the top left
uniform float zoom;       // pixels of the canvas a pixel of the frame
uniform vec2 frame;       // size of the frame
uniform vec2 texels;      // size of this light field's views
uniform float height;     // of the canvas
uniform int tone;         // 0 color, 1 grey, 2 error
uniform float gain;
uniform float largest;    // the error that code 1 stands for
uniform vec3 ramp[${page.heat.length}];
uniform bool smoothed;
out vec4 color;

vec2 place() { return (vec2(gl_FragCoord.x, height - gl_FragCoord.y) - origin) / zoom; }

// texels keep their edges when enlarged: they blend over one pixel of the screen only
vec2 crisp(vec2 at, float magnified) {
  if (smoothed || magnified <= 1.0) return at;
  vec2 edge = floor(at + 0.5);
  return edge + clamp((at - edge) * magnified, -0.5, 0.5);
}

vec3 heat(float error) {
  float at = clamp(error, 0.0, 1.0) * float(${page.heat.length - 1});
  int first = min(int(at), ${page.heat.length - 2});
  return mix(ramp[first], ramp[first + 1], at - float(first));
}

vec3 toned(vec3 value) {
  if (tone == 0) return value;
  if (tone == 1) return value.rrr;
  return heat(value.r * value.r * largest * gain);
}
`;

// sum_k w_k I_k(p + shift_k) / sum_k w_k
const PICTURE = `${COMMON}
uniform vec4 taps[${MOST_TAPS}]; // layer, weight, shift along x and y
uniform int count;
uniform int fine;                // samples a pixel along each axis where views are made smaller
uniform float outside;

vec3 seen(vec2 at, vec2 scale, float magnified) {
  vec2 start = crisp(at * scale, magnified);
  if (count == 1) return texture(views, vec3((start + taps[0].zw * scale) / texels, taps[0].x)).rgb;
  vec3 sum = vec3(0.0);
  float weights = 0.0;
  for (int k = 0; k < count; k++) {
    vec2 from = start + taps[k].zw * scale;
    bool inside = all(greaterThanEqual(from, vec2(0.0))) && all(lessThanEqual(from, texels));
    float weight = inside ? taps[k].y : taps[k].y * outside;
    sum += weight * texture(views, vec3(from / texels, taps[k].x)).rgb;
    weights += weight;
  }
  return sum / weights;
}

void main() {
  vec2 at = place();
  if (any(lessThan(at, vec2(0.0))) || any(greaterThanEqual(at, frame)) || count == 0) discard;
  vec2 scale = texels / frame;
  float magnified = zoom / scale.x;
  if (fine <= 1) {
    color = vec4(toned(seen(at, scale, magnified)), 1.0);
    return;
  }
  vec3 sum = vec3(0.0);
  for (int j = 0; j < fine; j++)
    for (int i = 0; i < fine; i++)
      sum += seen(at + ((vec2(i, j) + 0.5) / float(fine) - 0.5) / zoom, scale, magnified);
  color = vec4(toned(sum / float(fine * fine)), 1.0);
}`;

// one line of pixels, view under view
const EPIPOLAR = `${COMMON}
uniform bool down;      // a column of pixels in a column of views, else a row in a row
uniform float line;     // which one
uniform float start;    // where the first view's strip begins on the canvas
uniform float thick;    // pixels of the canvas a view
uniform int views_shown;
uniform int layers[${MOST_TAPS}];

void main() {
  vec2 at = place();
  vec2 screen = vec2(gl_FragCoord.x, height - gl_FragCoord.y);
  float along = down ? at.y : at.x;
  int view = int(((down ? screen.x : screen.y) - start) / thick);
  if (along < 0.0 || along >= (down ? frame.y : frame.x) || view < 0 || view >= views_shown) discard;
  int layer = layers[view];
  if (layer < 0) discard;
  vec2 scale = texels / frame;
  vec2 from = crisp(vec2(along) * scale, zoom / scale.x);
  float across = floor((line + 0.5) * (down ? scale.x : scale.y)) + 0.5;
  vec2 texel = down ? vec2(across, from.y) : vec2(from.x, across);
  color = vec4(toned(texture(views, vec3(texel / texels, float(layer))).rgb), 1.0);
}`;

// how much the views disagree around a point, for every disparity: one pixel of the target each
const AGREEMENT = `#version 300 es
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
