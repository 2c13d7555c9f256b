'use strict';
// A test reads what went wrong from here.
document.body.dataset.errors = '0';
window.addEventListener('error', event => {
  document.body.dataset.errors = String(Number(document.body.dataset.errors) + 1);
  document.body.dataset.error = event.message;
});
const data = JSON.parse(document.getElementById('data').textContent);

/** Makes an element; text is only ever set as text, never as markup. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(element, attributes, children);
  return element;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    element.setAttribute(name, value);
  }
  for (const child of children) {
    element.append(child);
  }
}

function shorten(text, length) {
  return text.length <= length ? text : text.slice(0, Math.ceil(length / 2) - 1) + '…' + text.slice(1 - length / 2);
}

const themeButton = document.getElementById('theme');
themeButton.addEventListener('click', () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark'
    : window.matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  window.dispatchEvent(new Event('themechange'));
});
