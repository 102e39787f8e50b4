// The schedule builder: says what a schedule means while somebody types it, and puts what is pasted into the fields of its
// language. Without it the fields work, and a button of the page asks instead.

const { $, $$, put, parse, part, dress } = window.carillon;

const outlook = () => document.getElementById('schedule-outlook');

function form() { return $('#schedule-builder')?.closest('form'); }

// fields are those of the builder, and the job's name, of which hashes are made.
function fields() {
  const all = new URLSearchParams();
  for (const [name, value] of new FormData(form())) {
    if (typeof value === 'string' && (name.startsWith('schedule.') || name === 'name')) all.append(name, value);
  }
  return all;
}

let asking = null;

// ask sends the fields, and shows the answer; one that is late is forgotten, at the server too.
async function ask() {
  const into = outlook();
  asking?.abort();
  const mine = new AbortController();
  asking = mine;
  into?.setAttribute('aria-busy', 'true');
  try {
    const answer = await part($('#schedule-builder').dataset.preview, { method: 'POST', body: fields(), signal: mine.signal });
    if (asking !== mine) return;
    if (!answer.ok) {
      if (into) put(into, answer.html);
      return;
    }
    show(parse(answer.html));
  } catch (e) {
    if (e.name !== 'AbortError' && into) into.textContent = $('#schedule-builder').dataset.lost;
  } finally {
    if (asking === mine) into?.removeAttribute('aria-busy');
  }
}

// show puts the parts of an answer where they belong.
function show(answer) {
  for (const e of $$('[data-put]', answer)) {
    const target = document.getElementById(e.dataset.put);
    if (!target) continue;
    if (e.dataset.put === 'schedule-builder') exchange(target, e.firstElementChild);
    else put(target, e.innerHTML);
  }
  const wrong = new Map($$('[data-wrong]', answer).map((e) => [e.dataset.wrong, e]));
  for (const place of $$('[id^="wrong-schedule."]')) {
    const name = place.id.slice('wrong-'.length);
    const now = wrong.get(name);
    place.hidden = !now;
    if (now?.innerHTML !== place.innerHTML) place.innerHTML = now ? now.innerHTML : '';
    const field = document.getElementById(name);
    if (now) field?.setAttribute('aria-invalid', 'true');
    else field?.removeAttribute('aria-invalid');
  }
}

// exchange takes other fields, after something was pasted; the focus goes to the one that has it now.
function exchange(old, fresh) {
  const focused = old.contains(document.activeElement);
  old.replaceWith(fresh);
  dress(fresh);
  if (focused) ($('.pane-cron input, .pane-rrule textarea, .pane input', fresh)?.offsetParent ? $('.pane-cron input', fresh) : $('[name="schedule.when"]:checked', fresh))?.focus();
}

let timer = 0;

function soon(after) {
  clearTimeout(timer);
  timer = setTimeout(ask, after);
}

document.addEventListener('input', (e) => {
  const name = e.target.name || '';
  if (!form()?.contains(e.target)) return;
  if (name.startsWith('schedule.')) soon(e.target.type === 'radio' || e.target.type === 'checkbox' || e.target.tagName === 'SELECT' ? 0 : 120);
  else if (name === 'name') soon(400);
});

document.addEventListener('click', (e) => {
  const example = e.target.closest('[data-example]');
  if (example) {
    const field = document.getElementById(example.dataset.exampleInto);
    field.value = example.dataset.example;
    const dialect = document.getElementById(example.dataset.exampleInto.replace('recurrence.', '') + '.dialect');
    if (dialect && example.dataset.exampleDialect) dialect.value = example.dataset.exampleDialect;
    field.scrollIntoView({ block: 'nearest' });
    field.dispatchEvent(new Event('input', { bubbles: true }));
    return;
  }
  const zone = e.target.closest('[data-zone-here], [data-zone]');
  if (zone) {
    const field = document.getElementById('schedule.timeZone');
    field.value = zone.dataset.zone || here;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
});

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
const proposed = $('[name="schedule.timeZone"][data-proposed]');
if (proposed && here) proposed.value = here; // the server did not know it yet on the first page

if ($('#schedule-builder') && outlook()) ask();
