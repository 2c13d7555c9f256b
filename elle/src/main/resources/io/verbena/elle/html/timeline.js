'use strict';
// Operations are laid out by position (the number of an event); a scale turns positions into places on the screen.
const LANE = 42, BAR = 22, ABOVE = 5, DOT = 30, TOP = 30, GUTTER = 112;
const MAX_POINTS = 700, MAX_NUMBERS = 90, MAX_LISTED = 200, BEFORE_BREAK = 60;

const operations = data.operations.map((o, id) => ({
  id, process: o[0], call: o[1], end: o[2], outcome: o[3], part: o[4], callNs: o[5], endNs: o[6],
  f: o[7], key: o[8], input: o[9], result: o[10], line: o[11], role: '', order: -1, point: -1, until: 0,
}));
const lastPosition = operations.reduce((last, o) => Math.max(last, o.call, o.end), 0) + 1;
const callOf = o => [o.f, o.key, o.input].filter(word => word !== '').join(' ');
const words = o => `${callOf(o)} → ${o.result}`;
/** On a bar the key is left out where it is the same everywhere. */
const label = o => (state.part >= 0 || data.parts.length === 1 ? [o.f, o.input].filter(word => word !== '').join(' ')
  : callOf(o)) + ` → ${o.result}`;
const element = id => document.getElementById(id);
const canvas = element('lanes'), overview = element('overview'), tip = element('tip');
const hasTimes = operations.length > 0 &&
  operations.every(o => o.callNs !== null && (o.end < 0 || o.endNs !== null));

/**
 * A lane per process; but a process that begins when another has ended in an unknown outcome goes on in its lane, as
 * clients do that take a new number then.
 */
const laneOf = new Map();
const lastOfLane = [];
for (const o of operations) {
  if (!laneOf.has(o.process)) {
    const left = lastOfLane.findIndex(last => last.outcome === 'info' && last.end >= 0 && last.end < o.call);
    laneOf.set(o.process, left >= 0 ? left : lastOfLane.length);
  }
  lastOfLane[laneOf.get(o.process)] = o;
}

// Where in time each position lies, for the scale by time.
const timeOf = new Float64Array(lastPosition + 1);
if (hasTimes) {
  const first = operations.reduce((least, o) => Math.min(least, o.callNs), Infinity);
  for (const o of operations) {
    timeOf[o.call] = o.callNs - first;
    if (o.end >= 0) {
      timeOf[o.end] = o.endNs - first;
    }
  }
  for (let i = 1; i < timeOf.length; i++) {
    timeOf[i] = Math.max(timeOf[i], timeOf[i - 1]);
  }
}

// The points at which operations take effect: as many between two events as the order puts there.
data.parts.forEach((part, index) => {
  let base = 0, group = [];
  const place = () => group.forEach((o, i) => { o.point = base + (i + 1) / (group.length + 1); });
  part.order.forEach((id, number) => {
    const o = operations[id];
    o.order = number;
    o.part = index;
    if (o.call > base) {
      place();
      group = [];
      base = o.call;
    }
    group.push(o);
  });
  place();
  if (part.breaking !== undefined) {
    part.core.forEach(id => { operations[id].role = 'core'; });
    part.blocked.forEach(([id, reason]) => { operations[id].role = 'blocked'; operations[id].reason = reason; });
    operations[part.breaking].role = 'breaking';
    part.breakAt = operations[part.breaking].end < 0 ? lastPosition : operations[part.breaking].end;
  }
});

const state = { from: 0, to: lastPosition, scroll: 0, byTime: false, part: -1, selected: null, hovered: null,
  matches: [], match: -1, matched: new Set() };
let shown = [], lanes = [], rowOf = new Map(), colors = {};

function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['bg', 'panel', 'ink', 'muted', 'line', 'soft', 'ok', 'ok-edge', 'info', 'info-edge', 'fail',
    'fail-edge', 'bad', 'bad-bg', 'core', 'blocked', 'path', 'hit', 'accent', 'good']) {
    colors[name] = style.getPropertyValue('--' + name).trim();
  }
}

const scale = position => {
  if (!state.byTime) {
    return position;
  }
  const low = Math.max(0, Math.min(timeOf.length - 1, Math.floor(position)));
  const high = Math.min(timeOf.length - 1, low + 1);
  return timeOf[low] + (timeOf[high] - timeOf[low]) * (position - low);
};
const limit = () => Math.max(scale(lastPosition), 1e-9);
const width = () => Math.max(50, canvas.clientWidth - GUTTER);
const x = position => GUTTER + (scale(position) - state.from) / (state.to - state.from) * width();
const endOf = o => o.outcome === 'info' || o.end < 0 ? o.until : o.end;

function choose(part) {
  state.part = part;
  shown = operations.filter(o => part < 0 || o.part === part);
  layOut();
  state.scroll = 0;
  element('object').value = String(part);
  element('break').hidden = part < 0 || data.parts[part].breaking === undefined;
  document.body.dataset.bars = String(shown.length);
  document.body.dataset.lanes = String(lanes.length);
  search();
  tell();
}

/** Only the lanes that have something to show. */
function layOut() {
  const byLane = new Map();
  for (const o of shown) {
    const lane = laneOf.get(o.process);
    if (!byLane.has(lane)) {
      byLane.set(lane, []);
    }
    byLane.get(lane).push(o);
  }
  const order = [...byLane.keys()].sort((a, b) => a - b);
  lanes = order.map(lane => byLane.get(lane));
  const row = new Map(order.map((lane, i) => [lane, i]));
  rowOf = new Map([...laneOf].map(([process, lane]) => [process, row.get(lane)]));
  // A bar of unknown outcome reaches to the next one in its lane, or for ever.
  for (const lane of lanes) {
    lane.forEach((o, i) => { o.until = i + 1 < lane.length ? lane[i + 1].call - 0.3 : lastPosition; });
  }
}

function show(from, to) {
  const least = state.byTime ? limit() / 1e7 : 2;
  let span = Math.max(least, Math.min(limit(), to - from));
  state.from = Math.max(0, Math.min(limit() - span, from));
  state.to = state.from + span;
  redraw();
}

function zoom(factor, at) {
  const middle = at === undefined ? (state.from + state.to) / 2 : at;
  show(middle - (middle - state.from) * factor, middle + (state.to - middle) * factor);
}

function showBreak() {
  const part = data.parts[state.part];
  if (!part || part.breaking === undefined) {
    return show(0, limit());
  }
  // The contradiction may reach far back, but what is near enough to be read is more use.
  const first = Math.min(...[part.breaking, ...part.core].map(id => operations[id].call)), last = part.breakAt;
  const ahead = Math.max(6, Math.min(BEFORE_BREAK, last - first)) * operations.length / Math.max(1, shown.length);
  show(scale(Math.max(0, last - ahead)), scale(Math.min(lastPosition, last + ahead * 0.25)));
  state.scroll = Math.max(0, rowOf.get(operations[part.breaking].process) * LANE - canvas.clientHeight / 2);
  redraw();
}

function reveal(o) {
  if (state.part >= 0 && o.part !== state.part) {
    choose(o.part);
  }
  const left = scale(o.call), right = scale(o.end < 0 ? o.call + 1 : o.end);
  if (left < state.from || right > state.to || x(o.end < 0 ? o.call + 1 : o.end) - x(o.call) < 14) {
    const span = Math.max((right - left) * 6, Math.min(state.to - state.from, state.byTime ? limit() / 50 : 60));
    show((left + right - span) / 2, (left + right + span) / 2);
  }
  const y = rowOf.get(o.process) * LANE;
  if (y < state.scroll || y + LANE > state.scroll + canvas.clientHeight - TOP) {
    state.scroll = Math.max(0, y - canvas.clientHeight / 2);
  }
  select(o);
}

function select(o) {
  state.selected = o;
  const box = element('details');
  box.replaceChildren(o ? describe(o) : make('span', { class: 'muted' },
    'Point at an operation, click it, or press n to go from one to the next.'));
  document.body.dataset.selected = o ? String(o.id) : '';
  redraw();
}

function describe(o) {
  const list = make('dl', {});
  const row = (name, value) => list.append(make('dt', {}, name), make('dd', {}, value));
  row('call', make('code', {}, callOf(o)));
  row('result', make('code', {}, o.result));
  row('process', String(o.process));
  if (data.parts.length > 1 && o.part >= 0) {
    row('object', make('code', {}, data.parts[o.part].name));
  }
  row('events', o.end < 0 ? `${o.call} to no end` : `${o.call} to ${o.end}`);
  if (o.callNs !== null) {
    row('took', o.endNs === null ? 'unknown' : `${((o.endNs - o.callNs) / 1e6).toLocaleString('en')} ms`);
  }
  row('in order', o.order >= 0 ? `number ${o.order + 1}` : o.outcome === 'fail' ? 'never happened' : 'no place');
  if (o.line > 0) {
    row('line', String(o.line));
  }
  if (o.role === 'breaking') {
    row('here', 'no order explains this result');
  }
  if (o.reason) {
    row('cannot follow', o.reason);
  }
  return list;
}

function search() {
  const wanted = element('search').value.trim().toLowerCase();
  const text = o => `process ${o.process} ${words(o)}`.toLowerCase();
  state.matches = wanted === '' ? [] : shown.filter(o => text(o).includes(wanted));
  state.matched = new Set(state.matches);
  state.match = -1;
  element('matches').textContent = wanted === '' ? '' : `${state.matches.length} found`;
  document.body.dataset.matches = String(state.matches.length);
  redraw();
}

function goToMatch(step) {
  if (state.matches.length > 0) {
    state.match = (state.match + step + state.matches.length) % state.matches.length;
    element('matches').textContent = `${state.match + 1} of ${state.matches.length}`;
    reveal(state.matches[state.match]);
  }
}
