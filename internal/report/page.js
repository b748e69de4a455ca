// The timeline is drawn on a canvas: a session has tens of thousands of bars, and
// each would be an element. What is picked is the fragment of the page's address:
// every link to an item, in the text or here, is the same as picking its bar, and
// the browser's own "back" works. Nothing is fetched, stored or sent.
'use strict';
(() => {
const $ = id => document.getElementById(id);
const data = JSON.parse($('data').textContent);
const {from, groups, kinds, start, took, lane, state, cause, texts} = data;
const [name, label, how] = [data.name, data.label, data.how].map(all => all.map(n => texts[n]));
const items = start.length, whole = Math.max(1, data.to - from);
const [OK, FAILED, OPEN] = [0, 1, 2];
const LANE = 14, GAP = 2, HEAD = 22, CLOCK = 24, LEFT = 74, MARK = 3; // pixels

document.documentElement.classList.add('js');
const time = $('time'), all = $('all'), canvas = $('canvas'), about = $('about'), pen = canvas.getContext('2d');
for (const id of ['tools', 'time', 'keys', 'about']) $(id).hidden = false;

const shown = new Uint8Array(items).fill(1), kindOf = new Uint8Array(items), groupOf = new Uint32Array(items);
groups.forEach((g, n) => g.rows.forEach(([k, a, b]) => { kindOf.fill(k, a, b); groupOf.fill(n, a, b); }));
const wanted = kinds.map(() => true), closed = groups.map(() => false);
let view = fitted(), picked = -1, over = -1, rows = [], colors = {}, width = 0, height = 0, due = 0;

function fitted() { return {a: -whole * .01, b: whole * 1.01}; }

// --- what is where -------------------------------------------------------

// A group's rows stand below each other, one for each kind; what is below the
// session follows, moved to the right. A closed group has its name alone.
function place() {
  rows = [];
  let y = CLOCK + 4;
  const hidden = groups.map(() => false);
  groups.forEach((g, n) => {
    hidden[n] = g.parent >= 0 && (hidden[g.parent] || closed[g.parent]);
    g.button.hidden = hidden[n];
    if (hidden[n]) return;
    g.y = y;
    g.button.style.top = y + 'px';
    y += HEAD;
    if (!closed[n]) for (const [k, a, b, lanes] of g.rows) {
      if (!wanted[k]) continue;
      rows.push({k, a, b, g: n, y, h: lanes * (LANE + GAP)});
      y += lanes * (LANE + GAP) + 4;
    }
    g.end = y;
    y += 4;
  });
  all.style.height = y + 'px';
  draw();
}

function toggle(n) {
  closed[n] = !closed[n];
  groups[n].button.textContent = (closed[n] ? '▸ ' : '▾ ') + groups[n].name;
  groups[n].button.setAttribute('aria-expanded', !closed[n]);
  place();
}

const x = t => LEFT + (t - view.a) / (view.b - view.a) * (width - LEFT);
const t = x => view.a + (x - LEFT) / (width - LEFT) * (view.b - view.a);
const end = i => start[i] + took[i];

const moment = ms => new Date(from + ms).toISOString().slice(0, -1).replace('T', ' ');
const called = i => name[i].startsWith(kinds[kindOf[i]]) ? name[i] : kinds[kindOf[i]] + ' ' + (name[i] || label[i]);

// --- drawing -------------------------------------------------------------

function draw() {
  if (!due) due = requestAnimationFrame(paint);
}

function paint() {
  due = 0;
  if (time.clientWidth === 0) return; // the list is shown
  const dpr = window.devicePixelRatio || 1;
  if (width !== time.clientWidth || height !== time.clientHeight || canvas.width !== Math.round(width * dpr)) {
    width = time.clientWidth;
    height = time.clientHeight;
    canvas.width = Math.round(width * dpr);
    canvas.height = Math.round(height * dpr);
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
  }
  pen.setTransform(dpr, 0, 0, dpr, 0, 0);
  pen.fillStyle = colors.panel;
  pen.fillRect(0, 0, width, height);
  const top = time.scrollTop, ticks = clockTicks();
  pen.fillStyle = colors.faint;
  for (const at of ticks.at) pen.fillRect(Math.round(x(at)), 0, 1, height);
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  groups.forEach((g, n) => {
    if (g.button.hidden || g.y > top + height || g.end < top) return;
    pen.fillStyle = colors.faint;
    pen.fillRect(0, g.y - top, width, HEAD - 2);
    pen.fillStyle = colors.delegate;
    for (let d = 1; d <= Math.min(g.depth, 3); d++) pen.fillRect(8 * d - 5, g.y - top, 2, g.end - g.y);
  });
  for (const r of rows) if (r.y < top + height && r.y + r.h > top) row(r, top);
  if (picked >= 0) arrows(top);
  clock(ticks);
  time.setAttribute('aria-label', 'Timeline from ' + moment(view.a) + ' to ' + moment(view.b) + ' UTC');
  performance.mark('drawn');
}

function row(r, top) {
  const color = colors[kinds[r.k]], free = []; // free: where the last bar of a lane ends
  pen.fillStyle = colors.soft;
  pen.fillText(kinds[r.k], 10 + 8 * Math.min(groups[r.g].depth, 3), r.y - top + LANE / 2 + 1);
  pen.save();
  pen.beginPath();
  pen.rect(LEFT, 0, width - LEFT, height);
  pen.clip();
  for (let i = r.a; i < r.b; i++) {
    if (!shown[i] || start[i] > view.b || end(i) < view.a) continue;
    const y = r.y - top + lane[i] * (LANE + GAP);
    if (y > height || y + LANE < 0) continue;
    const x0 = Math.max(x(start[i]), LEFT - 9), x1 = Math.max(Math.min(x(end(i)), width + 9), x0 + MARK);
    // What would be drawn over the last bar is left out, but for what must be seen.
    if (x1 <= free[lane[i]] + 1 && state[i] !== FAILED && i !== picked) continue;
    free[lane[i]] = Math.max(free[lane[i]] || 0, x1);
    bar(i, x0, y, x1 - x0, color);
  }
  pen.restore();
}

function bar(i, x, y, w, color) {
  pen.fillStyle = color;
  if (state[i] === FAILED) pen.fillStyle = colors.bad;
  pen.fillRect(x, y, w, LANE);
  if (state[i] === FAILED && w > 12) { // not by its colour alone
    pen.fillStyle = colors.panel;
    pen.fillText('✕', x + 2, y + LANE / 2 + 1);
  }
  if (state[i] === OPEN) { // its end is not known: a ragged one
    pen.fillStyle = colors.panel;
    for (let s = y; s < y + LANE; s += 4) pen.fillRect(x + w - 3, s, 3, 2);
  }
  if (w > 40) {
    pen.save();
    pen.beginPath();
    pen.rect(x, y, w - 3, LANE);
    pen.clip();
    pen.fillStyle = colors.panel;
    pen.fillText(label[i] || name[i], x + (state[i] === FAILED ? 14 : 4), y + LANE / 2 + 1);
    pen.restore();
  }
  if (i === picked || i === over) {
    pen.strokeStyle = i === picked ? colors.ink : colors.soft;
    pen.lineWidth = i === picked ? 2 : 1;
    pen.strokeRect(x - 1, y - 1, w + 2, LANE + 2);
  }
}

// arrows lead from the cause of what is picked to it, and from it to its effects.
function arrows(top) {
  const from = spot(picked, top);
  if (!from) return;
  pen.strokeStyle = colors.ink;
  pen.lineWidth = 1;
  const line = (a, b) => {
    pen.beginPath();
    pen.moveTo(a.x, a.y);
    pen.bezierCurveTo(a.x + 24, a.y, b.x - 24, b.y, b.x, b.y);
    pen.stroke();
  };
  const c = cause[picked] >= 0 && spot(cause[picked], top, true);
  if (c) line(c, from);
  for (const e of effects(picked).slice(0, 50)) {
    const to = spot(e, top), mine = spot(picked, top, true);
    if (to) line(mine, to);
  }
}

// spot is where a bar begins, or ends, on the canvas; nothing where it is not shown.
function spot(i, top, atEnd) {
  const r = rows.find(r => i >= r.a && i < r.b);
  return r && shown[i] && {x: x(atEnd && kindOf[i] !== kinds.indexOf('call') ? end(i) : start[i]), y: r.y - top + lane[i] * (LANE + GAP) + LANE / 2};
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5, 864e5, 1728e5, 6048e5, 2592e6, 7776e6, 31536e6];

function clockTicks() {
  const step = steps.find(s => s / (view.b - view.a) * (width - LEFT) > 90) || steps[steps.length - 1], at = [];
  for (let n = Math.ceil((from + view.a) / step) * step - from; n < view.b; n += step) at.push(n);
  return {at, step};
}

function clock({at, step}) {
  pen.fillStyle = colors.back;
  pen.fillRect(0, 0, width, CLOCK);
  pen.fillStyle = colors.line;
  pen.fillRect(0, CLOCK - 1, width, 1);
  pen.fillStyle = colors.soft;
  for (const n of at) {
    const iso = new Date(from + n).toISOString(), px = x(n);
    if (px < LEFT - 1) continue;
    pen.fillRect(Math.round(px), CLOCK - 6, 1, 6);
    pen.fillText(step >= 864e5 ? iso.slice(0, 10) : step >= 6e4 ? iso.slice(11, 16) : step >= 1e3 ? iso.slice(11, 19) : iso.slice(14, 23), px + 3, CLOCK / 2);
  }
  pen.fillText('UTC', 10, CLOCK / 2);
  if (drag && drag.clock) {
    pen.fillStyle = colors.mark;
    pen.globalAlpha = .25;
    pen.fillRect(Math.min(drag.x, drag.to), 0, Math.abs(drag.to - drag.x), height);
    pen.globalAlpha = 1;
  }
}

function paints() {
  const css = getComputedStyle(document.documentElement);
  for (const c of ['back', 'panel', 'ink', 'soft', 'line', 'faint', 'mark', 'bad', ...kinds]) colors[c] = css.getPropertyValue('--' + c).trim();
  draw();
}

// --- moving --------------------------------------------------------------

// look shows a part of the time, no shorter than 2 ms and hardly longer than there is.
function look(a, b) {
  const room = whole * .5, wide = Math.min(Math.max(b - a, 2), whole * 1.2), mid = (a + b) / 2;
  a = Math.min(Math.max(mid - wide / 2, -room), whole + room - wide);
  view = {a, b: a + wide};
  draw();
}

function zoom(by, at) {
  look(at - (at - view.a) * by, at + (view.b - at) * by);
}

const middle = () => (view.a + view.b) / 2;
const pan = by => look(view.a + by * (view.b - view.a), view.b + by * (view.b - view.a));
const fit = () => { view = fitted(); draw(); };

// reveal brings a bar into view: opens what it is in, moves up or down, and in time.
function reveal(i) {
  for (let g = groupOf[i]; g >= 0; g = groups[g].parent) if (closed[g]) toggle(g);
  const p = spot(i, 0);
  if (p && (p.y < time.scrollTop + CLOCK + LANE || p.y > time.scrollTop + time.clientHeight - LANE)) time.scrollTop = p.y - time.clientHeight / 2;
  if (end(i) < view.a || start[i] > view.b) {
    const wide = view.b - view.a, mid = start[i] + Math.min(took[i], wide) / 2;
    look(mid - wide / 2, mid + wide / 2);
  }
  draw();
}

// --- picking -------------------------------------------------------------

let effectsOf; // made when first needed
function effects(i) {
  if (!effectsOf) {
    effectsOf = new Map();
    cause.forEach((c, n) => c >= 0 && (effectsOf.has(c) ? effectsOf.get(c).push(n) : effectsOf.set(c, [n])));
  }
  return effectsOf.get(i) || [];
}

function at(px, py) {
  const y = py + time.scrollTop, r = rows.find(r => y >= r.y && y < r.y + r.h);
  if (!r || py < CLOCK || px < LEFT) return -1;
  const l = Math.floor((y - r.y) / (LANE + GAP));
  let best = -1, near = 4;
  for (let i = r.a; i < r.b; i++) {
    if (lane[i] !== l || !shown[i]) continue;
    const away = Math.max(x(start[i]) - px, px - Math.max(x(end(i)), x(start[i]) + MARK), 0);
    if (away < near || away === 0 && near === 0 && i === picked) [best, near] = [i, away];
  }
  return best;
}

// pick changes the address without the browser's own way to a fragment, which would
// take the focus away from the timeline. Who follows a link goes on from its text.
function pick(i, follow) {
  if (location.hash !== '#i' + i) history.pushState(null, '', '#i' + i);
  onHash();
  if (follow) focusText();
}

function focusText() {
  const e = picked >= 0 && textOf(picked);
  if (!e) return;
  e.tabIndex = -1;
  e.focus({preventScroll: true});
}

document.addEventListener('click', e => {
  const a = e.target.closest('a[href^="#i"]');
  if (!a || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  pick(+a.hash.slice(2), true);
});

function onHash() {
  const m = /^#i(\d+)$/.exec(location.hash);
  for (const e of document.querySelectorAll('.picked')) e.classList.remove('picked');
  picked = m && +m[1] < items ? +m[1] : -1;
  tell();
  if (picked < 0) return draw();
  const target = textOf(picked);
  if (target) {
    target.classList.add('picked');
    target.scrollIntoView({block: 'start'});
  }
  reveal(picked);
}

const long = ms => ms < 1e3 ? ms + ' ms' : ms < 6e4 ? (ms / 1e3).toFixed(1) + ' s' : ms < 36e5 ? Math.floor(ms / 6e4) + ' min ' + Math.round(ms % 6e4 / 1e3) + ' s' : (ms / 36e5).toFixed(1) + ' h';

// tell says what is picked, with links to what caused it and what it caused. Text
// is set as text: nothing in it is markup.
function tell() {
  about.replaceChildren();
  const put = (tag, text, set) => about.appendChild(Object.assign(document.createElement(tag), {textContent: text}, set));
  const link = i => put('a', called(i), {href: '#i' + i});
  if (picked < 0) return void put('span', 'Pick a bar to read of it.', {className: 'how'});
  const i = picked;
  put('b', called(i));
  put('span', name[i] ? ' ' + label[i] + ' ' : ' ');
  put('span', '· ' + how[i] + ' · ' + moment(start[i]) + ' UTC · ' + long(took[i]), {className: state[i] === FAILED ? 'how failed' : 'how'});
  if (cause[i] >= 0) {
    put('span', ' · from ', {className: 'how'});
    link(cause[i]);
  }
  effects(i).slice(0, 20).forEach((e, n) => {
    put('span', n ? ', ' : ' · led to ', {className: 'how'});
    link(e);
  });
  const more = effects(i).length - 20;
  if (more > 0) put('span', ' and ' + more + ' more', {className: 'how'});
}

// step picks the bar that begins next, or before, among those that are shown.
let order;
function step(by) {
  order = order || Uint32Array.from(start.keys()).sort((a, b) => start[a] - start[b] || a - b);
  let n = picked < 0 ? (by > 0 ? -1 : items) : order.indexOf(picked);
  do n += by; while (n >= 0 && n < items && !shown[order[n]]);
  if (n >= 0 && n < items) pick(order[n]);
}

// --- the text ------------------------------------------------------------

// The parts of the text are not elements yet, but the words of a noscript: tens of
// thousands of them would hold up the beginning. They become elements where they
// are looked at or picked, before the page is printed, and the rest in idle time,
// so that the browser's own search finds everything.
const parts = document.getElementsByClassName('c');
const asleep = p => p.firstChild && p.firstChild.nodeName === 'NOSCRIPT';
const wake = p => { if (asleep(p)) p.innerHTML = p.firstChild.textContent; };

function textOf(i) {
  const found = $('i' + i);
  if (found) return found;
  const mark = 'id="i' + i + '"><', part = [...parts].find(p => asleep(p) && p.firstChild.textContent.includes(mark));
  if (part) wake(part);
  return $('i' + i);
}

function waking() {
  const near = new IntersectionObserver(seen => seen.forEach(s => { if (s.isIntersecting) { near.unobserve(s.target); wake(s.target); } }), {root: $('talk'), rootMargin: '1500px'});
  const todo = [...parts];
  todo.forEach(p => near.observe(p));
  let n = 0;
  const some = idle => {
    for (; n < todo.length && idle.timeRemaining() > 4; n++) wake(todo[n]);
    if (n < todo.length) requestIdleCallback(some);
  };
  requestIdleCallback(some);
}

addEventListener('beforeprint', () => {
  [...parts].forEach(wake);
  wakeList();
});

function wakeList() {
  const n = $('list').querySelector('noscript');
  if (n) n.outerHTML = n.textContent;
}

// --- filters -------------------------------------------------------------

let hay; // names and texts in small letters, made when first needed
function filter() {
  const words = $('find').value.toLowerCase().split(/\s+/).filter(Boolean), only = $('failed').checked;
  if (words.length && !hay) hay = name.map((n, i) => (n + ' ' + label[i] + ' ' + how[i]).toLowerCase());
  let n = 0;
  for (let i = 0; i < items; i++) {
    shown[i] = wanted[kindOf[i]] && (!only || state[i] === FAILED) && words.every(w => hay[i].includes(w)) ? 1 : 0;
    n += shown[i];
  }
  $('count').textContent = n === items ? items.toLocaleString('en') + ' bars' : n.toLocaleString('en') + ' of ' + items.toLocaleString('en') + ' bars';
  if (document.documentElement.classList.contains('aslist')) filterList();
  place();
}

// The list has an element for each item, so it is brought in line only while it is seen.
function filterList() {
  wakeList();
  for (const li of $('list').getElementsByTagName('li')) {
    const m = /^#i(\d+)$/.exec(li.firstElementChild.getAttribute('href'));
    if (m) li.hidden = !shown[m[1]];
  }
}

// --- hands ---------------------------------------------------------------

let drag = null;
time.addEventListener('pointerdown', e => {
  if (e.button || e.target !== canvas) return;
  const box = canvas.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top;
  drag = {x: px, y: py, to: px, view, top: time.scrollTop, clock: py < CLOCK, moved: false};
  time.setPointerCapture(e.pointerId);
});
time.addEventListener('pointermove', e => {
  const box = canvas.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top;
  if (!drag) {
    const was = over;
    over = at(px, py);
    time.classList.toggle('over', over >= 0);
    time.classList.toggle('clock', py < CLOCK);
    time.title = over < 0 ? '' : called(over) + '\n' + label[over] + '\n' + how[over] + ' · ' + long(took[over]);
    if (was !== over) draw();
    return;
  }
  drag.to = px;
  drag.moved = drag.moved || Math.abs(px - drag.x) + Math.abs(py - drag.y) > 3;
  if (!drag.moved) return;
  time.classList.add('drag');
  if (drag.clock) return draw();
  const by = (drag.x - px) / (width - LEFT) * (drag.view.b - drag.view.a);
  time.scrollTop = drag.top + drag.y - py;
  look(drag.view.a + by, drag.view.b + by);
});
const release = e => {
  if (!drag) return;
  const d = drag;
  drag = null;
  time.classList.remove('drag');
  if (e.type === 'pointercancel') return draw();
  if (d.moved && d.clock) return look(Math.min(t(d.x), t(d.to)), Math.max(t(d.x), t(d.to)));
  const i = d.moved ? -1 : at(d.x, d.y);
  if (i >= 0) pick(i);
};
time.addEventListener('pointerup', release);
time.addEventListener('pointercancel', release);
time.addEventListener('dblclick', () => picked >= 0 && look(start[picked] - took[picked] * .2 - 5, end(picked) + took[picked] * .2 + 5));
time.addEventListener('wheel', e => {
  e.preventDefault();
  const px = e.clientX - canvas.getBoundingClientRect().left, unit = e.deltaMode === 1 ? 16 : 1;
  if (e.shiftKey) time.scrollTop += (e.deltaY || e.deltaX) * unit;
  else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(e.deltaX * unit / (width - LEFT));
  else zoom(Math.exp(e.deltaY * unit * .0015), t(Math.max(px, LEFT)));
}, {passive: false});
time.addEventListener('scroll', draw);

const keys = {
  '+': () => zoom(1 / 1.5, middle()), '=': () => zoom(1 / 1.5, middle()), '-': () => zoom(1.5, middle()), '_': () => zoom(1.5, middle()), '0': fit,
  ArrowLeft: () => pan(-.15), ArrowRight: () => pan(.15), ArrowUp: () => { time.scrollTop -= 60; }, ArrowDown: () => { time.scrollTop += 60; },
  Home: () => look(view.a - view.a, view.b - view.a), End: () => look(whole - (view.b - view.a), whole),
  n: () => step(1), p: () => step(-1),
  Enter: focusText,
};
time.addEventListener('keydown', e => {
  if (e.target !== time || e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
  e.preventDefault();
  keys[e.key]();
});
document.addEventListener('keydown', e => {
  if (e.key === 'Escape' && e.target !== $('find')) time.focus();
});

$('in').addEventListener('click', keys['+']);
$('out').addEventListener('click', keys['-']);
$('fit').addEventListener('click', fit);
$('aslist').addEventListener('click', e => {
  const on = document.documentElement.classList.toggle('aslist');
  e.currentTarget.setAttribute('aria-pressed', on);
  if (on) filterList(); else draw();
});
$('tools').addEventListener('submit', e => e.preventDefault());
$('tools').addEventListener('input', filter);

// --- begin ---------------------------------------------------------------

kinds.forEach((k, n) => {
  if (!groups.some(g => g.rows.some(r => r[0] === n))) return;
  const box = document.createElement('label'), input = document.createElement('input'), spot = document.createElement('i');
  Object.assign(input, {type: 'checkbox', checked: true, name: k});
  spot.style.background = 'var(--' + k + ')';
  box.className = 'box';
  box.append(input, ' ', spot, k);
  input.addEventListener('input', () => { wanted[n] = input.checked; });
  $('kinds').append(box);
});
groups.forEach((g, n) => {
  g.button = document.createElement('button');
  Object.assign(g.button, {type: 'button', textContent: '▾ ' + g.name});
  g.button.setAttribute('aria-expanded', 'true');
  g.button.style.paddingLeft = 4 + 8 * Math.min(g.depth, 3) + 'px';
  g.button.addEventListener('click', () => toggle(n));
  all.append(g.button);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paints);
new ResizeObserver(draw).observe(time);
addEventListener('hashchange', onHash);
document.addEventListener('DOMContentLoaded', () => { waking(); onHash(); }); // the text is there now
paints();
filter();
tell();
})();
