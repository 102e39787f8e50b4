// The schedule builder: says what a schedule means while somebody types it, and puts what is pasted into the fields of its
// language. Without it the fields work, and a button of the page asks instead.

const { $, $$, put, parse, part, dress } = window.carillon;

const outlook = () => document.getElementById('schedule-outlook');

function form() { return $('#schedule-builder')?.closest('form'); }

const paste = 'schedule.paste';

// fields are those of the builder, and the job's name, of which hashes are made. What is being typed for its language to be
// found is not among them before it is complete: "9" may become "9 0 * * MON".
function fields(pasted) {
  const all = new URLSearchParams();
  for (const [name, value] of new FormData(form())) {
    if (name === paste ? pasted : name.startsWith('schedule.') || name === 'name') all.append(name, value);
  }
  return all;
}

let asking = null; // the question that is under way
let again = false; // something was typed since then

// ask sends the fields, and shows the answer; one that is late is forgotten, at the server too.
async function ask(pasted = false) {
  const into = outlook();
  asking?.abort();
  const mine = new AbortController();
  asking = mine;
  again = false;
  mine.since = performance.now();
  into?.setAttribute('aria-busy', 'true');
  try {
    const answer = await part($('#schedule-builder').dataset.preview, { method: 'POST', body: fields(pasted), signal: mine.signal });
    if (asking !== mine) return;
    if (!answer.ok) {
      if (into) put(into, answer.html);
      return;
    }
    show(parse(answer.html), pasted);
  } catch (e) {
    if (e.name !== 'AbortError' && into) into.textContent = $('#schedule-builder').dataset.lost;
  } finally {
    if (asking === mine) {
      asking = null;
      into?.removeAttribute('aria-busy');
      if (again) ask();
    }
  }
}

// pasted asks what a pasted text means, unless the page prevents that, because it is more than a schedule.
function pasted(field) {
  if (field.dispatchEvent(new CustomEvent('carillon:pasted', { bubbles: true, cancelable: true }))) ask(true);
}

// soon asks what is typed means: at once, or when the question before is answered, so that there is one at a time. An answer
// that takes long is not waited for.
function soon() {
  if (asking && performance.now() - asking.since < 300) again = true;
  else ask();
}

// show puts the parts of an answer where they belong.
function show(answer, pasted) {
  for (const e of $$('[data-put]', answer)) {
    const target = document.getElementById(e.dataset.put);
    if (!target) continue;
    if (e.dataset.put === 'schedule-builder') exchange(target, e.firstElementChild);
    else put(target, e.innerHTML);
  }
  const wrong = new Map($$('[data-wrong]', answer).map((e) => [e.dataset.wrong, e]));
  for (const place of $$('[id^="wrong-schedule."]')) {
    const name = place.id.slice('wrong-'.length);
    if (name === paste && !pasted) continue; // it was not asked for
    const now = wrong.get(name);
    place.hidden = !now;
    if (now?.innerHTML !== place.innerHTML) place.innerHTML = now ? now.innerHTML : '';
    const field = document.getElementById(name);
    if (now) field?.setAttribute('aria-invalid', 'true');
    else field?.removeAttribute('aria-invalid');
  }
}

// first are the fields in which each choice begins, plain.times where there is none here.
const first = { cron: 'recurrence.cron', rrule: 'recurrence.rrule', azure: 'recurrence.interval', every: 'plain.n', once: 'plain.once' };

// exchange takes other fields, after something was pasted; the focus goes to where it is now.
function exchange(old, fresh) {
  const focused = old.contains(document.activeElement);
  const field = document.getElementById(paste);
  if (field) field.value = ''; // or the browser reports a change as the field goes, and the same text is asked for again
  old.replaceWith(fresh);
  dress(fresh);
  const when = $('[name="schedule.when"]:checked', fresh)?.value;
  if (focused) document.getElementById(`schedule.${first[when] || 'plain.times'}`)?.focus();
}

document.addEventListener('input', (e) => {
  const name = e.target.name || '';
  if (!form()?.contains(e.target)) return;
  if (name === paste) {
    if (e.inputType === 'insertFromPaste' || !e.inputType) pasted(e.target); // or an example
  } else if (name.startsWith('schedule.') || name === 'name') soon();
});

document.addEventListener('change', (e) => {
  if (e.target.name === paste && e.target.value && form()?.contains(e.target)) pasted(e.target);
});

document.addEventListener('keydown', (e) => {
  if (e.target.name !== paste || e.key !== 'Enter' || e.shiftKey || e.isComposing) return;
  e.preventDefault();
  pasted(e.target);
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

if ($('#schedule-builder') && outlook()) ask();
