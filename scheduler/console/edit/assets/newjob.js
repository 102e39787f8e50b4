// The page on which a job is made. With scripts the page stays while the server answers: what was typed stays where it is,
// secrets too, which no page ever has.

const { $, put, parse, dress, lead, send } = window.carillon;

const form = document.getElementById('newjob');

// tell shows a message where whoever pressed a button looks, and leaves the form as it is.
function tell(message) {
  $('#newjob-told').replaceChildren(message);
  message.focus({ preventScroll: true });
  message.scrollIntoView({ block: 'center' });
}

function submit(button) {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.append(name, value);
  body.set('do', button?.value || 'check');
  send(form, location.pathname + location.search, body, (html) => take(html, button), tell);
}

// take shows what was answered.
function take(html, button) {
  const fresh = parse(html);
  if (!fresh.querySelector('#newjob-told')) { // no form, but an error
    put($('#newjob-told', form), html);
    $('#newjob-told').scrollIntoView({ block: 'nearest' });
    return;
  }
  if (button?.value === 'paste') { // whatever the fields have is another job's
    form.replaceChildren(fresh);
    dress(form);
  } else put(form, html);
  look(button);
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
  submit({ value: 'paste' });
  return true;
}

form?.addEventListener('input', (e) => {
  if (e.inputType === 'insertFromPaste' || !e.inputType) whole(e);
});
form?.addEventListener('change', whole);
form?.addEventListener('keydown', (e) => {
  if (e.key === 'Enter' && !e.shiftKey && !e.isComposing && whole(e)) e.preventDefault();
});
form?.addEventListener('submit', (e) => {
  e.preventDefault();
  submit(e.submitter);
});
