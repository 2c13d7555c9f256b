'use strict';
// Drawing. At most once a frame.
let isAsked = false;
function redraw() {
  if (!isAsked) {
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      drawLanes();
      drawOverview();
    });
  }
}

function prepare(target) {
  const ratio = window.devicePixelRatio || 1;
  target.width = Math.round(target.clientWidth * ratio);
  target.height = Math.round(target.clientHeight * ratio);
  const context = target.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, target.clientWidth, target.clientHeight);
  return context;
}

function drawLanes() {
  const c = prepare(canvas), height = canvas.clientHeight, right = canvas.clientWidth;
  state.scroll = Math.max(0, Math.min(state.scroll, lanes.length * LANE + TOP + 12 - height));
  c.font = '12px system-ui, sans-serif';
  c.textBaseline = 'middle';
  const top = Math.max(0, Math.floor(state.scroll / LANE));
  const bottom = Math.min(lanes.length, Math.ceil((state.scroll + height) / LANE));
  let drawn = 0;
  for (let row = top; row < bottom; row++) {
    const y = TOP + row * LANE - state.scroll;
    if (row % 2 === 1) {
      c.fillStyle = colors.soft;
      c.globalAlpha = 0.6;
      c.fillRect(0, y, right, LANE);
      c.globalAlpha = 1;
    }
    drawn += drawLane(c, lanes[row], y);
  }
  drawBreak(c, height);
  drawOrder(c, height);
  // Names of the processes over whatever reaches below them.
  c.fillStyle = colors.bg;
  c.fillRect(0, 0, GUTTER - 6, height);
  c.fillStyle = colors.muted;
  for (let row = top; row < bottom; row++) {
    const others = new Set(lanes[row].map(o => o.process)).size - 1;
    c.fillText(`process ${lanes[row][0].process}${others > 0 ? ' +' + others : ''}`, 14,
      TOP + row * LANE - state.scroll + ABOVE + BAR / 2);
  }
  drawAxis(c, right);
  document.body.dataset.drawn = String(drawn);
}

function firstVisible(lane) {
  let low = 0, high = lane.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (scale(endOf(lane[middle])) < state.from) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function drawLane(c, lane, y) {
  let drawn = 0, covered = -1;
  const right = canvas.clientWidth;
  for (let i = firstVisible(lane); i < lane.length; i++) {
    const o = lane[i], x0 = x(o.call);
    if (x0 > right) {
      break;
    }
    const x1 = Math.min(Math.max(x(endOf(o)), x0 + 2), right + 20);
    const isPlain = o.role === '' && o !== state.selected && !state.matched.has(o);
    if (x1 - covered < 0.6 && isPlain) {
      continue;
    }
    covered = x1;
    drawn++;
    drawBar(c, o, Math.max(x0, GUTTER - 12), x1, y + ABOVE);
  }
  return drawn;
}

function drawBar(c, o, x0, x1, y) {
  const part = o.part >= 0 ? data.parts[o.part] : null;
  const isBeyond = part && part.breaking !== undefined && o.order < 0 && o.role === '' && o.call > part.breakAt;
  const base = o.role === 'breaking' ? 'bad' : o.outcome;
  const fill = colors[base];
  const w = x1 - x0;
  c.globalAlpha = isBeyond ? 0.35 : 1;
  if (o.outcome === 'info' && o.role !== 'breaking') {
    const fade = c.createLinearGradient(x0, 0, x1, 0);
    fade.addColorStop(0, fill);
    fade.addColorStop(Math.min(1, 160 / Math.max(w, 160)), fill + '44');
    fade.addColorStop(1, fill + '18');
    c.fillStyle = fade;
  } else {
    c.fillStyle = fill;
  }
  c.beginPath();
  c.roundRect(x0, y, w, BAR, w > 8 ? 5 : 1);
  c.fill();
  const edge = o === state.selected ? colors.accent : state.matched.has(o) ? colors.hit
    : o.role === 'breaking' ? colors.bad : o.role === 'core' ? colors.core : o.role === 'blocked' ? colors.blocked
    : w > 5 ? colors[o.outcome + '-edge'] : null;
  if (edge) {
    c.strokeStyle = edge;
    c.lineWidth = o === state.selected || o.role || state.matched.has(o) ? 2.5 : 1;
    c.stroke();
  }
  if (w > 26) {
    c.save();
    c.beginPath();
    c.rect(x0 + 3, y, w - 6, BAR);
    c.clip();
    c.fillStyle = o.role === 'breaking' ? colors.bg : colors.ink;
    c.fillText(label(o), x0 + 7, y + BAR / 2 + 0.5);
    c.restore();
  }
  c.globalAlpha = 1;
}

/** The one operation that matters most is always named, however narrow its bar. */
function callout(c, o) {
  const text = label(o), w = c.measureText(text).width + 14, left = x(endOf(o)) + 6;
  if (x(endOf(o)) - x(o.call) > w) {
    return;
  }
  const y = TOP + rowOf.get(o.process) * LANE - state.scroll + ABOVE;
  const place = left + w > canvas.clientWidth ? x(o.call) - w - 6 : left;
  c.fillStyle = colors.bad;
  c.beginPath();
  c.roundRect(place, y, w, BAR, 11);
  c.fill();
  c.fillStyle = colors.bg;
  c.fillText(text, place + 7, y + BAR / 2 + 0.5);
}

function drawBreak(c, height) {
  const part = data.parts[state.part];
  if (part && part.breaking !== undefined) {
    const place = x(part.breakAt);
    c.fillStyle = colors.bad;
    c.globalAlpha = 0.06;
    c.fillRect(place, TOP, canvas.clientWidth, height);
    c.globalAlpha = 1;
    c.fillRect(place - 1, TOP - 6, 2, height);
    const text = 'no order goes on from here';
    const w = c.measureText(text).width + 16;
    const left = Math.max(GUTTER, Math.min(place - w / 2, canvas.clientWidth - w - 6));
    c.beginPath();
    c.roundRect(left, height - 30, w, 22, 11);
    c.fill();
    c.fillStyle = colors.bg;
    c.fillText(text, left + 8, height - 18.5);
    callout(c, operations[part.breaking]);
  }
}

/** The order found: a dot where each operation takes effect, and a line through them for one object. */
function drawOrder(c, height) {
  const orders = state.part >= 0 ? [data.parts[state.part]] : data.parts;
  const lists = orders.map(part => part.order.map(id => operations[id]).filter(o => o.point >= 0 &&
    scale(o.point) >= state.from && scale(o.point) <= state.to));
  const total = lists.reduce((sum, list) => sum + list.length, 0);
  if (total > MAX_POINTS) {
    return;
  }
  c.save();
  c.beginPath();
  c.rect(GUTTER - 6, TOP - 4, canvas.clientWidth, height);
  c.clip();
  const yOf = o => TOP + rowOf.get(o.process) * LANE - state.scroll + DOT;
  for (const list of lists) {
    if (orders.length === 1) {
      c.strokeStyle = colors.path;
      c.globalAlpha = 0.45;
      c.lineWidth = 1.4;
      c.beginPath();
      list.forEach((o, i) => i === 0 ? c.moveTo(x(o.point), yOf(o)) : c.lineTo(x(o.point), yOf(o)));
      c.stroke();
      c.globalAlpha = 1;
    }
    for (const o of list) {
      const numbered = total <= MAX_NUMBERS && orders.length === 1;
      c.fillStyle = colors.path;
      c.beginPath();
      const half = !numbered ? (total > 200 ? 2 : 3.5) : o.order < 99 ? 7.5 : 11;
      c.roundRect(x(o.point) - half, yOf(o) - Math.min(half, 7.5), 2 * half, 2 * Math.min(half, 7.5), 7.5);
      c.fill();
      if (numbered) {
        c.fillStyle = colors.panel;
        c.font = '600 9px system-ui, sans-serif';
        c.textAlign = 'center';
        c.fillText(String(o.order + 1), x(o.point), yOf(o) + 0.5);
        c.textAlign = 'left';
        c.font = '12px system-ui, sans-serif';
      }
    }
  }
  c.restore();
}

function drawAxis(c, right) {
  c.fillStyle = colors.bg;
  c.fillRect(0, 0, right, TOP - 4);
  c.fillStyle = colors.muted;
  c.strokeStyle = colors.line;
  c.fillText(state.byTime ? 'time' : 'event', 14, 13);
  const span = state.to - state.from;
  const rough = span / Math.max(2, width() / 110);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = Math.max(state.byTime ? 1 : 1, [1, 2, 5, 10].map(n => n * power).find(n => n >= rough));
  for (let at = Math.ceil(state.from / step) * step; at <= state.to; at += step) {
    const place = GUTTER + (at - state.from) / span * width();
    c.beginPath();
    c.moveTo(place, TOP - 8);
    c.lineTo(place, TOP - 4);
    c.stroke();
    c.fillText(state.byTime ? inTime(at, step) : at.toLocaleString('en'), place - 8, 13);
  }
  c.beginPath();
  c.moveTo(GUTTER - 6, TOP - 4);
  c.lineTo(right, TOP - 4);
  c.stroke();
}

function inTime(ns, step) {
  const unit = step >= 1e9 ? [1e9, 's'] : step >= 1e6 ? [1e6, 'ms'] : step >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  return `${Math.round(ns / unit[0]).toLocaleString('en')} ${unit[1]}`;
}

function drawOverview() {
  const c = prepare(overview), w = overview.clientWidth - GUTTER - 8, h = overview.clientHeight;
  const bins = new Uint32Array(Math.max(1, w));
  for (const o of shown) {
    bins[Math.min(w - 1, Math.floor(scale(o.call) / limit() * w))]++;
  }
  const most = bins.reduce((a, b) => Math.max(a, b), 1);
  c.fillStyle = colors.ok;
  bins.forEach((n, i) => c.fillRect(GUTTER + i, h - 6 - n / most * (h - 14), 1, n / most * (h - 14)));
  for (const part of data.parts) {
    if (part.breakAt !== undefined && (state.part < 0 || data.parts[state.part] === part)) {
      c.fillStyle = colors.bad;
      c.fillRect(GUTTER + scale(part.breakAt) / limit() * w - 1, 2, 2, h - 4);
    }
  }
  c.fillStyle = colors.hit;
  for (const o of state.matches.slice(0, 5000)) {
    c.fillRect(GUTTER + scale(o.call) / limit() * w, h - 5, 2, 4);
  }
  c.strokeStyle = colors.accent;
  c.lineWidth = 2;
  c.strokeRect(GUTTER + state.from / limit() * w, 2, Math.max(3, (state.to - state.from) / limit() * w), h - 4);
  c.fillStyle = colors.muted;
  c.font = '12px system-ui, sans-serif';
  c.fillText('overview', 14, h / 2 + 4);
}
