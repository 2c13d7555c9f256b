'use strict';
// What the page tells beside the picture.
function listOf(ids, why) {
  const list = make('ul', { class: 'plain oplist' });
  ids.slice(0, MAX_LISTED).forEach((id, i) => {
    const o = operations[id];
    const button = make('button', { type: 'button' }, make('b', {}, `process ${o.process} `),
      make('code', {}, shorten(words(o), 120)));
    if (why) {
      button.append(make('span', { class: 'why' }, why[i]));
    }
    button.addEventListener('click', () => reveal(o));
    list.append(make('li', {}, button));
  });
  if (ids.length > MAX_LISTED) {
    list.append(make('li', { class: 'muted' }, `and ${ids.length - MAX_LISTED} more`));
  }
  return list;
}

function tell() {
  const story = element('story');
  story.replaceChildren();
  const part = state.part >= 0 ? data.parts[state.part] : null;
  const heading = text => story.append(make('h2', {}, text));
  const paragraph = text => story.append(make('p', {}, text));
  if (part && part.breaking !== undefined) {
    heading('Where it breaks');
    paragraph(`The ${part.prefixEvents} events of this object before the red line have an order; the numbered dots ` +
      'show it. No order explains this completion:');
    story.append(listOf([part.breaking]));
    paragraph('That order leads to this state:');
    story.append(make('p', {}, make('code', {}, part.state)));
    if (part.blocked.length > 0) {
      heading('What cannot come next');
      story.append(listOf(part.blocked.map(b => b[0]), part.blocked.map(b => b[1])));
    }
    heading(part.coreIsMinimal ? 'The contradiction' : 'Operations that contradict each other');
    paragraph('Whatever the other operations did, there is no order for these' +
      (part.coreIsMinimal ? ', and each of them is needed for that:' : ':'));
    story.append(listOf(part.core));
  } else if (part && part.validity === 'unknown') {
    heading('Not decided');
    paragraph(part.reason);
  } else if (part) {
    heading('One order that explains everything');
    paragraph('Each operation takes effect at its dot, between its call and its completion.');
    story.append(listOf(part.order));
  }
  const bad = data.parts.map((p, i) => i).filter(i => data.parts[i].validity !== 'valid');
  if (data.parts.length > 1 && bad.length > 0) {
    heading('Objects that are not valid');
    const list = make('ul', { class: 'plain oplist' });
    bad.slice(0, MAX_LISTED).forEach(i => {
      const button = make('button', { type: 'button' }, make('code', {}, data.parts[i].name),
        ` ${data.parts[i].validity}`);
      button.addEventListener('click', () => { choose(i); showBreak(); });
      list.append(make('li', {}, button));
    });
    story.append(list);
  }
}

function legend() {
  const entries = [['ok', 'happened'], ['info', 'outcome unknown: at any time after its call, or never'],
    ['fail', 'failed: never happened']].filter(([name]) => operations.some(o => o.outcome === name));
  if (data.validity === 'invalid') {
    entries.push(['breaking', 'cannot be explained'], ['blocked', 'cannot come next'],
      ['core', 'contradict each other']);
  }
  element('legend').replaceChildren(...entries.map(([name, text]) => {
    const fill = name === 'breaking' ? 'var(--bad)' : `var(--${['blocked', 'core'].includes(name) ? 'ok' : name})`;
    const edge = name === 'breaking' ? 'var(--bad)' : ['blocked', 'core'].includes(name) ? `var(--${name})`
      : `var(--${name}-edge)`;
    return make('span', {}, make('i', { style: `background:${fill};border-color:${edge}` }), text);
  }));
}
