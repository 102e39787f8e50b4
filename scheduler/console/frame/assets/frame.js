// What all pages of the console do with scripts: times, live parts, searching while somebody types, keys, copying. Pages are
// complete without it. Scripts of rooms run after this one, and find what they share with it in window.carillon.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

// ---- times -------------------------------------------------------------------------------------------------------------

const instant = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

// distance tells milliseconds from now on, or back, as frame.Distance does.
function distance(ms) {
  const a = Math.abs(ms) / 1000;
  const { now, ago, ahead } = document.documentElement.dataset;
  if (a < 0.5) return now;
  const text = a < 90 ? `${Math.round(a)} s` : a < 5400 ? `${Math.round(a / 60)} min` : a < 129600 ? `${Math.round(a / 3600)} h` : `${Math.round(a / 86400)} d`;
  return (ms < 0 ? ago : ahead).replace('%s', text);
}

function times(root) {
  for (const t of $$('time[data-instant]', root)) {
    const at = new Date(t.dateTime);
    if (Number.isNaN(at.getTime())) continue; // of years that scripts do not know
    if (!t.title) t.title = `${t.textContent} · ${zone}`;
    t.textContent = instant.format(at);
  }
  distances(root);
}

function distances(root = document) {
  const now = Date.now();
  for (const t of $$('time[data-relative]', root)) {
    const ms = new Date(t.dateTime) - now;
    if (Number.isNaN(ms)) continue;
    const text = distance(ms);
    if (t.textContent !== text) t.textContent = text;
  }
}

// ---- parts -------------------------------------------------------------------------------------------------------------

// reachable lets keys scroll what is wider than its place.
function reachable(root = document) {
  for (const e of $$('.scroll', root)) {
    if (e.scrollWidth > e.clientWidth) e.tabIndex = 0;
    else e.removeAttribute('tabindex');
  }
}

// dress does what every new piece of a page needs.
function dress(root) {
  times(root);
  reachable(root);
  for (const b of $$('[data-copy]', root)) b.hidden = false;
  for (const e of $$('[data-script]', root)) e.hidden = false; // what is of use with scripts only
  for (const e of $$('[data-without-script]', root)) e.hidden = true;
  root.dispatchEvent(new CustomEvent('carillon:new', { bubbles: true }));
}

// morph makes the children of one element those of another, and keeps what is equal: the focus, what is typed, what is open.
// What has an id is known by it, and is moved only when the order has changed: what is moved loses the focus.
function morph(to, from) {
  const all = [...from.childNodes];
  const stays = new Set(all.map((n) => n.id));
  const keyed = new Map();
  for (const n of [...to.childNodes]) {
    if (!n.id) continue;
    if (stays.has(n.id)) keyed.set(n.id, n);
    else n.remove();
  }
  let at = to.firstChild;
  for (const fresh of all) {
    while (fresh.id && at && at.nodeType !== 1) { // the space between them is no reason to move anything
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
    let match = fresh.id ? keyed.get(fresh.id) : at && !at.id && at.nodeType === fresh.nodeType && at.nodeName === fresh.nodeName ? at : null;
    if (!match) {
      to.insertBefore(fresh, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else to.insertBefore(match, at);
    update(match, fresh);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function update(old, fresh) {
  if (old.nodeType !== 1) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  if (old === document.activeElement && /^(INPUT|SELECT|TEXTAREA)$/.test(old.tagName)) return;
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !['open', 'data-current', 'tabindex'].includes(name)) old.removeAttribute(name);
  }
  for (const { name, value } of [...fresh.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.tagName === 'TIME' && old.dateTime === fresh.dateTime) return;
  if (old.tagName === 'INPUT' && /^(checkbox|radio)$/.test(old.type)) return;
  morph(old, fresh);
}

// make returns an element with properties and children.
function make(tag, properties, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

// parse makes elements of the text of a part.
function parse(html) {
  const t = document.createElement('template');
  t.innerHTML = html;
  return t.content;
}

// put makes a part the content of an element.
function put(element, html) {
  const focused = document.activeElement;
  morph(element, parse(html));
  if (focused !== document.activeElement && element.contains(focused)) focused.focus({ preventScroll: true }); // it was moved
  dress(element);
}

// part fetches a part of a page. An error of the server is a part, too: the answer says so by ok. to is where it leads instead.
async function part(url, options = {}) {
  const answer = await fetch(url, { ...options, headers: { ...options.headers, 'X-Carillon-Part': '1' }, redirect: 'follow' });
  return { ok: answer.ok, status: answer.status, url: answer.url, to: answer.headers.get('X-Carillon-Go'), html: await answer.text() };
}

const asked = new WeakMap(); // by element: what was asked for it last
let silent = false; // the last one had no answer

// into fetches a part and puts it into an element, unless something else is asked for that meanwhile. The result is the answer,
// null for none.
async function into(target, url) {
  const mine = {};
  asked.set(target, mine);
  target.setAttribute('aria-busy', 'true');
  try {
    const answer = await part(url);
    if (asked.get(target) !== mine) return null;
    if (silent) say('');
    silent = false;
    put(target, answer.html);
    return answer;
  } catch {
    if (asked.get(target) !== mine) return null;
    silent = true;
    say(document.body.dataset.lost, true);
    return null;
  } finally {
    if (asked.get(target) === mine) target.removeAttribute('aria-busy');
  }
}

let saying = 0; // the timer of what was said last

// say tells something once, to those who look and to those who listen. It stays in sight while the page is scrolled: what is
// bad until something else is said, anything else for as long as it takes to read. What has the focus is not below it.
function say(text, bad = false) {
  const note = $('#note');
  if (note.textContent !== text) note.textContent = text;
  note.hidden = !text;
  note.classList.toggle('bad', bad);
  clearTimeout(saying);
  stick(Boolean(text));
  if (text && !bad) saying = setTimeout(stick, 8000, false);
}

function stick(sticks) {
  const note = $('#note');
  note.classList.toggle('told', sticks);
  const room = sticks ? note.offsetHeight + 8 : 0;
  document.documentElement.style.setProperty('--told', `${room}px`);
  const focus = document.activeElement;
  if (!sticks || !focus || focus === document.body || focus.contains(note) || focus.closest('dialog')) return;
  const { top, bottom } = focus.getBoundingClientRect();
  if (bottom > 0 && top < room) scrollBy(0, top - room - 8);
}

// ---- live --------------------------------------------------------------------------------------------------------------

// why asks for what a browser does not tell of live parts that are refused: the reason, and how long to wait before they are
// asked for again. What only somebody can change, as by a sign-in in another tab, is asked for less often.
async function why(url) {
  const asking = new AbortController();
  try {
    const answer = await fetch(url, { headers: { 'X-Carillon-Part': '1' }, signal: asking.signal });
    if (answer.ok) return { html: '', wait: 1000 };
    return { html: await answer.text(), wait: answer.status < 500 && answer.status !== 429 ? 15000 : 3000 };
  } catch {
    return { html: '', wait: 3000 };
  } finally {
    asking.abort();
  }
}

// plain is the text of a part.
const plain = (html) => parse(html).textContent.replace(/\s+/g, ' ').trim();

// stream receives events while the page is visible. After an error it connects again and continues after the last event.
// take(name, data) gets the events in names. tell(state, html) gets "live", "lost" with the reason if the server refuses, and
// "ended" with the reason. The result follows an address, "" for none.
function stream(names, take, tell) {
  let source = null;
  let address = '';
  let last = ''; // the id of the last event
  let again = 0;
  const close = () => {
    clearTimeout(again);
    source?.close();
    source = null;
  };
  const open = () => {
    if (source || !address || document.hidden) return;
    const url = new URL(address, location);
    if (last) url.searchParams.set('after', last);
    const mine = new EventSource(url);
    source = mine;
    mine.onopen = () => tell('live', '');
    mine.onerror = async () => {
      tell('lost', '');
      if (mine !== source || mine.readyState !== EventSource.CLOSED) return;
      source = null;
      const of = address;
      const { html, wait } = await why(url);
      if (source || of !== address) return; // it is followed again, or another address is
      if (html) tell('lost', html);
      clearTimeout(again);
      again = setTimeout(open, wait);
    };
    mine.addEventListener('end', (e) => {
      address = '';
      close();
      tell('ended', e.data);
    });
    mine.addEventListener('held', (e) => put($('#held'), e.data)); // the banner of every page
    for (const name of names) {
      mine.addEventListener(name, (e) => {
        last = e.lastEventId || last;
        take(name, e.data);
      });
    }
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  window.addEventListener('pagehide', close);
  window.addEventListener('pageshow', open); // the browser kept the page
  return (to) => {
    close();
    address = to;
    last = '';
    open();
  };
}

// live keeps the parts of a page up to date: see frame.Request.Live. An event without a part is one for the page's script.
function live(element) {
  let lost = false;
  const to = stream(element.dataset.parts.split(' '), (name, data) => {
    const target = document.getElementById(name);
    if (target) put(target, data);
    else element.dispatchEvent(new CustomEvent(`carillon:${name}`));
  }, (state, html) => {
    if (html) say(plain(html), true);
    else if (state === 'live' && lost) say(document.body.dataset.back);
    else if (state === 'lost' && !lost) say(document.body.dataset.lost, true);
    lost = state === 'lost';
  });
  element.addEventListener('carillon:follow', (e) => { // another address from now on
    if (element.dataset.events === e.detail) return;
    element.dataset.events = e.detail;
    to(e.detail);
  });
  to(element.dataset.events);
}

// ---- search ------------------------------------------------------------------------------------------------------------

// search sends a GET form as somebody types, and puts the answer into the element that data-into names. The address of the
// page follows, so it can be kept and sent to others. A field with data-whole is of use as a whole only, as the name of a
// zone: it counts when it is left, with Enter, or as one of its list.
function search(form) {
  let timer = 0;
  const go = async () => {
    const query = new URLSearchParams([...new FormData(form)].filter(([, v]) => v !== ''));
    const url = `${form.getAttribute('action') || location.pathname}?${query}`;
    const target = $(form.dataset.into);
    const answer = await into(target, url);
    if (!answer) return;
    follow(target, query);
    if (answer.ok) history.replaceState(null, '', query.size ? url : url.slice(0, -1));
  };
  form.addEventListener('input', (e) => {
    const { dataset, value, list } = e.target;
    const whole = 'whole' in dataset;
    if (whole && value !== '' && ![...(list?.options ?? [])].some((o) => o.value === value)) return; // half a name is none
    clearTimeout(timer);
    if (whole) go();
    else timer = setTimeout(go, 120);
  });
  form.addEventListener('change', (e) => {
    if ('whole' in e.target.dataset) form.requestSubmit();
  });
  form.addEventListener('submit', (e) => {
    e.preventDefault();
    clearTimeout(timer);
    go();
  });
}

// follow has the live part around an element follow what a search has found.
function follow(element, query) {
  const around = element.closest('[data-events]');
  if (!around) return;
  const fresh = new URLSearchParams(query);
  fresh.set('follow', '1');
  around.dispatchEvent(new CustomEvent('carillon:follow', { detail: `${around.dataset.events.split('?')[0]}?${fresh}` }));
}

// ---- selections --------------------------------------------------------------------------------------------------------

// picking lets the checkbox data-all select all boxes, and Shift a range. changed(n) gets the number of selected boxes. The
// result counts them again.
function picking(root, boxes, changed = () => {}) {
  let last = null; // the box that was clicked last
  const count = () => {
    const all = boxes();
    const n = all.filter((b) => b.checked).length;
    const head = $('[data-all]', root);
    if (head) {
      head.disabled = all.length === 0;
      head.checked = n > 0 && n === all.length;
      head.indeterminate = n > 0 && n < all.length;
    }
    changed(n);
  };
  root.addEventListener('click', (e) => {
    const all = boxes();
    if (e.target.matches('[data-all]')) {
      for (const b of all) b.checked = e.target.checked;
    } else if (!all.includes(e.target)) {
      return;
    } else {
      if (e.shiftKey && all.includes(last)) {
        const [from, to] = [all.indexOf(last), all.indexOf(e.target)].sort((a, b) => a - b);
        for (const b of all.slice(from, to + 1)) b.checked = e.target.checked;
      }
      last = e.target;
    }
    count();
  });
  count();
  return count;
}

// ---- time range --------------------------------------------------------------------------------------------------------

// ranged is the address of this page with another time range.
function ranged(since, until) {
  const url = new URL(location);
  for (const [name, value] of Object.entries({ since, until, before: '' })) value ? url.searchParams.set(name, value) : url.searchParams.delete(name);
  return url;
}

document.addEventListener('click', (e) => {
  const preset = e.target.closest('a[data-since]');
  if (preset) preset.href = ranged(preset.dataset.since, ''); // with the filter as it is now
});
document.addEventListener('submit', (e) => {
  if (!e.target.matches('[data-range]')) return;
  e.preventDefault();
  location = ranged(e.target.since.value.trim(), e.target.until.value.trim());
});

// A drag over a chart zooms in.
document.addEventListener('pointerdown', (e) => {
  const chart = e.target.closest('[data-steps]');
  if (!chart || e.button || e.pointerType === 'touch') return;
  e.preventDefault();
  const { left, top, width, height } = chart.getBoundingClientRect();
  const { from, step, steps } = chart.dataset;
  const at = (x) => Math.min(1, Math.max(0, (x - left) / width));
  const mark = document.body.appendChild(make('div', { className: 'zoom' }));
  const over = new AbortController();
  const drag = (to) => {
    const [a, b] = [at(e.clientX), at(to.clientX)].sort((x, y) => x - y);
    Object.assign(mark.style, { left: `${left + width * a}px`, width: `${width * (b - a)}px`, top: `${top}px`, height: `${height}px` });
    return [a, b];
  };
  const end = (to) => {
    over.abort();
    const [a, b] = drag(to);
    mark.remove();
    if (to.type !== 'pointerup' || Math.abs(to.clientX - e.clientX) < 5) return;
    const time = (n) => `${new Date(Number(from) + n * step).toISOString().slice(0, 19)}Z`;
    location = ranged(time(Math.floor(a * steps)), time(Math.ceil(b * steps)));
  };
  for (const [name, does] of [['pointermove', drag], ['pointerup', end], ['pointercancel', end]]) document.addEventListener(name, does, { signal: over.signal });
});

// ---- keys --------------------------------------------------------------------------------------------------------------

const lines = () => $$('[data-line]').filter((e) => e.offsetParent !== null);

function move(by) {
  const all = lines();
  if (!all.length) return;
  const now = all.findIndex((e) => e.hasAttribute('data-current'));
  const next = all[Math.min(all.length - 1, Math.max(0, now < 0 ? (by > 0 ? 0 : all.length - 1) : now + by))];
  for (const e of all) e.removeAttribute('data-current');
  next.setAttribute('data-current', '');
  next.scrollIntoView({ block: 'nearest' });
  ($('a[href]', next) || next).focus({ preventScroll: true });
}

// single reports whether single keys do anything: who speaks to the browser may turn them off (WCAG 2.1.4). It holds for this
// browser.
const off = 'carillon-keys-off';

function single(on) {
  try {
    if (on === false) localStorage.setItem(off, '1');
    else if (on) localStorage.removeItem(off);
    return !localStorage.getItem(off);
  } catch { // nothing is kept here
    return on ?? true;
  }
}

let going = 0; // when g was pressed, of which the next letter is the second half for as long as a slow hand needs

function key(e) {
  if (e.key === 'k' && (e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && finder && !$('dialog[open]')) {
    e.preventDefault();
    finder.showModal();
    return;
  }
  if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
  const menu = e.key === 'Escape' && e.target.closest('details.menu[open]');
  if (menu) {
    menu.open = false;
    $('summary', menu).focus();
    return;
  }
  const typed = e.target.matches?.('input:not([type=checkbox], [type=radio]), select, textarea'); // what letters are typed into
  if (typed || e.target.isContentEditable) {
    if (e.key === 'Escape') {
      if (e.target.type === 'search') e.preventDefault(); // which would empty it: what was found is to be gone through
      e.target.blur();
    }
    return;
  }
  if ($('dialog[open]') || !single()) return;
  if (Date.now() - going < 5000) {
    going = 0;
    const link = $$('[data-go]').find((a) => a.dataset.go === e.key);
    if (link) {
      e.preventDefault();
      link.click();
      return;
    }
  }
  const current = $('[data-line][data-current]');
  const does = {
    '/': () => { const s = $('[data-search-field]'); if (!s) finder?.showModal(); s?.focus(); s?.select(); return s ?? finder; },
    '?': () => { $('#help').showModal(); return true; },
    j: () => { move(1); return true; },
    k: () => { move(-1); return true; },
    x: () => { const box = current && $('input[type=checkbox]', current); box?.click(); return box; },
    g: () => { going = Date.now(); return true; },
  }[e.key];
  if (does && does()) e.preventDefault();
}

// ---- palette -----------------------------------------------------------------------------------------------------------

const finder = $('#palette');

// select selects an option of the list of a field; undefined: none.
function select(field, list, option) {
  for (const one of list.children) one.setAttribute('aria-selected', one === option);
  field.setAttribute('aria-activedescendant', option?.id ?? '');
  option?.scrollIntoView({ block: 'nearest' });
}

// find makes a dialog offer the pages of the menu, the buttons of this page, jobs and runs. It asks the pages of jobs and runs
// for what they show, so that it offers what the reader may see, and do.
function find(dialog) {
  const field = $('input', dialog);
  const list = $('ul', dialog);
  const most = 8; // of a kind
  let timer = 0;
  let turn = 0;
  const add = (kind, name, go) => {
    const of = make('span', { className: 'faint' }, list.dataset[kind]);
    const li = make('li', { id: `palette-${list.children.length}`, role: 'option' }, make('bdi', {}, name), of);
    li.addEventListener('click', () => {
      dialog.close();
      go();
    });
    list.append(li);
    if (list.children.length === 1) select(field, list, li);
    else li.setAttribute('aria-selected', 'false');
  };
  const open = (path) => () => location.assign(path);
  const here = (kind, selector, text) => { // what this page has, if no other has the same name
    const named = Map.groupBy($$(selector).filter((e) => e.offsetParent && !e.disabled), (e) => e.textContent.replace(/\s+/g, ' ').trim());
    const found = [...named].filter(([name, all]) => all.length === 1 && name && name.toLowerCase().includes(text.toLowerCase()));
    for (const [name, [e]] of found.slice(0, most)) add(kind, name, () => { e.focus(); e.click(); });
  };
  const runs = async (text, mine) => { // the ID of an occurrence or of an attempt: collection/job@time#1
    const id = text.match(/^(?:([^/@]+)\/)?([^/@]+)@([^#/]+(?:Z|[+-]\d\d:\d\d))/);
    const path = id && `/console/jobs/${[id[1] ?? 'default', id[2], 'runs', id[3]].map(encodeURIComponent).join('/')}`;
    if (path && (await part(path)).ok && mine === turn) add('kindRun', text, open(path));
  };
  const jobs = async (text, mine) => {
    const search = `/console/jobs?q=${encodeURIComponent(text)}`;
    const rows = $$('tr[data-job]', parse((await part(search)).html)).slice(0, most);
    if (mine !== turn) return;
    for (const row of rows) add('kindJob', row.dataset.job, open($('.name a', row).getAttribute('href')));
    add('kindPage', `${list.dataset.all}: ${text}`, open(search));
  };
  const look = async () => {
    turn += 1;
    const mine = turn;
    const text = field.value.trim();
    list.replaceChildren();
    here('kindPage', '.top nav a', text); // first: Enter without a text does nothing that lasts
    here('kindAction', 'main :is(button, a.button, summary.button):not(:is(td, li, dialog) *)', text);
    try {
      if (text.includes('@')) await runs(text, mine);
      else if (text) await jobs(text, mine);
    } catch { // the pages and actions are still of use
      say(document.body.dataset.lost, true);
    }
  };
  dialog.addEventListener('close', () => { field.value = ''; });
  field.addEventListener('focus', look);
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(look, 120);
  });
  field.addEventListener('keydown', (e) => {
    const all = $$('li', list);
    const at = all.findIndex((li) => li.getAttribute('aria-selected') === 'true');
    if (e.key === 'Enter') all[at]?.click();
    else if (e.key === 'ArrowDown' || e.key === 'ArrowUp') select(field, list, all.at((at + (e.key === 'ArrowDown' ? 1 : -1)) % all.length));
    else return;
    e.preventDefault();
  });
}
if (finder) find(finder);

// ---- beginning ---------------------------------------------------------------------------------------------------------

async function copy(button) {
  const from = document.getElementById(button.dataset.copy);
  const text = from.value ?? from.textContent;
  try {
    await navigator.clipboard.writeText(text);
    say(document.body.dataset.copied);
  } catch { // not over plain HTTP of another host: select it, so that the keys copy it
    const range = document.createRange();
    range.selectNodeContents(from);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }
}

window.carillon = { $, $$, make, select, morph, parse, put, into, part, plain, say, stream, picking, dress };

// The server writes times on the browser's clock, too, and learns which one that is by a cookie: the first page of all is
// asked for again when it has come too early.
const clock = `carillon-zone=${encodeURIComponent(zone)}`;
const knows = () => document.cookie.split('; ').includes(clock);
const known = knows();
document.cookie = `${clock}; path=/; SameSite=Lax; max-age=31536000`;
if (!known && knows() && (document.body.dataset.clock ?? zone) !== zone) location.reload();
document.addEventListener('keydown', key);
document.addEventListener('click', (e) => {
  const button = e.target.closest('[data-copy]');
  if (button) copy(button);
  if (e.ctrlKey || e.metaKey || e.shiftKey || e.button) return; // a link opens elsewhere
  const opens = e.target.closest('[data-dialog]'); // a button or link that opens a dialog, by its id
  const closes = e.target.closest('dialog [data-close]');
  if (opens) document.getElementById(opens.dataset.dialog).showModal();
  if (closes) closes.closest('dialog').close();
  if (opens || closes) e.preventDefault();
});
for (const box of $$('[data-single]')) {
  box.checked = single();
  box.addEventListener('change', () => single(box.checked));
}
dress(document.body);
const menuItem = $('.top nav [aria-current]'); // on a phone, the menu is one row, which scrolls
if (menuItem) menuItem.closest('nav').scrollLeft = menuItem.offsetLeft - 16;
document.addEventListener('DOMContentLoaded', () => { // scripts of rooms are there by then, and listen for the source
  window.addEventListener('resize', () => reachable());
  for (const e of $$('[data-events]')) live(e);
});
for (const f of $$('form[data-into]')) search(f);
setInterval(distances, 1000);
