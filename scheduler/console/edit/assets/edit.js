// The page on which a job is changed. Without this it works by loading it again. With it, what was typed stays where it is,
// secrets too, which no answer has; and it stays when the server cannot be reached or asks who is there.

const { $, $$, parse, dress, lead, send } = window.carillon;
const editor = $('#editor');

// keyOf tells a secret's field apart from others, also when rows come and go: by the name that the row has.
function keyOf(input) {
  const row = input.closest('.jobform-row');
  if (!row) return input.name;
  return `${input.name.replace(/#\d+~/, '#~')} ${$('input[name$="~name"]', row)?.value}`;
}

const secrets = () => $$('input[type=password], [data-jobform-typed]', editor);

// replace puts a new form in place of the old one, with the secrets that were typed into that.
function replace(html, merged) {
  const typed = new Map(secrets().filter((e) => e.value).map((e) => [keyOf(e), e.value]));
  for (const row of $$('.jobform-row', editor)) { // a value that is a secret by the name of its row was a text before
    const value = $('[name$="~value"]', row);
    if (value?.value) typed.set(keyOf(value), value.value);
  }
  const text = $('#yaml-text');
  const was = text && { value: text.value, start: text.selectionStart, end: text.selectionEnd, top: text.scrollTop, left: text.scrollLeft };
  editor.replaceChildren(parse(html));
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
  dress(editor);
}

// attend leads to what is new.
function attend(submitter) {
  const fresh = $('[autofocus]', editor);
  if (fresh) {
    ($('input, select, textarea', fresh) || fresh).focus();
    return;
  }
  const told = $('#edit-told');
  const target = $('#conflict', editor) || $('#review', editor) || (told?.children.length ? told : null);
  if (!/^(add|remove|retype):/.test(submitter?.value ?? '') && target) {
    if (target === told && lead(told)) return;
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: 'start' });
    return;
  }
  const value = submitter?.value.replace(/^retype:/, '');
  ($$('button', editor).find((b) => b.value === submitter?.value && !b.hidden) || document.getElementsByName(value ?? '')[0])?.focus({ preventScroll: true });
}

// tell says what went wrong with a request, and leaves the form as it is.
function tell(...nodes) {
  const told = $('#edit-told');
  told.replaceChildren(...nodes);
  told.focus({ preventScroll: true });
  told.scrollIntoView({ block: 'nearest' });
}

// follow has the address lead to the way in which the job is shown now, so that loading it again does.
function follow() {
  const as = $('[name=as]', editor).value;
  if (new URLSearchParams(location.search).get('as') !== as) history.replaceState(null, '', `?as=${as}`);
}

function submit(form, submitter) {
  const body = new URLSearchParams(new FormData(form));
  if (submitter?.name) body.append(submitter.name, submitter.value);
  send(editor, form.action, body, (html) => {
    if (!html.includes('id="edit-form"')) {
      tell(parse(html));
      return;
    }
    replace(html, /^merge/.test(submitter?.value));
    follow();
    attend(submitter);
  }, tell);
}

editor.addEventListener('submit', (e) => {
  if (!e.target.matches('[data-edit]')) return;
  e.preventDefault();
  submit(e.target, e.submitter);
});
