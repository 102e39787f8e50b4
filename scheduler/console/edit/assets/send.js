// What the pages on which a job is made and changed share: a form is sent while the page stays, with what was typed.

const { part } = window.carillon;
let changed = false; // something was typed, and would be lost

// message is a problem, with a link to the page of that name if that solves it.
function message(text, link) {
  const p = Object.assign(document.createElement('p'), { className: 'problem', textContent: text, tabIndex: -1 });
  p.setAttribute('role', 'alert');
  if (link) p.append(' ', Object.assign(document.createElement('a'), { href: '/console/sign-in', target: '_blank', rel: 'noopener', textContent: link }));
  return p;
}

// send posts a form from an element, once at a time. take gets the answer, unless it leads elsewhere; tell gets a message if there
// is none, or if the server asks who is there.
async function send(element, url, body, take, tell) {
  if (element.getAttribute('aria-busy')) return;
  element.setAttribute('aria-busy', 'true');
  try {
    const answer = await part(url, { method: 'POST', body });
    if (answer.status === 401) tell(message(element.dataset.signin, element.dataset.signinLink));
    else if (answer.to) {
      changed = false;
      location.assign(answer.to);
    } else take(answer.html);
  } catch {
    tell(message(element.dataset.lost));
  } finally {
    element.removeAttribute('aria-busy');
  }
}

document.addEventListener('input', (e) => {
  if (e.target.closest('#newjob, #editor')) changed = true;
}, true);
window.addEventListener('beforeunload', (e) => {
  if (changed) e.preventDefault();
});

Object.assign(window.carillon, { send });
