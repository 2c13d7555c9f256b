'use strict';
const BOX = 210, LINE = 17, HEAD = 26, MAX_LINES = 6;
const COLORS = { ww: 'var(--ww)', wr: 'var(--wr)', rw: 'var(--rw)', process: 'var(--process)',
  realtime: 'var(--realtime)' };

/** A box per transaction on an ellipse, clockwise from the top, and an arrow for each step. */
function drawCycle(steps, target) {
  const n = steps.length;
  const lines = steps.map(step => step.operations.slice(0, MAX_LINES)
    .concat(step.operations.length > MAX_LINES ? [`and ${step.operations.length - MAX_LINES} more`] : []));
  const heights = lines.map(l => HEAD + Math.max(1, l.length) * LINE + 8);
  const tallest = Math.max(...heights);
  const rx = n === 2 ? 230 : Math.max(250, n * 62), ry = n === 2 ? 0 : Math.max(tallest + 26, n * (tallest + 30) / 4.4);
  const angle = i => n === 2 ? Math.PI * (1 - i) : -Math.PI / 2 + 2 * Math.PI * i / n;
  const centers = steps.map((_, i) => ({ x: rx * Math.cos(angle(i)), y: n === 2 ? 0 : ry * Math.sin(angle(i)) }));
  const top = Math.min(...centers.map(c => c.y)) - tallest / 2 - (n === 2 ? 60 : 20);
  const w = 2 * rx + BOX + 40, h = Math.max(...centers.map(c => c.y)) + tallest / 2 + (n === 2 ? 60 : 36) - top;
  centers.forEach(c => { c.x += w / 2; c.y -= top; });
  const svg = draw('svg', { viewBox: `0 0 ${w} ${h}`, width: w, height: h, role: 'img',
    'aria-label': 'cycle ' + steps.map(s => `${s.name} ${s.kind}`).join(' ') + ' ' + steps[0].name });
  const defs = draw('defs', {});
  for (const kind of new Set(steps.map(s => s.kind))) {
    defs.append(draw('marker', { id: `${target.id}-${kind}`, viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 7,
      markerHeight: 7, orient: 'auto' }, draw('path', { d: 'M0 0L10 5L0 10z', style: `fill:${COLORS[kind]}` })));
  }
  svg.append(defs);
  const edges = steps.map((step, i) => drawEdge(svg, target.id, step, centers[i], centers[(i + 1) % n],
    heights[i], heights[(i + 1) % n], n === 2, { x: w / 2, y: -top }));
  steps.forEach((step, i) => svg.append(drawBox(step, lines[i], centers[i], heights[i])));
  edges.forEach(edge => svg.append(edge.pill));
  target.append(svg);
  return edges;
}

function drawBox(step, lines, center, height) {
  const left = center.x - BOX / 2, top = center.y - height / 2;
  const group = draw('g', {}, draw('rect', { class: 'box', x: left, y: top, width: BOX, height, rx: 9 }),
    draw('text', { class: 'name', x: left + 12, y: top + 18 }, step.name),
    draw('text', { class: 'dim', x: left + BOX - 12, y: top + 18, 'text-anchor': 'end' }, `process ${step.process}`));
  lines.forEach((line, i) => group.append(
    draw('text', { x: left + 12, y: top + HEAD + LINE * (i + 1) - 4 }, shorten(line, 26),
      draw('title', {}, line))));
  return group;
}

/** Where the line from the middle of a box towards a point leaves the box. */
function border(center, height, to) {
  const dx = to.x - center.x, dy = to.y - center.y, gap = 5;
  const share = Math.min(dx === 0 ? Infinity : (BOX / 2 + gap) / Math.abs(dx),
    dy === 0 ? Infinity : (height / 2 + gap) / Math.abs(dy));
  return { x: center.x + dx * share, y: center.y + dy * share };
}

function drawEdge(svg, id, step, from, to, fromHeight, toHeight, isPair, middle) {
  const mx = (from.x + to.x) / 2, my = (from.y + to.y) / 2;
  // Two transactions: one arrow above and one below. More: each arrow bends outwards a little.
  const out = Math.hypot(mx - middle.x, my - middle.y) || 1;
  const bend = isPair ? { x: mx, y: my + (from.x < to.x ? -1 : 1) * (fromHeight / 2 + 46) }
    : { x: mx + (mx - middle.x) / out * 26, y: my + (my - middle.y) / out * 26 };
  const start = border(from, fromHeight, bend), end = border(to, toHeight, bend);
  const path = draw('path', { class: 'edge', d: `M${start.x} ${start.y}Q${bend.x} ${bend.y} ${end.x} ${end.y}`,
    style: `stroke:${COLORS[step.kind]}`, 'marker-end': `url(#${id}-${step.kind})` });
  svg.append(path);
  const label = step.kind + (step.key ? ' ' + shorten(step.key, 14) : '');
  const width = label.length * 6.9 + 18;
  const px = (start.x + 2 * bend.x + end.x) / 4, py = (start.y + 2 * bend.y + end.y) / 4;
  const pill = draw('g', { class: 'pill' },
    draw('rect', { x: px - width / 2, y: py - 11, width, height: 22, rx: 11, class: 'kind-' + step.kind }),
    draw('text', { x: px, y: py + 4 }, label));
  return { path, pill };
}

const PILLS = { ww: '#8a4fd3', wr: '#1b7f4d', rw: '#c22f2f', process: '#5f6b7c', realtime: '#b06f00' };
let cycles = 0;
data.cycles.forEach((steps, number) => {
  if (steps.length === 0) {
    return;
  }
  cycles++;
  const target = document.getElementById('g' + number);
  const edges = drawCycle(steps, target);
  edges.forEach((edge, i) => edge.pill.firstChild.style.fill = PILLS[steps[i].kind]);
  const items = target.parentElement.querySelectorAll('ol.steps li');
  items.forEach((item, i) => {
    const light = on => edges.forEach((edge, j) => {
      edge.path.classList.toggle('faded', on && i !== j);
      edge.pill.classList.toggle('faded', on && i !== j);
    });
    item.addEventListener('mouseenter', () => light(true));
    item.addEventListener('mouseleave', () => light(false));
    item.addEventListener('focus', () => light(true));
    item.addEventListener('blur', () => light(false));
  });
});

/** Models in rows, each above all that it implies. */
function drawLattice(models, target) {
  const row = [];
  const rowOf = i => row[i] ??= 1 + Math.max(-1, ...models[i].weaker.map(rowOf));
  models.forEach((_, i) => rowOf(i));
  const rows = [];
  models.forEach((_, i) => (rows[row[i]] ??= []).push(i));
  const place = [], widths = models.map(model => model.name.length * 6.6 + 22);
  const needed = list => list.reduce((sum, i) => sum + widths[i] + 18, 0);
  const w = Math.max(900, ...rows.map(needed));
  const spread = list => {
    const gap = (w - list.reduce((sum, i) => sum + widths[i], 0)) / (list.length + 1);
    let left = 0;
    list.forEach(i => {
      place[i] = left + gap + widths[i] / 2;
      left += gap + widths[i];
    });
  };
  rows.forEach(spread);
  // Stand above the middle of what one implies, then below the middle of what implies one; a few rounds suffice.
  const middle = list => list.length === 0 ? null : list.reduce((sum, j) => sum + place[j], 0) / list.length;
  const stronger = models.map((_, i) => models.map((_, j) => j).filter(j => models[j].weaker.includes(i)));
  for (let round = 0; round < 6; round++) {
    for (const list of rows) {
      const next = new Map(list.map(i => [i, middle(round % 2 === 0 ? models[i].weaker : stronger[i]) ?? place[i]]));
      list.sort((a, b) => next.get(a) - next.get(b));
      spread(list);
    }
  }
  const step = 62, h = rows.length * step + 20;
  const at = i => ({ x: place[i], y: h - 34 - row[i] * step });
  const svg = draw('svg', { viewBox: `0 0 ${w} ${h}`, width: w, height: h, role: 'img', 'aria-label': 'models' });
  models.forEach((model, i) => model.weaker.forEach(j =>
    svg.append(draw('line', { x1: at(i).x, y1: at(i).y, x2: at(j).x, y2: at(j).y }))));
  models.forEach((model, i) => {
    const width = widths[i];
    svg.append(draw('g', { class: (model.out ? 'out' : '') + (model.expected ? ' expected' : '') },
      draw('rect', { x: at(i).x - width / 2, y: at(i).y - 14, width, height: 28, rx: 8 }),
      draw('text', { x: at(i).x, y: at(i).y + 4 }, model.name)));
  });
  target.append(svg);
}
drawLattice(data.models, document.getElementById('lattice'));
document.body.dataset.cycles = String(cycles);
document.body.dataset.ready = 'true';
