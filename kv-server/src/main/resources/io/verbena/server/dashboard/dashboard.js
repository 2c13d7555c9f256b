'use strict';

// Everything that comes from the cluster gets into the page as text, never as markup.

const POLL_MS = 2000;
const TIMEOUT_MS = 10000;
const HISTORY_MS = 15 * 60 * 1000;
const LEAST_SPAN_MS = 60 * 1000;
// Longer without a sample: the curve has a gap there.
const GAP_MS = 4 * POLL_MS;
const FAILED_ANSWERS = new Set(['timed_out', 'outcome_unknown', 'unreachable', 'no_memory', 'table_full', 'corrupt']);
// They read many slots each, and counting tables for this page is one of them.
const LONG_KINDS = new Set(['scan', 'count']);
const MOST_LINES = 6;
const MOST_NODES_ON_MAP = 48;
const MOST_LIMITS = 14;
const MOST_EVENTS = 8;
// As status says "behind".
const MANY_ENTRIES = 1000;

const history = [];
// By process, or node of this one: what it had counted when it answered last.
const baselines = new Map();
const tableBaselines = new Map();
// A process that does not answer any more is still known by the node that it was.
const nodeIds = new Map();
let latest = null;
let failedSince = 0;

const $ = (id) => document.getElementById(id);

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) {
    made.className = className;
  }
  if (text !== undefined && text !== null) {
    made.textContent = String(text);
  }
  return made;
}

function drawn(name, attributes, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  if (text !== undefined) {
    made.textContent = text;
  }
  return made;
}

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});

function count(value) {
  return value === undefined || value === null ? '–' : whole.format(value);
}

function rate(value) {
  if (value === undefined || value === null) {
    return '–';
  }
  return value >= 100 || value === 0 ? whole.format(value) : value.toPrecision(2);
}

function short(value) {
  if (value >= 1e9) {
    return trimmed(value / 1e9) + ' G';
  }
  if (value >= 1e6) {
    return trimmed(value / 1e6) + ' M';
  }
  return value >= 1e4 ? trimmed(value / 1e3) + ' k' : trimmed(value);
}

function trimmed(value) {
  return String(Number(value.toPrecision(3)));
}

function duration(us) {
  if (us === undefined || us === null) {
    return '–';
  }
  if (us >= 1e6) {
    return trimmed(us / 1e6) + ' s';
  }
  return us >= 1e3 ? trimmed(us / 1e3) + ' ms' : trimmed(us) + ' us';
}

function bytes(value) {
  if (value === undefined || value === null) {
    return '–';
  }
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let scaled = value;
  while (scaled >= 1024 && unit < units.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return trimmed(scaled) + ' ' + units[unit];
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

// ---- Samples

/** Nodes of an embedded cluster have one process. */
function keyOf(process) {
  return process.pid + ' ' + process.name;
}

function healthOf(process) {
  return process.health || {};
}

function ofRole(status, role) {
  return status.processes.filter((process) => healthOf(process).role === role);
}

/** Of a group the member that leads: only it knows nodes and epochs. */
function leads(process) {
  return healthOf(process).epoch !== undefined;
}

/** The part of a distribution below which a fraction lies: bucket i ends at 2^i us. */
function percentile(counts, fraction) {
  const total = sum(counts);
  if (total === 0) {
    return null;
  }
  let below = 0;
  for (let i = 0; i < counts.length; i++) {
    if (below + counts[i] >= fraction * total && counts[i] > 0) {
      const share = Math.max(0, (fraction * total - below) / counts[i]);
      return Math.pow(2, i - 1 + share);
    }
    below += counts[i];
  }
  return null;
}

function minus(now, before) {
  return now.map((value, i) => Math.max(0, value - (before[i] || 0)));
}

/** What changed since each compute node answered last, as rates. */
function sample(status) {
  const kinds = {};
  let failed = 0;
  let seen = 0;
  const present = new Set();
  for (const process of ofRole(status, 'compute-node')) {
    const figures = healthOf(process).kinds || {};
    const before = baselines.get(keyOf(process));
    present.add(keyOf(process));
    baselines.set(keyOf(process), {timeMs: status.time_ms, figures});
    if (!before || status.time_ms <= before.timeMs) {
      continue;
    }
    seen++;
    const seconds = (status.time_ms - before.timeMs) / 1000;
    for (const [kind, now] of Object.entries(figures)) {
      const then = before.figures[kind] || {answers: {}, durations: []};
      const of = kinds[kind] || (kinds[kind] = {rate: 0, failed: 0, durations: []});
      for (const [answer, number] of Object.entries(now.answers)) {
        const perSecond = Math.max(0, number - (then.answers[answer] || 0)) / seconds;
        of.rate += perSecond;
        if (FAILED_ANSWERS.has(answer)) {
          of.failed += perSecond;
          failed += perSecond;
        }
      }
      minus(now.durations, then.durations).forEach((number, i) => {
        of.durations[i] = (of.durations[i] || 0) + number;
      });
    }
  }
  for (const key of baselines.keys()) {
    if (!present.has(key) && !status.processes.some((process) => keyOf(process) === key && process.live)) {
      baselines.delete(key);
    }
  }
  if (seen === 0) {
    return null;
  }
  const all = [];
  for (const of of Object.entries(kinds).filter((each) => !LONG_KINDS.has(each[0])).map((each) => each[1])) {
    for (let i = 0; i < of.durations.length; i++) {
      all[i] = (all[i] || 0) + (of.durations[i] || 0);
    }
  }
  const durations = Array.from(all, (value) => value || 0);
  return {timeMs: status.time_ms, kinds, failed,
    total: sum(Object.entries(kinds).filter((each) => each[0] !== 'count').map((each) => each[1].rate)),
    p50: percentile(durations, 0.5), p99: percentile(durations, 0.99)};
}

function note(status) {
  const last = history[history.length - 1];
  if (latest && latest.time_ms === status.time_ms) {
    return;
  }
  const point = sample(status);
  if (point && (!last || point.timeMs > last.timeMs)) {
    history.push(point);
  }
  while (history.length > 0 && history[0].timeMs < status.time_ms - HISTORY_MS) {
    history.shift();
  }
  for (const table of status.tables || []) {
    const of = tableBaselines.get(table.table) || {};
    if (of.timeMs !== status.tables_time_ms) {
      const seconds = (status.tables_time_ms - of.timeMs) / 1000;
      tableBaselines.set(table.table, {timeMs: status.tables_time_ms, records: table.records,
        rate: of.timeMs === undefined ? null : (table.records - of.records) / seconds});
    }
  }
}

// ---- Parts of the page

function fillTable(id, headers, rows, empty) {
  const table = $(id);
  const head = element('thead');
  const titles = element('tr');
  headers.forEach((header) => {
    const cell = element('th', header.left ? 'left' : '', header.text || header);
    cell.scope = 'col';
    titles.append(cell);
  });
  head.append(titles);
  const body = element('tbody');
  for (const row of rows) {
    const line = element('tr');
    row.forEach((value) => {
      const cell = element('td');
      if (value instanceof Node) {
        cell.append(value);
      } else if (value && typeof value === 'object') {
        cell.className = value.className;
        cell.append(value.node || value.text);
      } else {
        cell.textContent = value;
      }
      line.append(cell);
    });
    body.append(line);
  }
  if (rows.length === 0) {
    const line = element('tr');
    const cell = element('td', 'empty', empty);
    cell.colSpan = headers.length;
    line.append(cell);
    body.append(line);
  }
  table.replaceChildren(head, body);
}

function smallBar(share, isNear) {
  const whole = element('span');
  const bar = element('span', 'bar small');
  const part = element('span', isNear ? 'near' : 'f1');
  part.style.width = Math.min(100, Math.max(0, 100 * share)) + '%';
  bar.append(part);
  bar.setAttribute('aria-hidden', 'true');
  whole.append(bar, (100 * share).toFixed(1) + ' %');
  return whole;
}

function showState() {
  const badge = $('state');
  const show = (text, className) => {
    // It is read out when it changes, and only then.
    if (badge.textContent !== text) {
      badge.textContent = text;
      badge.className = 'badge ' + className;
      document.title = text === 'ready' ? 'Verbena' : text + ' · Verbena';
    }
  };
  if (failedSince > 0) {
    show('no answer', 'bad');
    $('updated').textContent = (latest && latest.embedded ? 'the process' : 'the meta server') + ' has not answered this page since ' +
      new Date(failedSince).toLocaleTimeString() + '; figures are of before';
  } else if (latest) {
    const bad = latest.errors.length > 0 || !latest.ready;
    show(bad ? 'needs attention' : 'ready', bad ? 'bad' : 'good');
    $('updated').textContent = new Date(latest.time_ms).toLocaleTimeString();
  }
}

function showFaults(status) {
  const faults = [...status.errors.map((text) => ({text, kind: 'error'})),
    ...status.warnings.map((text) => ({text, kind: 'warning'}))];
  const key = JSON.stringify(faults);
  const list = $('faults');
  if (list.dataset.key !== key) {
    list.dataset.key = key;
    list.replaceChildren(...faults.map((fault) => element('li', fault.kind, fault.kind + ': ' + fault.text)));
  }
  $('no-faults').hidden = faults.length > 0;
  $('attention').className = status.errors.length > 0 ? 'bad' : '';
}

function tile(label, value) {
  const made = element('div', 'tile');
  made.append(element('div', 'value', value), element('div', 'label', label));
  return made;
}

function showTiles(status) {
  const point = history[history.length - 1];
  const meta = healthOf(ofRole(status, 'meta-server').find(leads) || {});
  const memory = ofRole(status, 'memory-node').map(healthOf);
  const compute = ofRole(status, 'compute-node').map(healthOf);
  const records = status.tables ? sum(status.tables.map((table) => table.records)) : null;
  $('tiles').replaceChildren(
    tile('operations a second', point ? rate(point.total) : '–'),
    tile('median', point ? duration(point.p50) : '–'),
    tile('99th percentile', point ? duration(point.p99) : '–'),
    tile('failed a second', point ? rate(point.failed) : '–'),
    tile('records', count(records)),
    tile('compute nodes', count(meta.compute_nodes)),
    tile('memory nodes', count(meta.memory_nodes)),
    tile('memory free', memory.length ? bytes(sum(memory.map((each) => each.free_bytes || 0))) : '–'),
    tile('clients', compute.some((each) => each.clients !== undefined) ? count(sum(compute.map((each) => each.clients || 0))) : '–'),
    tile('epoch, and safe epoch', meta.epoch === undefined ? '–' : count(meta.epoch) + ', ' + count(meta.safe_epoch)));
}

function legendEntry(style, text) {
  const entry = element('li');
  const svg = drawn('svg', {viewBox: '0 0 26 10', 'aria-hidden': 'true'});
  svg.append(drawn('line', {x1: 0, y1: 5, x2: 26, y2: 5, class: style}));
  entry.append(svg, text);
  return entry;
}

function niceTicks(most) {
  const step = Math.pow(10, Math.floor(Math.log10(most / 4)));
  const factor = [1, 2, 2.5, 5, 10].find((each) => each * step * 4 >= most) || 10;
  return [0, 1, 2, 3, 4].map((i) => i * step * factor);
}

function decades(least, most) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power++) {
    ticks.push(Math.pow(10, power));
  }
  return ticks;
}

/** Lines over time. Each series: name, style, value of a point or null. */
function drawChart(id, title, series, isLogarithmic, format) {
  const holder = $(id);
  const width = Math.max(280, Math.round(holder.clientWidth));
  const height = 200;
  const left = 58;
  const right = 10;
  const top = 8;
  const bottom = 24;
  const svg = drawn('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img'});
  const now = latest ? latest.time_ms : Date.now();
  const values = history.flatMap((point) => series.map((each) => each.value(point))).filter((value) => value > 0);
  const most = values.length ? Math.max(...values) : 1;
  const ticks = isLogarithmic ? decades(values.length ? Math.min(...values) : 1, Math.max(most, 10)) :
    niceTicks(Math.max(most, 4));
  const span = Math.min(HISTORY_MS, Math.max(LEAST_SPAN_MS, history.length ? now - history[0].timeMs : 0));
  const x = (timeMs) => left + (width - left - right) * (1 - (now - timeMs) / span);
  const scale = isLogarithmic ? Math.log10 : (value) => value;
  const low = scale(ticks[0]);
  const high = scale(ticks[ticks.length - 1]);
  const y = (value) => top + (height - top - bottom) * (1 - (scale(value) - low) / (high - low));
  for (const tick of ticks) {
    svg.append(drawn('line', {x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: 'grid'}));
    svg.append(drawn('text', {x: left - 6, y: y(tick) + 4, 'text-anchor': 'end'}, format(tick)));
  }
  for (const part of [1, 0.5, 0]) {
    const text = part === 0 ? 'now' : span * part >= 120000 ? `${trimmed(span * part / 60000)} min ago` :
      `${Math.round(span * part / 1000)} s ago`;
    svg.append(drawn('text', {x: x(now - part * span), y: height - 6,
      'text-anchor': part === 1 ? 'start' : part === 0 ? 'end' : 'middle'}, text));
  }
  for (const each of series) {
    let path = '';
    let before = null;
    for (const point of history) {
      const value = each.value(point);
      if (value === null || value === undefined || isLogarithmic && value <= 0 || point.timeMs < now - span) {
        before = null;
        continue;
      }
      const joins = before !== null && point.timeMs - before <= GAP_MS;
      const spot = `${x(point.timeMs).toFixed(1)},${y(value).toFixed(1)}`;
      // A point alone is a short dash, so that it is seen.
      path += joins ? `L${spot}` : `M${spot}h3`;
      before = point.timeMs;
    }
    svg.append(drawn('path', {d: path || 'M0,0', class: each.style}));
  }
  const last = history[history.length - 1];
  svg.setAttribute('aria-label', title + ', now: ' + (last ?
    series.map((each) => each.name + ' ' + format(each.value(last) || 0)).join(', ') : 'not known yet'));
  holder.replaceChildren(svg);
  $(id + '-legend').replaceChildren(...series.map((each) => legendEntry(each.style, each.name)));
}

function showCharts() {
  const totals = new Map();
  for (const point of history) {
    for (const [kind, of] of Object.entries(point.kinds)) {
      totals.set(kind, (totals.get(kind) || 0) + of.rate);
    }
  }
  // The commonest have lines of their own, in an order that does not change with each poll.
  const shown = [...totals.entries()].filter((each) => each[1] > 0 && each[0] !== 'count').sort((a, b) => b[1] - a[1])
    .slice(0, MOST_LINES - 1).map((each) => each[0]).sort();
  const series = shown.map((kind, i) => ({name: kind.replaceAll('_', ' '), style: 's' + (i + 1),
    value: (point) => point.kinds[kind] ? point.kinds[kind].rate : 0}));
  if (shown.length !== 1) {
    // First, so that the others are drawn above it.
    series.unshift({name: 'all', style: 's6', value: (point) => point.total});
  }
  drawChart('throughput', 'Operations a second', series, false, (value) => short(value));
  drawChart('latency', 'Time at the compute nodes', [
    {name: 'median', style: 's1', value: (point) => point.p50},
    {name: '99th percentile', style: 's2', value: (point) => point.p99}], true, duration);
}

function showKinds(status) {
  const point = history[history.length - 1];
  const totals = new Map();
  for (const process of ofRole(status, 'compute-node')) {
    for (const [kind, figures] of Object.entries(healthOf(process).kinds || {})) {
      const of = totals.get(kind) || {number: 0, failed: 0, totalUs: 0, begun: 0};
      for (const [answer, number] of Object.entries(figures.answers)) {
        of.number += number;
        of.failed += FAILED_ANSWERS.has(answer) ? number : 0;
      }
      of.totalUs += figures.total_us;
      of.begun += sum(figures.durations);
      totals.set(kind, of);
    }
  }
  fillTable('kinds', ['kind', 'a second', 'median', '99th percentile', 'failed a second', 'so far', 'failed so far',
    'mean so far'], [...totals.entries()].map(([kind, of]) => {
    const now = point && point.kinds[kind];
    const durations = now ? Array.from(now.durations, (value) => value || 0) : [];
    return [kind.replaceAll('_', ' '), now ? rate(now.rate) : '–', duration(percentile(durations, 0.5)),
      duration(percentile(durations, 0.99)),
      {text: now ? rate(now.failed) : '–', className: now && now.failed > 0 ? 'bad' : ''}, count(of.number),
      {text: count(of.failed), className: of.failed > 0 ? 'warn' : ''}, duration(of.begun ? of.totalUs / of.begun : null)];
  }), 'no operation so far' + (status.embedded ? '' : ': ./verbena put hello world'));
}

/** The members: processes of this host, and nodes that only the meta server knows. */
function members(status) {
  const found = status.processes.map((process) => {
    const health = healthOf(process);
    const role = health.role || (process.name.startsWith('meta') ? 'meta-server' :
      process.name.startsWith('memory') ? 'memory-node' : 'compute-node');
    const trouble = !process.live ? 'dead' : !process.health ? 'silent' : !health.ready ? 'not ready' : '';
    if (health.node_id) {
      nodeIds.set(keyOf(process), health.node_id);
    }
    return {name: process.name, role, leads: leads(process), nodeId: nodeIds.get(keyOf(process)) || 0, pid: process.pid, health, trouble,
      state: trouble || 'ready', transports: health.node_transports || {}, lease: null, incarnation: health.incarnation};
  });
  const known = found.flatMap((member) => member.health.nodes || []);
  for (const node of known) {
    const own = found.find((member) => member.nodeId === node.node_id);
    if (own) {
      own.lease = node.state === 'LIVE' ? node.lease_left_ms : null;
    } else if (node.state !== 'LEFT') {
      found.push({name: 'node ' + node.node_id, role: node.role, nodeId: node.node_id, pid: null, health: {},
        trouble: node.state === 'LIVE' ? '' : node.state.toLowerCase(), state: node.state.toLowerCase(),
        transports: {}, lease: node.lease_left_ms, incarnation: node.incarnation, isElsewhere: true});
    }
  }
  return found;
}

/** Each pair once: what either of the two says of the way to the other. */
function ways(all) {
  const found = new Map();
  for (const from of all) {
    for (const [peer, transport] of Object.entries(from.transports)) {
      const to = all.find((member) => peer === 'meta-server' ? member.role === 'meta-server' && member.leads :
        member.nodeId > 0 && 'node ' + member.nodeId === peer);
      if (to && to !== from) {
        const key = [from.name, to.name].sort().join('\n');
        if (!found.has(key)) {
          found.set(key, {from, to, transport});
        }
      }
    }
  }
  return [...found.values()];
}

function showMap(status) {
  const all = members(status);
  const edges = ways(all);
  const transports = [...new Set(edges.map((edge) => edge.transport))].sort();
  const style = (transport) => 's' + (1 + transports.indexOf(transport) % MOST_LINES);
  const holder = $('map');
  if (all.length > MOST_NODES_ON_MAP) {
    holder.replaceChildren(element('p', 'note', `${all.length} nodes are too many for a drawing: see the table.`));
  } else {
    holder.replaceChildren(mapOf(all, edges, style, Math.max(280, Math.round(holder.clientWidth))));
  }
  $('map-legend').replaceChildren(...transports.map((transport) => legendEntry(style(transport),
    `${transport} (${edges.filter((edge) => edge.transport === transport).length})`)));
  fillTable('reach', ['from', ...['to', 'by'].map((text) => ({text, left: true}))], all.flatMap((member) =>
    Object.entries(member.transports).map(([peer, transport]) => {
      const to = all.find((each) => each.nodeId > 0 && 'node ' + each.nodeId === peer);
      return [member.name, {text: to ? to.name : peer, className: 'left'}, {text: transport, className: 'left'}];
    })), 'no connections between nodes');
}

function mapOf(all, edges, style, width) {
  const boxWidth = 104;
  const boxHeight = 40;
  const perRow = Math.max(1, Math.floor(width / (boxWidth + 8)));
  const places = new Map();
  let y = 4;
  for (const role of ['compute-node', 'meta-server', 'memory-node']) {
    const ofThis = all.filter((member) => member.role === role);
    const inRow = role === 'meta-server' ? 1 : perRow;
    for (let begin = 0; begin < ofThis.length; begin += inRow) {
      const row = ofThis.slice(begin, begin + inRow);
      row.forEach((member, i) => {
        // Meta servers stand at the side, one below the other: ways between the others pass them by.
        const centre = role === 'meta-server' && all.length > 2 ? width - boxWidth / 2 - 4 :
          (i + 0.5) * (width - (width > 520 ? boxWidth + 40 : 0)) / row.length;
        places.set(member, {x: centre, y});
      });
      y += boxHeight + 12;
    }
    y += ofThis.length > 0 ? 34 : 0;
  }
  const height = Math.max(60, y - 42);
  const svg = drawn('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': `${all.length} members, ${edges.length} connected pairs; the table below says the same`});
  for (const edge of edges) {
    const ends = [places.get(edge.from), places.get(edge.to)].sort((a, b) => a.y - b.y);
    const beside = ends[0].y === ends[1].y;
    svg.append(drawn('line', {x1: ends[0].x, y1: ends[0].y + (beside ? boxHeight / 2 : boxHeight), x2: ends[1].x,
      y2: ends[1].y + (beside ? boxHeight / 2 : 0), class: style(edge.transport)}));
  }
  for (const [member, place] of places) {
    const group = drawn('g', {class: 'node ' + (member.trouble ? 'bad' : '')});
    group.append(drawn('rect', {x: place.x - boxWidth / 2, y: place.y, width: boxWidth, height: boxHeight, rx: 6}));
    group.append(drawn('text', {x: place.x, y: place.y + 17}, member.name));
    group.append(drawn('text', {x: place.x, y: place.y + 32, class: 'sub'},
      member.trouble || (member.isElsewhere ? 'no figures' : member.nodeId ? 'node ' + member.nodeId :
        member.health.group_member ? (member.leads ? 'leads' : 'follows') : 'ready')));
    group.append(drawn('title', {}, member.name + ': ' + member.state));
    svg.append(group);
  }
  return svg;
}

function showMemory(status) {
  const parts = [['record_bytes', 'records', 'f1'], ['index_bytes', 'index', 'f3'], ['orphan_bytes',
    'of nodes that ended, not reclaimed yet', 'f2'], ['free_bytes', 'free', 'f0']];
  const nodes = ofRole(status, 'memory-node').map((process) => {
    const health = healthOf(process);
    const made = element('div', 'memory-node');
    const title = element('p');
    title.append(element('strong', '', process.name),
      element('span', '', `${bytes(health.free_bytes)} free of ${bytes(health.memory_bytes)}`));
    const bar = element('div', 'bar');
    bar.setAttribute('role', 'img');
    bar.setAttribute('aria-label', parts.map((part) => `${part[1]} ${bytes(health[part[0]])}`).join(', '));
    for (const [figure, , style] of parts) {
      if (figure !== 'free_bytes' && health[figure] > 0) {
        const part = element('span', style);
        part.style.width = 100 * health[figure] / health.memory_bytes + '%';
        bar.append(part);
      }
    }
    const ageS = health.checkpoint_finished_ms ? (status.time_ms - health.checkpoint_finished_ms) / 1000 : null;
    made.append(title, bar, element('p', 'note', health.checkpoint_finished_ms === undefined ? 'no checkpoints' :
      ageS === null ? 'no checkpoint yet' : `last checkpoint ${Math.max(0, Math.round(ageS))} s ago, ` +
      `${count(health.checkpoint_records)} records`));
    return made;
  });
  $('memory').replaceChildren(...(nodes.length ? nodes :
    [element('p', 'note', 'no memory node on this host answers')]));
  $('memory-legend').replaceChildren(...(nodes.length ? parts : []).map((part) => {
    const entry = element('li');
    entry.append(element('span', 'swatch ' + part[2]), part[1]);
    return entry;
  }));
}

function showTables(status) {
  const headers = ['table', 'records', 'fill', 'records a second', 'subtables', 'splits and merges', 'records', 'index'];
  fillTable('tables', headers, (status.tables || []).map((table) => {
    const growth = (tableBaselines.get(table.table) || {}).rate;
    return [table.table, count(table.records), smallBar(table.fill, table.fill > 0.9),
      growth === null || growth === undefined ? '–' : (growth > 0 ? '+' : '') + count(growth), count(table.subtables),
      count(table.splits_under_way), bytes(table.record_bytes), bytes(table.index_bytes)];
  }), status.tables ? 'no tables' + (status.embedded ? '' : ': ./verbena table create NAME --records N') :
    'not counted yet, or no compute node answered');
  $('tables-age').textContent = status.tables_time_ms ?
    `counted ${Math.max(0, Math.round((status.time_ms - status.tables_time_ms) / 1000))} s ago` : '';
}

function clock(ms) {
  return new Date(ms).toLocaleTimeString();
}

/** What took longest, first: a step's name, and where it recurs how often. */
function mostTime(operation) {
  const parts = new Map();
  if (operation.queued_us > 0) {
    parts.set('queue', {us: operation.queued_us, times: 1});
  }
  for (const step of operation.steps) {
    const name = words(step.waits ? 'wait for ' + step.step : step.step);
    const part = parts.get(name) || {us: 0, times: 0};
    part.us += step.took_us;
    part.times++;
    parts.set(name, part);
  }
  return [...parts].sort((a, b) => b[1].us - a[1].us).slice(0, 3)
    .map(([name, part]) => `${name}${part.times > 1 ? ' × ' + part.times : ''} ${duration(part.us)}`).join(', ');
}

function words(name) {
  return String(name).replaceAll('_', ' ');
}

function showSlow(status) {
  fillTable('slow', ['at', 'compute node', {text: 'operation', left: true}, 'took', {text: 'most of it', left: true},
    {text: 'table', left: true}, 'retries'], (status.slow_operations || []).slice(0, MOST_EVENTS).map((operation) => [
    clock(operation.ended_ms), operation.node,
    {text: words(operation.kind) + ', ' + words(operation.answer),
      className: 'left ' + (FAILED_ANSWERS.has(operation.answer) ? 'bad' : '')},
    duration(operation.response_us), {text: mostTime(operation), className: 'left'},
    {text: operation.table, className: 'left'}, count(operation.retries)]), 'none');
}

function showDecisions(status) {
  const decisions = status.autoscaler_decisions || [];
  $('decisions-section').hidden = decisions.length === 0;
  fillTable('decisions', ['at', 'compute nodes', {text: 'outcome', left: true}, {text: 'reason', left: true}],
    decisions.slice(0, MOST_EVENTS).map((decision) => [clock(decision.time_ms), `${decision.from} → ${decision.to}`,
      {text: decision.outcome + (decision.detail ? ': ' + decision.detail : ''),
        className: 'left ' + (decision.outcome === 'failed' ? 'bad' : '')},
      {text: decision.reason, className: 'left'}]), 'none');
}

function showLimits(status) {
  const limits = status.processes.flatMap((process) =>
    (healthOf(process).limits || []).filter((limit) => limit.use > 0)
      .map((limit) => ({process: process.name, ...limit, share: limit.limit ? limit.use / limit.limit : 1})));
  limits.sort((a, b) => b.share - a.share);
  fillTable('limits', ['process', {text: 'limit', left: true}, 'in use', 'use', 'most', {text: 'raised by', left: true}],
    limits.slice(0, MOST_LIMITS).map((limit) => [limit.process, {text: limit.name, className: 'left'},
      smallBar(limit.share, limit.share >= 0.9), count(limit.use), count(limit.limit),
      {text: limit.option, className: 'long'}]), 'nothing is used of any limit');
}

/** As `status` has it: who leads, and how far each member is. */
function showGroup(status) {
  const group = ofRole(status, 'meta-server').filter((process) => healthOf(process).group_member);
  $('group-section').hidden = group.length === 0;
  const committed = Math.max(0, ...group.map((process) => healthOf(process).group_commit_index));
  fillTable('group', ['process', {text: 'member', left: true}, {text: 'leader', left: true}, 'term', 'leadership',
    'lease', 'committed', 'applied', 'behind', 'snapshot'], group.map((process) => {
    const health = healthOf(process);
    const behind = committed - health.group_applied_index;
    return [process.name, {text: health.group_member, className: 'left'},
      {text: health.group_leader || 'none', className: 'left ' + (health.group_leader ? '' : 'bad')},
      count(health.group_term), count(health.group_leadership), health.group_lease_left_ms + ' ms',
      count(health.group_commit_index), count(health.group_applied_index),
      {text: count(behind), className: behind >= MANY_ENTRIES ? 'warn' : ''},
      health.group_snapshot_index < 0 ? '–' : count(health.group_snapshot_index)];
  }), 'none');
}

function showProcesses(status) {
  fillTable('processes', ['process', {text: 'state', left: true}, 'pid', 'node', 'incarnation', 'lease', 'clients',
    'requests', 'memory nodes'], members(status).map((member) => [member.name,
    {text: member.state, className: 'left ' + (member.trouble ? 'bad' : '')}, member.pid || 'not known',
    member.nodeId || '–', member.incarnation === undefined ? '–' : member.incarnation,
    member.lease === null ? '–' : (member.lease / 1000).toFixed(1) + ' s', count(member.health.clients),
    count(member.health.requests), member.role === 'compute-node' ? count(member.health.memory_nodes) : '–']), 'none');
}

function show() {
  showState();
  if (!latest) {
    return;
  }
  $('address').textContent = latest.address;
  // Its process answers to no command, and has no page of metrics.
  document.querySelectorAll('.of-processes').forEach((each) => { each.hidden = latest.embedded === true; });
  showFaults(latest);
  showTiles(latest);
  showCharts();
  showKinds(latest);
  showSlow(latest);
  showDecisions(latest);
  showMap(latest);
  showMemory(latest);
  showTables(latest);
  showLimits(latest);
  showGroup(latest);
  showProcesses(latest);
}

async function poll() {
  try {
    const answer = await fetch('/dashboard.json', {cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS)});
    if (!answer.ok) {
      throw new Error(await answer.text());
    }
    const status = await answer.json();
    note(status);
    latest = status;
    failedSince = 0;
  } catch (failure) {
    console.warn('dashboard:', failure.message);
    failedSince = failedSince || Date.now();
  }
  show();
  setTimeout(poll, POLL_MS);
}

let resizing = 0;
window.addEventListener('resize', () => {
  clearTimeout(resizing);
  resizing = setTimeout(show, 100);
});
poll();
