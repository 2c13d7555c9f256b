'use strict';
// The hand.
function at(event) {
  const box = canvas.getBoundingClientRect();
  const px = event.clientX - box.left, row = Math.floor((event.clientY - box.top - TOP + state.scroll) / LANE);
  if (px < GUTTER - 6 || row < 0 || row >= lanes.length || event.clientY - box.top < TOP) {
    return null;
  }
  const lane = lanes[row];
  for (let i = Math.max(0, firstVisible(lane)); i < lane.length && x(lane[i].call) <= px + 3; i++) {
    if (px >= x(lane[i].call) - 2 && px <= Math.max(x(endOf(lane[i])), x(lane[i].call) + 2) + 2) {
      return lane[i];
    }
  }
  return null;
}

let drag = null;
canvas.addEventListener('pointerdown', event => {
  drag = { x: event.clientX, y: event.clientY, from: state.from, to: state.to, scroll: state.scroll, moved: false };
  canvas.setPointerCapture(event.pointerId);
  canvas.classList.add('dragging');
});
canvas.addEventListener('pointermove', event => {
  if (drag) {
    const span = drag.to - drag.from, by = (drag.x - event.clientX) / width() * span;
    drag.moved = drag.moved || Math.abs(drag.x - event.clientX) + Math.abs(drag.y - event.clientY) > 4;
    state.scroll = Math.max(0, drag.scroll + drag.y - event.clientY);
    show(drag.from + by, drag.to + by);
    return;
  }
  const o = at(event);
  tip.hidden = !o;
  if (o) {
    tip.replaceChildren(describe(o));
    tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + 'px';
    tip.style.top = Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8) + 'px';
  }
});
canvas.addEventListener('pointerup', event => {
  if (drag && !drag.moved) {
    select(at(event));
  }
  drag = null;
  canvas.classList.remove('dragging');
});
canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
canvas.addEventListener('wheel', event => {
  event.preventDefault();
  const span = state.to - state.from;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const by = (event.deltaX || event.deltaY) / width() * span;
    show(state.from + by, state.to + by);
  } else if (event.ctrlKey || event.metaKey || lanes.length * LANE <= canvas.clientHeight - TOP) {
    const px = event.clientX - canvas.getBoundingClientRect().left - GUTTER;
    zoom(Math.pow(1.0016, event.deltaY), state.from + px / width() * span);
  } else {
    state.scroll += event.deltaY;
    redraw();
  }
}, { passive: false });
canvas.addEventListener('keydown', event => {
  const span = state.to - state.from;
  const byCall = () => shown.indexOf(state.selected);
  const keys = {
    ArrowLeft: () => show(state.from - span / 8, state.to - span / 8),
    ArrowRight: () => show(state.from + span / 8, state.to + span / 8),
    ArrowUp: () => { state.scroll -= LANE; redraw(); },
    ArrowDown: () => { state.scroll += LANE; redraw(); },
    '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1 / 0.7),
    Home: () => show(0, limit()),
    n: () => shown.length > 0 && reveal(shown[Math.min(shown.length - 1, byCall() + 1)]),
    p: () => shown.length > 0 && reveal(shown[Math.max(0, byCall() - 1)]),
  };
  if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});
function moveTo(event) {
  const box = overview.getBoundingClientRect(), span = state.to - state.from;
  const middle = (event.clientX - box.left - GUTTER) / (overview.clientWidth - GUTTER - 8) * limit();
  show(middle - span / 2, middle + span / 2);
}
overview.addEventListener('pointerdown', event => { overview.setPointerCapture(event.pointerId); moveTo(event); });
overview.addEventListener('pointermove', event => { if (event.buttons) { moveTo(event); } });

element('search').addEventListener('input', search);
element('search').addEventListener('keydown', event => {
  if (event.key === 'Enter') {
    goToMatch(event.shiftKey ? -1 : 1);
  }
});
element('next').addEventListener('click', () => goToMatch(1));
element('previous').addEventListener('click', () => goToMatch(-1));
element('in').addEventListener('click', () => zoom(0.6));
element('out').addEventListener('click', () => zoom(1 / 0.6));
element('all').addEventListener('click', () => show(0, limit()));
element('break').addEventListener('click', showBreak);
element('by').hidden = !hasTimes;
element('by').addEventListener('click', () => {
  const left = state.from / limit(), right = state.to / limit();
  state.byTime = !state.byTime;
  element('by').setAttribute('aria-pressed', String(state.byTime));
  show(left * limit(), right * limit());
});
const chooser = element('object');
chooser.hidden = data.parts.length < 2;
chooser.append(make('option', { value: '-1' }, 'all objects'));
data.parts.forEach((part, i) => chooser.append(
  make('option', { value: String(i) }, `${part.validity === 'valid' ? '' : '✕ '}${shorten(part.name, 40)}`)));
chooser.addEventListener('change', () => { choose(Number(chooser.value)); show(0, limit()); });
window.addEventListener('resize', redraw);
window.addEventListener('themechange', () => { readColors(); redraw(); });
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColors(); redraw(); });

// Begin where there is most to see. A fragment (#q=text) begins with a search.
readColors();
legend();
select(null);
const firstBad = data.parts.findIndex(part => part.breaking !== undefined);
choose(firstBad >= 0 ? firstBad : data.parts.length === 1 ? 0 : -1);
if (firstBad >= 0) {
  showBreak();
  select(operations[data.parts[firstBad].breaking]);
} else {
  show(0, Math.min(limit(), 160));
}
if (location.hash.startsWith('#q=')) {
  element('search').value = decodeURIComponent(location.hash.slice(3));
  search();
  goToMatch(1);
}
document.body.dataset.ready = 'true';
