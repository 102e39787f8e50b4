// The page of a job: what it does is done without leaving it, and what its events say has changed is fetched anew.

const { $, $$, into, part, plain, put, say } = window.carillon;

// ---- doing -------------------------------------------------------------------------------------------------------------

let held = null; // the button that was pressed with the focus on it, which it loses for as long as it cannot be pressed again, and its menu

// regain gives the focus back, unless somebody has put it elsewhere meanwhile.
function regain() {
  if (!held || held.button.disabled && held.button.isConnected) return;
  const { button, menu } = held;
  (menu?.isConnected && !(menu.open && button.isConnected) ? $('summary', menu) : button.isConnected ? button : $('main')).focus({ preventScroll: true });
}
document.addEventListener('focusin', (e) => { if (e.target !== held?.button) held = null; });
document.addEventListener('pointerdown', () => { held = null; });
document.addEventListener('carillon:new', regain);

// act sends a form, and says what became of it.
async function act(form, button) {
  const menu = button.closest('.items')?.parentElement ?? button.closest('details.menu'); // the button may have gone later
  if (document.activeElement === button) held = { button, menu };
  const body = new URLSearchParams(new FormData(form, button)); // which a button has no part in that is disabled
  button.disabled = true;
  try {
    const answer = await part(form.action, { method: 'POST', body });
    if (answer.ok) for (const menu of $$('details.menu[open]')) menu.open = false;
    say(plain(answer.html), !answer.ok);
    if (answer.ok) refresh(); // what it started shows at once
  } catch {
    say(document.body.dataset.lost, true);
  } finally {
    button.disabled = false;
    regain();
  }
}

document.addEventListener('submit', (e) => {
  const form = e.target;
  if (form.matches('[data-act]')) {
    e.preventDefault();
    act(form, e.submitter);
  } else if (form.matches('[data-ask]')) {
    e.preventDefault();
    into($(form.dataset.ask), `${form.action}?${new URLSearchParams(new FormData(form))}`);
  }
});

document.addEventListener('click', (e) => {
  if (e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
  const link = e.target.closest('a');
  if (link?.dataset.into) {
    e.preventDefault();
    const target = $(link.dataset.into);
    target.dataset.refresh = link.getAttribute('href'); // from now on there are as many
    into(target, link.href);
  } else if (link?.dataset.dialog === 'job-copy') into($('#job-copies'), link.href);
  else if (link?.dataset.dialog === 'job-delete') $('#job-delete [name=etag]').value = link.dataset.etag; // of what is seen now
});

// ---- living ------------------------------------------------------------------------------------------------------------

// refresh fetches what is of records. A page of the history that is not the first stays as it is.
let refreshing = false;
let again = false;

async function refresh() {
  again = true;
  if (refreshing) return;
  refreshing = true;
  const address = (e) => e.dataset.refresh || location.pathname + location.search;
  while (again) {
    again = false;
    for (const e of $$('[data-refresh]')) {
      if ($('[data-still]', e)) continue;
      const url = address(e);
      try {
        const answer = e.hasAttribute('aria-busy') ? null : await part(url);
        if (!answer || e.hasAttribute('aria-busy') || address(e) !== url) {
          setTimeout(refresh, 300); // somebody asks for something else there, which may be of before the change
        } else if (answer.ok) put(e, answer.html);
      } catch { // the next change brings it
      }
    }
  }
  refreshing = false;
}

const job = $('#job');
let scrolled = false;

// present shows the present of the timeline, until somebody has looked elsewhere.
function present() {
  const line = $('[data-scroll-to]');
  if (!line || scrolled) return;
  line.scrollLeft = Number(line.dataset.scrollTo) - line.clientWidth * 0.75;
}

job?.addEventListener('carillon:changed', refresh);
job?.addEventListener('carillon:new', present);
job?.addEventListener('wheel', (e) => { scrolled ||= Boolean(e.target.closest('[data-scroll-to]')); }, { passive: true });
job?.addEventListener('pointerdown', (e) => { scrolled ||= Boolean(e.target.closest('[data-scroll-to]')); });
present();

// An address may name a run: it is opened.
function named() {
  const run = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const details = run && $('details', run);
  if (details) details.open = true;
}
window.addEventListener('hashchange', named);
named();
