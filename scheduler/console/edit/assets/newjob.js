// The page on which a job is made. With scripts the page stays while the server answers: what was typed stays where it is,
// secrets too, which no page ever has.

const { $, put, parse, dress, part, lead } = window.carillon;

const form = document.getElementById('newjob');
let changed = false; // something was typed, and would be lost

// tell says what went wrong with a request where whoever pressed a button looks, and leaves the form as it is.
function tell(text, link) {
  const p = Object.assign(document.createElement('p'), { className: 'problem', textContent: text, tabIndex: -1 });
  p.setAttribute('role', 'alert');
  if (link) p.append(' ', Object.assign(document.createElement('a'), { href: '/console/sign-in', target: '_blank', rel: 'noopener', textContent: link }));
  $('#newjob-told').replaceChildren(p);
  p.focus({ preventScroll: true });
  p.scrollIntoView({ block: 'center' });
}

async function send(button) {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.append(name, value);
  body.set('do', button?.value || 'check');
  form.setAttribute('aria-busy', 'true');
  try {
    const answer = await part(location.pathname + location.search, { method: 'POST', body });
    if (answer.status === 401) {
      tell(form.dataset.signin, form.dataset.signinLink);
      return;
    }
    const fresh = document.createElement('template');
    fresh.innerHTML = answer.html;
    const on = fresh.content.querySelector('[data-go-on]');
    if (on) {
      changed = false;
      location.assign(on.dataset.goOn);
      return;
    }
    if (!fresh.content.querySelector('#newjob-told')) { // no form, but an error
      put($('#newjob-told', form), answer.html);
      $('#newjob-told').scrollIntoView({ block: 'nearest' });
      return;
    }
    if (button?.value === 'paste') { // whatever the fields have is another job's
      form.replaceChildren(parse(answer.html));
      dress(form);
    } else put(form, answer.html);
    look(button);
  } catch {
    tell(form.dataset.lost);
  } finally {
    form.removeAttribute('aria-busy');
  }
}

// look leads to what was answered: to what is wrong, to what was asked for, or to the row that is new.
function look(button) {
  const fresh = $('[autofocus]', form);
  if (/^(add|remove|retype):/.test(button?.value || '')) {
    fresh?.focus();
    return;
  }
  if (lead($('#wrong', form))) return;
  const told = $('#wrong, .newjob-text, #newjob-pasted, #newjob-told > [role]', form);
  told?.focus();
  told?.scrollIntoView({ block: 'nearest' });
}

// whole takes a job that is pasted where schedules are: all of it, and not its schedule alone.
function whole(e) {
  if (e.target.name !== 'schedule.paste' || !/(^|[\s{,])"?action"?\s*:/i.test(e.target.value)) return false;
  e.stopPropagation(); // the builder would take the schedule
  if (!form.getAttribute('aria-busy')) send({ value: 'paste' });
  return true;
}

form?.addEventListener('input', (e) => {
  changed = true;
  if (e.inputType === 'insertFromPaste' || !e.inputType) whole(e);
});
form?.addEventListener('change', whole);
form?.addEventListener('keydown', (e) => {
  if (e.key === 'Enter' && !e.shiftKey && !e.isComposing && whole(e)) e.preventDefault();
});
window.addEventListener('beforeunload', (e) => {
  if (changed) e.preventDefault();
});
form?.addEventListener('submit', (e) => {
  e.preventDefault();
  if (form.getAttribute('aria-busy')) return; // once is enough
  send(e.submitter);
});
