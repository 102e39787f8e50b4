// The pages on which a job is created and changed. The page stays while the server answers, and so do the typed values, secrets
// included, which no answer has. They also stay if the server is unreachable or requires a sign-in.

const { $, $$, make, put, parse, part, dress, lead } = window.carillon;
const page = $('#editor, #newjob');
const creates = page?.id === 'newjob';
let changed = false; // leaving the page would lose input

// keyOf identifies the field of a secret by the name in its row, because rows come and go.
function keyOf(input) {
  const row = input.closest('.jobform-row');
  if (!row) return input.name;
  return `${input.name.replace(/#\d+~/, '#~')} ${$('input[name$="~name"]', row)?.value}`;
}

const secrets = () => $$('input[type=password], [data-jobform-typed]', page);

// replace shows a new form with the secrets that were typed into the old one.
function replace(fresh, merged) {
  const typed = new Map(secrets().filter((e) => e.value).map((e) => [keyOf(e), e.value]));
  for (const row of $$('.jobform-row', page)) { // a value that is a secret by the name of its row was a text before
    const value = $('[name$="~value"]', row);
    if (value?.value) typed.set(keyOf(value), value.value);
  }
  const text = $('#yaml-text');
  const was = text && { value: text.value, start: text.selectionStart, end: text.selectionEnd, top: text.scrollTop, left: text.scrollLeft };
  page.replaceChildren(fresh);
  for (const e of secrets()) {
    const value = typed.get(keyOf(e));
    if (value && !(merged && e.closest('.jobform-item'))) e.value = value;
  }
  const now = $('#yaml-text');
  if (was && now) {
    if (now.hasAttribute('data-redacted')) now.value = was.value;
    if (now.value === was.value) {
      now.setSelectionRange(was.start, was.end);
      now.scrollTop = was.top;
      now.scrollLeft = was.left;
    }
  }
  dress(page);
}

// attend moves the focus to the result of a button.
function attend(pressed) {
  if (/^(add|remove|retype):/.test(pressed)) {
    const fresh = $('[autofocus]', page);
    if (fresh) ($('input:not([type=hidden]), select, textarea', fresh) || fresh).focus();
    else regain(pressed);
    return;
  }
  const result = $('#conflict, #review', page);
  if (!result && lead($('#wrong', page))) return;
  const target = result || $('#wrong, .newjob-text, #newjob-pasted', page) || $('#edit-told:has(*)', page);
  if (!target) {
    regain(pressed);
    return;
  }
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: result ? 'start' : 'nearest' });
}

// regain returns the focus to the pressed button, or to the field that it belongs to.
function regain(pressed) {
  const button = $$('button', page).find((b) => b.value === pressed && !b.hidden);
  (button || document.getElementsByName(pressed.replace(/^retype:/, ''))[0])?.focus({ preventScroll: true });
}

// tell shows why a request failed, and leaves the form as it is.
function tell(problem) {
  const told = $('#edit-told');
  told.replaceChildren(problem);
  const first = told.firstElementChild;
  first.tabIndex = -1;
  first.focus({ preventScroll: true });
  first.scrollIntoView({ block: 'center' });
}

// message returns a problem, with a link to the sign-in if that solves it.
function message(text, link) {
  const p = make('p', { className: 'problem', role: 'alert' }, text);
  if (link) p.append(' ', make('a', { href: '/console/sign-in', target: '_blank', rel: 'noopener' }, link));
  return p;
}

// follow keeps the view of the job in the address of the page.
function follow() {
  const as = $('[name=as]', page).value;
  if (new URLSearchParams(location.search).get('as') !== as) history.replaceState(null, '', `?as=${as}`);
}

// take shows the answer to a button.
function take(html, pressed) {
  const fresh = parse(html);
  if (!$('#edit-told', fresh)) { // an error instead of the form
    tell(fresh);
    return;
  }
  if (pressed === 'paste') { // the fields are another job's
    page.replaceChildren(fresh);
    dress(page);
  } else if (creates) put(page, html);
  else {
    replace(fresh, /^merge/.test(pressed));
    follow();
  }
  attend(pressed);
}

// submit posts the form, once at a time.
async function submit(form, submitter) {
  if (page.getAttribute('aria-busy')) return;
  const body = new URLSearchParams(new FormData(form));
  if (submitter?.name) body.append(submitter.name, submitter.value);
  page.setAttribute('aria-busy', 'true');
  try {
    const answer = await part(form.action, { method: 'POST', body });
    if (answer.status === 401) tell(message(page.dataset.signin, page.dataset.signinLink));
    else if (answer.to) {
      changed = false;
      location.assign(answer.to);
    } else take(answer.html, submitter?.value ?? '');
  } catch {
    tell(message(page.dataset.lost));
  } finally {
    page.removeAttribute('aria-busy');
  }
}

page?.addEventListener('submit', (e) => {
  e.preventDefault();
  submit(e.target, e.submitter);
});
page?.addEventListener('input', () => { changed = true; }, true);
window.addEventListener('beforeunload', (e) => {
  if (changed) e.preventDefault();
});
if (creates) {
  page.addEventListener('carillon:pasted', (e) => { // maybe a whole job
    if (!/(^|[\s{,])"?action"?\s*:/i.test(e.target.value)) return;
    e.preventDefault();
    submit(page, { name: 'do', value: 'paste' });
  });
}
