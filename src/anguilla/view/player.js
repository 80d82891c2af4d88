// ---- drawing -------------------------------------------------------------------------------------------------------
const canvas = $("view"), gl = canvas.getContext("webgl2", { antialias: true, premultipliedAlpha: true, alpha: true });
const still = { frames: scene.frames, t: decode(scene.t), size: scene.size, centre: scene.centre };

function program([vertex, fragment]) {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text.trim()); gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  return new Proxy({ made }, { get: (o, name) => name === "use" ? () => gl.useProgram(made)
    : (o[name] ??= gl.getUniformLocation(made, name)) });
}

function mesh(sizes, index) {                    // interleaved float attributes of the given sizes
  const array = gl.createVertexArray(), buffer = gl.createBuffer(), stride = 4 * sizes.reduce((a, b) => a + b, 0);
  gl.bindVertexArray(array); gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  let offset = 0;
  sizes.forEach((size, i) => { gl.enableVertexAttribArray(i); gl.vertexAttribPointer(i, size, gl.FLOAT, false, stride, offset);
    offset += 4 * size; });
  if (index) { gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer()); gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, index, gl.STATIC_DRAW); }
  gl.bindVertexArray(null);
  return { load(data) { gl.bindBuffer(gl.ARRAY_BUFFER, buffer); gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW); },
    draw(count, mode) { gl.bindVertexArray(array);
      if (index) gl.drawElements(gl.TRIANGLES, index.length, gl.UNSIGNED_INT, 0); else gl.drawArrays(mode, 0, count); } };
}

function smooth(points) {                        // a cubic (Catmull-Rom) through points [position, strength]
  const out = [], at = i => points[Math.min(Math.max(i, 0), points.length - 1)];
  for (let i = 0; i + 1 < points.length; i++) for (let j = 0; j < 4; j++) {
    const u = j / 4, [a, b, c, d] = [at(i - 1)[0], at(i)[0], at(i + 1)[0], at(i + 2)[0]];
    out.push([[0, 1, 2].map(k => b[k] + 0.5 * u * (c[k] - a[k] + u * (2 * a[k] - 5 * b[k] + 4 * c[k] - d[k]
      + u * (3 * (b[k] - c[k]) + d[k] - a[k])))), (1 - u) * at(i)[1] + u * at(i + 1)[1]]);
  }
  out.push(points[points.length - 1]);
  return out;
}

function start() {
  const solid = program(SOLID), shade = program(SHADOW), floor = program(GROUND), line = program(TRAIL);
  const rods = scene.rods.map(prepare);
  const bodies = rods.map(rod => ({ rod, tint: rod.tint, stripe: 1, mesh: mesh([3, 3, 1], rod.index) }));
  const volumes = (scene.volumes ?? []).map(soften).map(volume => ({ volume, tint: volume.tint, stripe: 0,
    mapped: volume.values ? 1 : 0, mesh: mesh([3, 3, 1], volume.index) }));
  bodies.push(...volumes.filter(body => !body.volume.glass));
  const chambers = volumes.filter(body => body.volume.glass);
  const ramp = new Float32Array((scene.ramp ?? Array(9).fill("#808080")).flatMap(rgb));
  const lines = (scene.lines ?? []).map(line => ({ ...line, count: line.points.shape[1], points: decode(line.points) }));
  for (const rod of rods.filter(rod => rod.clamped)) {
    pose(rod, 0, 0);
    const base = plate(rod), body = { tint: base.tint, stripe: 0, mesh: mesh([3, 3, 1], base.index) };
    body.mesh.load(base.vertices); bodies.push(body);
  }
  const solids = scene.solids.map(({ colour, vertices, index, position, rotation }) => {
    const made = mesh([3, 3, 1], new Uint32Array(index)), own = decode(vertices); made.load(own);
    const way = position && { own, now: own.slice(), position: decode(position), rotation: decode(rotation) };
    return { tint: rgb(colour), mesh: made, way };
  });
  function carry({ own, now, position, rotation }, frame, part) {  // an obstacle that moves: its place and turn
    const next = Math.min(frame + 1, still.frames - 1), a = [0, 1, 2, 3].map(k => rotation[4 * frame + k]);
    const b = [0, 1, 2, 3].map(k => rotation[4 * next + k]), side = Math.sign(a.reduce((s, x, k) => s + x * b[k], 0)) || 1;
    const q = a.map((x, k) => (1 - part) * x + part * side * b[k]), size = Math.hypot(...q), [w, x, y, z] = q.map(c => c / size);
    const turn = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
      1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)];
    const to = [0, 1, 2].map(k => (1 - part) * position[3 * frame + k] + part * position[3 * next + k]);
    for (let i = 0; i < own.length; i += 7) for (let r = 0; r < 3; r++) {
      const [c, d, e] = [turn[3 * r], turn[3 * r + 1], turn[3 * r + 2]];
      now[i + r] = c * own[i] + d * own[i + 1] + e * own[i + 2] + to[r];
      now[i + 3 + r] = c * own[i + 3] + d * own[i + 4] + e * own[i + 5];
    }
    return now;
  }
  const corners = mesh([2]); corners.load(new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]));
  const trail = mesh([3, 3, 3]);
  const ground = scene.low[2] - 0.04 * still.size, sheet = [still.centre[0], still.centre[1], 1.5 * still.size, 3.2 * still.size];
  const SHEET = 1024, target = gl.createFramebuffer(), texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, SHEET, SHEET, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
  for (const [key, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
    [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, key, value);
  gl.bindFramebuffer(gl.FRAMEBUFFER, target);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);

  function trailOf(rod, time, frame) {           // the path of the tip over the last moments, fading with age
    const memory = Math.min(1.5, 0.5 * (still.t[still.frames - 1] - still.t[0]) || 1), points = [];
    for (let k = frame; k >= 0 && points.length < 400; k--) {
      const i = 3 * (k * rod.m + rod.m - 1), age = (time - still.t[k]) / memory;
      points.push([rod.position.slice(i, i + 3), Math.max(0, 1 - age)]);
      if (age > 1) break;
    }
    points.unshift([rod.tip, 1]);
    const fine = smooth(points), out = [];
    for (let i = 0; i + 1 < fine.length; i++) { const [a, s] = fine[i], [b, r] = fine[i + 1];
      for (const [end, side] of [[0, -1], [0, 1], [1, 1], [0, -1], [1, 1], [1, -1]])
        out.push(...a, ...b, end, side, end ? r : s); }
    return new Float32Array(out);
  }

  function cableOf(cable) {                      // a tendon or a chamber: points fixed to sections, two by two
    const out = [], { tube, section, offset } = cable, n = tube.length;
    const place = i => { const [x, y, z] = offset.slice(3 * i, 3 * i + 3);
      if (tube[i] < 0) return [x, y, z];
      const a = rods[tube[i]].axes, r = 12 * section[i];
      return [0, 1, 2].map(k => a[r + 9 + k] + x * a[r + k] + y * a[r + 3 + k] + z * a[r + 6 + k]); };
    for (let i = 0; i + 1 < n; i += 2) { const a = place(i), b = place(i + 1);
      for (const [end, side] of [[0, -1], [0, 1], [1, 1], [0, -1], [1, 1], [1, -1]]) out.push(...a, ...b, end, side, 0.7); }
    return new Float32Array(out);
  }
  const cables = scene.cables.map(cable => ({ ...cable, offset: decode(cable.offset) }));

  function lineOf({ points, count }, frame, part) {  // a tendon through a volume: its points over time
    const out = [], a = 3 * count * frame, b = 3 * count * Math.min(frame + 1, still.frames - 1);
    const place = i => [0, 1, 2].map(k => (1 - part) * points[a + 3 * i + k] + part * points[b + 3 * i + k]);
    for (let i = 0; i + 1 < count; i++) { const p = place(i), q = place(i + 1);
      for (const [end, side] of [[0, -1], [0, 1], [1, 1], [0, -1], [1, 1], [1, -1]]) out.push(...p, ...q, end, side, 1); }
    return new Float32Array(out);
  }

  const touch = scene.contacts ? decode(scene.contacts) : [], most = scene.contacts ? scene.contacts.shape[1] : 0;
  function touchOf(frame, eye) {                 // forces where things touch: a shaft and the two strokes of its head
    const out = [], stroke = (a, b) => { for (const [end, side] of [[0, -1], [0, 1], [1, 1], [0, -1], [1, 1], [1, -1]])
      out.push(...a, ...b, end, side, 1); };
    for (let i = 6 * frame * most; i < 6 * (frame + 1) * most; i += 6) {
      const a = [0, 1, 2].map(k => touch[i + k]), d = [0, 1, 2].map(k => touch[i + 3 + k]), size = Math.hypot(...d);
      if (!(size > 0.01 * still.size * 0.18)) continue;
      const b = [0, 1, 2].map(k => a[k] + d[k]), v = sub(eye, b), head = Math.min(0.35 * size, 0.03 * still.size);
      const n = [d[1] * v[2] - d[2] * v[1], d[2] * v[0] - d[0] * v[2], d[0] * v[1] - d[1] * v[0]], w = Math.hypot(...n) || 1;
      stroke(a, b);
      for (const s of [-0.5, 0.5]) stroke(b, [0, 1, 2].map(k => b[k] - head * d[k] / size + s * head * n[k] / w));
    }
    return new Float32Array(out);
  }

  return function draw(time, eye, aim) {
    let frame = 0; while (frame + 2 < still.frames && still.t[frame + 1] <= time) frame++;
    const span = still.frames > 1 ? still.t[frame + 1] - still.t[frame] : 1;
    const part = Math.min(Math.max((time - still.t[frame]) / span, 0), 1);
    for (const body of bodies) if (body.rod) { pose(body.rod, frame, part); body.mesh.load(body.rod.vertices); }
    for (const body of volumes) { deform(body.volume, frame, part); body.mesh.load(body.volume.vertices); }
    const w = canvas.width, h = canvas.height, far = Math.hypot(...sub(eye, aim));
    const camera = times(perspective(0.5, w / h, 0.02 * far, far + 8 * still.size), lookAt(eye, aim));

    gl.bindFramebuffer(gl.FRAMEBUFFER, target); gl.viewport(0, 0, SHEET, SHEET);
    gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT); gl.disable(gl.DEPTH_TEST); gl.disable(gl.BLEND);
    shade.use(); gl.uniform4fv(shade.sheet, sheet); gl.uniform1f(shade.ground, ground);
    for (const body of bodies) body.mesh.draw();

    gl.bindFramebuffer(gl.FRAMEBUFFER, null); gl.viewport(0, 0, w, h); gl.enable(gl.DEPTH_TEST);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    solid.use(); gl.uniformMatrix4fv(solid.camera, false, camera); gl.uniform3fv(solid.eye, eye);
    gl.uniform1f(solid.alpha, 1); gl.uniform3fv(solid.ramp, ramp);
    for (const body of bodies) { gl.uniform3fv(solid.colour, body.tint); gl.uniform1f(solid.mapped, body.mapped ?? 0); gl.uniform1f(solid.stripe, body.stripe); body.mesh.draw(); }

    gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA); gl.depthMask(false);
    floor.use(); gl.uniformMatrix4fv(floor.camera, false, camera); gl.uniform4fv(floor.sheet, sheet);
    gl.uniform1f(floor.ground, ground); gl.uniform1f(floor.cell, scene.cell); gl.uniform1i(floor.shadow, 0);
    corners.draw(4, gl.TRIANGLE_STRIP);
    solid.use(); gl.uniform1f(solid.alpha, 0.3); gl.uniform1f(solid.stripe, 0); gl.uniform1f(solid.mapped, 0);
    for (const body of solids) { if (body.way) body.mesh.load(carry(body.way, frame, part));
      gl.uniform3fv(solid.colour, body.tint); body.mesh.draw(); }
    line.use(); gl.uniformMatrix4fv(line.camera, false, camera);
    gl.uniform2f(line.pixels, canvas.clientWidth, canvas.clientHeight);
    gl.disable(gl.DEPTH_TEST);                   // seen through the rods and volumes they run in
    if (chambers.length) { solid.use();
      for (const body of chambers) { gl.uniform3fv(solid.colour, body.tint); body.mesh.draw(); }
      line.use(); }
    for (const own of lines) { const data = lineOf(own, frame, part);
      gl.uniform3fv(line.colour, rgb(own.colour)); trail.load(data); trail.draw(data.length / 9, gl.TRIANGLES); }
    for (const cable of cables) { const data = cableOf(cable);
      gl.uniform3fv(line.colour, cable.colour); trail.load(data); trail.draw(data.length / 9, gl.TRIANGLES); }
    if (most) { const data = touchOf(Math.min(frame + Math.round(part), still.frames - 1), eye);
      gl.uniform3f(line.colour, 0.84, 0.15, 0.16); trail.load(data); trail.draw(data.length / 9, gl.TRIANGLES);
      document.body.dataset.contacts = data.length / 162; }
    gl.enable(gl.DEPTH_TEST);
    if (still.frames > 1) for (const rod of rods.filter(rod => rod.free)) { const data = trailOf(rod, time, frame);
      gl.uniform3f(line.colour, 0.84, 0.37, 0.0); trail.load(data); trail.draw(data.length / 9, gl.TRIANGLES); }
    gl.depthMask(true); gl.disable(gl.BLEND);
    const tip = rods.length ? rods[rods.length - 1].tip : [0, 1, 2].map(k => volumes[0].volume.now[3 * volumes[0].volume.probe + k]);
    document.body.dataset.tip = JSON.stringify([...tip].map(c => Number(c.toFixed(6))));
  };
}

// ---- the player: time, camera, controls ----------------------------------------------------------------------------
function play(draw) {
  const begin = still.t[0], end = still.t[still.frames - 1], moving = still.frames > 1;
  const speeds = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];
  const fitting = speeds.filter(s => (end - begin) / s >= 1.8).pop() ?? 0.02;
  const state = { time: begin, playing: moving, speed: Math.min(fitting, 1), dirty: true, last: 0, rest: 0 };
  const home = { azimuth: scene.azimuth, elevation: 0.3, zoom: 1, aim: [...still.centre] };
  let camera = structuredClone(home);
  const asked = new URLSearchParams(location.hash.slice(1)).get("t");
  if (asked !== null && Number.isFinite(Number(asked))) { state.time = Math.min(Math.max(Number(asked), begin), end); state.playing = false; }

  const digits = end - begin < 0.1 ? 4 : end - begin < 1 ? 3 : 2;
  const show = () => { $("time").textContent = `${state.time.toFixed(digits)} / ${end.toFixed(digits)} s`;
    $("scrub").value = state.time; document.body.dataset.time = state.time.toFixed(6); };
  const toggle = on => { state.playing = on; state.last = 0; state.dirty = true;
    $("icon").setAttribute("d", on ? "M2 1h4v12H2zM8 1h4v12H8z" : "M3 1l10 6-10 6z"); };
  const distance = () => { const aspect = canvas.width / canvas.height, half = Math.atan(Math.tan(0.25) * Math.min(1, aspect));
    return scene.radius / Math.sin(half) * 0.9 / camera.zoom; };
  const eyeAt = () => { const c = Math.cos(camera.elevation), d = distance();
    return [camera.aim[0] + d * c * Math.cos(camera.azimuth), camera.aim[1] + d * c * Math.sin(camera.azimuth),
      camera.aim[2] + d * Math.sin(camera.elevation)]; };

  function tick(now) {
    if (state.playing) {
      if (state.last) { state.time += state.speed * Math.min(now - state.last, 100) / 1000; state.dirty = true; }
      if (state.time >= end) { state.rest = state.rest || now; state.time = end;     // rest a moment, then from the start
        if (now - state.rest > 900) { state.time = begin; state.rest = 0; } }
      state.last = now;
    }
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const w = Math.max(1, Math.round(canvas.clientWidth * ratio)), h = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; state.dirty = true; }
    if (state.dirty) { draw(state.time, eyeAt(), camera.aim); show(); state.dirty = false; document.body.dataset.state = "ready"; }
    requestAnimationFrame(tick);
  }

  const turn = (dx, dy) => { camera.azimuth -= 0.007 * dx;
    camera.elevation = Math.min(Math.max(camera.elevation + 0.007 * dy, -1.5), 1.5); };
  const move = (dx, dy) => { const eye = eyeAt(), f = unit(sub(eye, camera.aim)), r = unit(cross([0, 0, 1], f)), u = cross(f, r);
    const s = 2 * distance() * Math.tan(0.25) / canvas.clientHeight;
    for (let i = 0; i < 3; i++) camera.aim[i] += s * (dy * u[i] - dx * r[i]); };
  const zoom = factor => { camera.zoom = Math.min(Math.max(camera.zoom * factor, 0.1), 40); state.dirty = true; };
  const fingers = new Map();
  canvas.addEventListener("pointerdown", e => { canvas.setPointerCapture(e.pointerId); fingers.set(e.pointerId, [e.clientX, e.clientY]); });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, e => fingers.delete(e.pointerId));
  canvas.addEventListener("pointermove", e => {
    const before = fingers.get(e.pointerId); if (!before) return;
    const dx = e.clientX - before[0], dy = e.clientY - before[1];
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== e.pointerId)[1], apart = p => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      zoom(apart([e.clientX, e.clientY]) / apart(before)); move(dx / 2, dy / 2);
    } else if (e.shiftKey || e.buttons & 6) move(dx, dy); else turn(dx, dy);
    fingers.set(e.pointerId, [e.clientX, e.clientY]); state.dirty = true;
  });
  canvas.addEventListener("wheel", e => { e.preventDefault(); zoom(Math.exp(-0.0012 * e.deltaY)); }, { passive: false });
  canvas.addEventListener("contextmenu", e => e.preventDefault());
  canvas.addEventListener("dblclick", () => { camera = structuredClone(home); state.dirty = true; });
  const scrub = time => { state.time = Math.min(Math.max(time, begin), end); state.rest = 0; state.dirty = true; };
  $("play").addEventListener("click", () => { if (!state.playing && state.time >= end) scrub(begin); toggle(!state.playing); });
  $("scrub").addEventListener("input", e => { toggle(false); scrub(Number(e.target.value)); });
  $("speed").addEventListener("change", e => { state.speed = Number(e.target.value); });
  document.addEventListener("keydown", e => {
    if (e.target.tagName === "SELECT" || e.target.type === "range" || e.target.tagName === "BUTTON" || !moving) return;
    if (e.key === " ") { e.preventDefault(); toggle(!state.playing); }
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (step) { toggle(false); scrub(state.time + step * (end - begin) / 200); }
  });
  for (const s of speeds) { const option = document.createElement("option"); option.value = s; option.textContent = `${s}×`;
    option.selected = s === state.speed; $("speed").append(option); }
  $("scrub").min = begin; $("scrub").max = end; $("bar").hidden = !moving;
  toggle(state.playing); requestAnimationFrame(tick);
}

$("head").querySelector("h1").textContent = scene.name;
if (scene.rods.length > 1) for (const rod of scene.rods) { const item = document.createElement("span"), dot = document.createElement("i");
  dot.style.background = rod.colour; item.append(dot, rod.name); $("legend").append(item); }
if (scene.scale) { const item = document.createElement("span"), bar = document.createElement("i"), { text, low, high } = scene.scale;
  Object.assign(bar.style, { width: "150px", borderRadius: "3px", margin: "0 8px", background: `linear-gradient(90deg, ${scene.ramp.join(", ")})` });
  item.append(`${text}   ${low}`, bar, high); $("legend").append(item); }
$("note").textContent = `grid ${scene.cellText}\ndrag to turn, shift-drag to move, scroll to zoom`;
$("note").style.whiteSpace = "pre-line";
if (!gl) fail("This browser does not offer WebGL 2, which is needed to show the robot in three dimensions. "
  + "Try a recent Firefox, Chrome, Edge or Safari, or allow graphics acceleration in its settings.");
else try {
  canvas.addEventListener("webglcontextlost", () => {  // browsers draw some 16 pages at once; a long notebook has more
    fail("The browser has stopped drawing this picture, as it does when there are many. Click to draw it again.");
    document.addEventListener("click", () => location.reload(), { once: true });
  });
  play(start());
} catch (error) { fail(`The robot cannot be drawn: ${error.message}`); }
