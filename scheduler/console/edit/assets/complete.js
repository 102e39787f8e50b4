// A job as text: the numbers of its lines, the way to a line, and suggestions of what may stand at the cursor.

const { $, $$, make, select } = window.carillon;
let root = null; // what a job may have

async function learn(address) {
  if (root) return root;
  const answer = await fetch(address);
  if (answer.ok) root = await answer.json();
  return root;
}

// ---- where the cursor is -----------------------------------------------------------------------------------------------

const keyLine = /^(\s*(?:- +)*)(["']?)([\w$.-]+)\2\s*:(?:\s+(.*))?$/;

// yamlAt says what is being typed in YAML: the names around it, the type and the names beside it, and whether it is a name or
// the value of one.
function yamlAt(text, at) {
  const lines = text.split('\n');
  const row = text.slice(0, at).split('\n').length - 1;
  const before = text.slice(0, at).split('\n')[row];
  if (/(^|\s)#/.test(before)) return null;
  let m = /^(\s*(?:- +)*)(["']?)([\w$.-]+)\2\s*:\s+(["']?)([^\s"'#[\]{},]*)$/.exec(before);
  const value = m && { column: m[1].length, name: m[3], prefix: m[5] };
  m = value ? null : /^(\s*(?:- +)*)([\w$.-]*)$/.exec(before);
  if (!value && !m) return null;
  const column = value ? value.column : m[1].length;
  const path = parentsOf(lines, row, column);
  const beside = besides(lines, row, column);
  if (inBlock(lines, row)) return null;
  return value
    ? { path: [...path, value.name], value: true, prefix: value.prefix, beside, column }
    : { path, value: false, prefix: m[2], beside, column, dash: /- +$/.test(m[1]) };
}

// parentsOf are the names of the objects around a line.
function parentsOf(lines, row, column) {
  const names = [];
  let least = column;
  for (let i = row - 1; i >= 0 && least > 0; i--) {
    const m = keyLine.exec(lines[i]);
    if (!m || m[1].length >= least) continue;
    if (m[4] && !/^[#&]/.test(m[4]) && m[1].length < least) { // it has a value, so it is around nothing
      least = Math.min(least, m[1].length + 1);
      continue;
    }
    names.unshift(m[3]);
    least = m[1].length;
  }
  return names;
}

// besides are the members of the object that a line stands in, by name.
function besides(lines, row, column) {
  const found = {};
  const look = (from, step) => {
    for (let i = from; i >= 0 && i < lines.length; i += step) {
      if (!lines[i].trim() || /^\s*#/.test(lines[i])) continue;
      const m = keyLine.exec(lines[i]);
      const indent = m ? m[1].length : lines[i].length - lines[i].trimStart().length;
      const dash = /^\s*- /.test(lines[i]);
      if (indent < column) return;
      if (step > 0 && dash && m && m[1].length === column) return; // the next one of a list
      if (m && indent === column) found[m[3]] = (m[4] ?? '').replace(/\s+#.*$/, '').replace(/^["']|["']$/g, '');
      if (step < 0 && dash && m && m[1].length === column) return; // its first line
    }
  };
  if (!/^\s*- /.test(lines[row])) look(row - 1, -1);
  look(row + 1, 1);
  return found;
}

// inBlock reports whether a line is one of a text of several lines.
function inBlock(lines, row) {
  let least = Infinity;
  for (let i = row; i >= 0; i--) {
    const line = lines[i];
    if (!line.trim()) continue;
    const indent = line.length - line.trimStart().length;
    if (i < row && indent < least && /[|>][-+0-9]*\s*$/.test(line)) return true;
    least = Math.min(least, indent);
    if (least === 0) return false;
  }
  return false;
}

// jsonAt is the same for JSON.
function jsonAt(text, at) {
  const stack = [];
  let key = null;
  let expects = 'value';
  let i = 0;
  let open = null; // a string that is not closed
  while (i < at) {
    const c = text[i];
    if (c === '"') {
      let j = i + 1;
      while (j < at && text[j] !== '"') j += text[j] === '\\' ? 2 : 1;
      if (j >= at) { open = text.slice(i + 1, at); break; }
      const word = text.slice(i + 1, j);
      if (expects === 'key') key = word;
      else if (stack.length && stack.at(-1).kind === '{') stack.at(-1).beside[key] = word;
      i = j + 1;
      continue;
    }
    if (c === '{' || c === '[') {
      stack.push({ kind: c, key, beside: {} });
      expects = c === '{' ? 'key' : 'value';
      key = null;
    } else if (c === '}' || c === ']') {
      stack.pop();
      expects = 'value';
    } else if (c === ':') {
      expects = 'value';
      if (stack.length) stack.at(-1).beside[key] = '';
    } else if (c === ',') expects = stack.at(-1)?.kind === '{' ? 'key' : 'value';
    i++;
  }
  if (!stack.length || open === null) return null;
  const path = stack.map((s) => s.key).filter((k) => k !== null);
  const top = stack.at(-1);
  return expects === 'key'
    ? { path, value: false, prefix: open, beside: top.beside, json: true }
    : { path: [...path, key], value: true, prefix: open, beside: top.beside, json: true };
}

// ---- what may stand there ----------------------------------------------------------------------------------------------

const named = (members, name) => members?.find((m) => m.name.toLowerCase() === name.toLowerCase()) ?? members?.find((m) => m.name === '*');

// find returns the member at the end of a path.
function find(path) {
  let at = root;
  for (const name of path[0] === 'properties' ? path.slice(1) : path) {
    const next = named(at.members, name);
    if (!next) return null;
    at = next.recurs ? { ...next, members: at.members } : next;
  }
  return at;
}

function suggestions(place) {
  const prefix = place.prefix.toLowerCase();
  const rank = (text) => (text.toLowerCase().startsWith(prefix) ? 0 : text.toLowerCase().includes(prefix) ? 1 : 2);
  const node = find(place.path);
  if (!node) return [];
  let all = [];
  const words = (node.kind === 'boolean' ? ['true', 'false'] : node.words ?? []).map((w) => ({ name: w }));
  if (place.value) all = words;
  else {
    const type = Object.entries(place.beside).find(([k]) => k.toLowerCase() === 'type')?.[1]?.toLowerCase();
    const there = new Set(Object.keys(place.beside).map((k) => k.toLowerCase()));
    all = (node.members ?? []).filter((m) => m.name !== '*' && !there.has(m.name.toLowerCase()));
    if (type) all = all.filter((m) => !m.types || m.types.some((t) => t.toLowerCase() === type));
    if (place.dash) all = [...words, ...all];
  }
  return all.filter((m) => rank(m.name) < 2).sort((a, b) => rank(a.name) - rank(b.name)).slice(0, 40);
}

// ---- the list ----------------------------------------------------------------------------------------------------------

function editor(box) {
  const area = $('textarea', box);
  const list = $('#yaml-list', box);
  const gutter = $('.yaml-lines', box);
  const said = $('#yaml-said', box);
  let shown = [];
  let place = null;
  let current = -1;
  area.setAttribute('aria-autocomplete', 'list');
  area.setAttribute('aria-controls', list.id);

  const number = () => {
    const n = area.value.split('\n').length;
    while (gutter.children.length > n) gutter.lastChild.remove();
    for (let i = gutter.children.length + 1; i <= n; i++) gutter.append(make('li', { id: `line-${i}` }, i));
    scroll();
  };
  const height = () => parseFloat(getComputedStyle(area).lineHeight);
  const notes = $$('.bad', gutter).map((li) => { // what is wrong, beside its line; the list above has it for those who listen
    const note = make('p', { className: 'yaml-wrong', ariaHidden: 'true' }, li.title);
    note.dataset.line = li.textContent;
    $('.yaml-notes', box).append(note);
    return note;
  });
  const scroll = () => {
    gutter.scrollTop = area.scrollTop;
    for (const n of notes) n.style.top = `${parseFloat(getComputedStyle(area).paddingTop) + (n.dataset.line - 1) * height() - area.scrollTop}px`;
  };

  const close = () => {
    shown = [];
    current = -1;
    list.hidden = true;
    list.replaceChildren();
    area.removeAttribute('aria-activedescendant');
  };

  const activate = (i) => {
    current = i;
    select(area, list, list.children[i]);
  };

  const item = (m, i) => {
    const line = make('span', {}, make('code', {}, m.name));
    const li = make('li', { id: `yaml-option-${i}`, role: 'option' }, line);
    const facts = [m.kind, m.required ? box.dataset.required : '', m.default ? `${box.dataset.default}: ${m.default}` : ''].filter(Boolean).join(' · ');
    if (facts) line.append(make('span', { className: 'faint' }, ` ${facts}`));
    const about = [m.description, m.bounds && `(${m.bounds})`].filter(Boolean).join(' ');
    if (about) li.append(make('span', { className: 'about' }, about));
    li.addEventListener('pointerdown', (e) => e.preventDefault()); // the text keeps the focus
    li.addEventListener('click', () => take(i));
    return li;
  };

  const position = () => {
    const style = getComputedStyle(area);
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    const lines = area.value.slice(0, area.selectionStart).split('\n');
    const typed = lines.at(-1).slice(0, lines.at(-1).length - place.prefix.length);
    const x = area.offsetLeft + parseFloat(style.paddingLeft) + pen.measureText(typed).width - area.scrollLeft;
    const y = area.offsetTop + parseFloat(style.paddingTop) + lines.length * height() - area.scrollTop;
    list.style.left = `${Math.max(0, Math.min(x, area.offsetLeft + area.clientWidth - list.offsetWidth))}px`;
    list.style.top = `${y + 4}px`;
  };

  const suggest = async (asked) => {
    const address = box.dataset.members;
    try {
      if (!(await learn(address))) return;
    } catch { return; }
    if (document.activeElement !== area || area.selectionStart !== area.selectionEnd) return close();
    const json = /^\s*[{[]/.test(area.value);
    place = (json ? jsonAt : yamlAt)(area.value, area.selectionStart);
    if (!place || !asked && place.prefix === '' && !place.value) return close();
    shown = suggestions(place);
    if (!shown.length || shown.length === 1 && shown[0].name === place.prefix && !asked) return close();
    list.replaceChildren(...shown.map(item));
    list.hidden = false;
    position();
    activate(shown.some((m) => m.name === place.prefix) && !asked ? -1 : 0);
    const text = `${shown.length} ${box.dataset.count}`;
    if (said.textContent !== text) said.textContent = text;
  };

  // insert types a text, so that it can be undone.
  const insert = (text) => {
    if (!document.execCommand('insertText', false, text)) area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end');
  };

  const take = (i) => {
    const m = shown[i];
    const isObject = /object/.test(m.kind ?? '') && !/^secret/.test(m.kind);
    let text = m.name;
    if (!place.value && !(place.dash && !m.kind)) {
      const inner = ' '.repeat(place.column + 2);
      if (place.json) text += '": ';
      else if (isObject) text += `:\n${inner}`;
      else text += ': ';
    }
    const goesOn = !place.value && (isObject || m.words?.length > 0 || m.kind === 'boolean'); // what follows is known, too
    area.setSelectionRange(area.selectionStart - place.prefix.length, area.selectionEnd);
    close();
    insert(text);
    number();
    if (goesOn) suggest(true);
    else setTimeout(close); // after what the text's own event has asked for
  };

  area.addEventListener('input', (e) => {
    number();
    for (const n of notes) { // whoever writes in a line is at it
      if (area.value.slice(0, area.selectionStart).split('\n').length === Number(n.dataset.line)) n.hidden = true;
    }
    if (e.inputType?.startsWith('history')) close();
    else suggest(false);
  });
  let pressed = false; // a key was taken: what it types besides is not wanted, where that comes as an event of its own
  area.addEventListener('beforeinput', (e) => { if (pressed && e.inputType === 'insertLineBreak') e.preventDefault(); });
  area.addEventListener('keyup', () => { pressed = false; });
  area.addEventListener('scroll', () => { scroll(); if (!list.hidden) position(); });
  area.addEventListener('blur', close);
  area.addEventListener('click', close);
  area.addEventListener('keydown', (e) => {
    if (e.isComposing) return;
    if (e.key === ' ' && (e.ctrlKey || e.metaKey)) {
      e.preventDefault();
      suggest(true);
      return;
    }
    if (list.hidden) {
      if (e.key === 'Enter' && !e.ctrlKey && !e.metaKey && !/^\s*\{/.test(area.value)) { // the next line begins where this one does
        const line = area.value.slice(0, area.selectionStart).split('\n').at(-1);
        const indent = /^\s*/.exec(line)[0] + (/:\s*$/.test(line) ? '  ' : '');
        if (indent) {
          e.preventDefault();
          insert(`\n${indent}`);
          pressed = true;
        }
      }
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step) activate((current + step + shown.length) % shown.length);
    else if ((e.key === 'Enter' || e.key === 'Tab') && current >= 0) take(current);
    else if (e.key === 'Escape') close();
    else return;
    pressed = e.key === 'Enter';
    e.preventDefault();
    e.stopPropagation();
  });
  number();
}

// ---- the way to a line -------------------------------------------------------------------------------------------------

document.addEventListener('click', (e) => {
  const m = /^#line-(\d+)$/.exec(e.target.closest('a')?.getAttribute('href') ?? '');
  const area = $('#yaml-text');
  if (!m || !area) return;
  e.preventDefault();
  const lines = area.value.split('\n');
  const from = lines.slice(0, m[1] - 1).join('\n').length + (m[1] > 1 ? 1 : 0);
  area.focus();
  area.setSelectionRange(from, from + (lines[m[1] - 1] ?? '').length);
  area.scrollTop = (m[1] - 4) * parseFloat(getComputedStyle(area).lineHeight);
});

const begin = (where) => { for (const box of $$('[data-yaml]', where)) if (!box.dataset.begun) { box.dataset.begun = '1'; editor(box); } };
document.addEventListener('carillon:new', (e) => begin(e.target));
begin(document);
