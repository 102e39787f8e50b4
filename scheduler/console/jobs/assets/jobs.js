// The table of jobs: what is selected, and the states of what is shown, every few seconds, without moving a row. While the index
// of jobs is behind, the table is asked for again until it is not.

const { $, $$, part, parse, put, morph, dress, say, picking } = window.carillon;

const found = $('#found');
const pick = picking(found, () => $$('input[name=job]', found), (picked) => {
  const some = picked > 0 || $('input[name=all]', found)?.checked;
  const count = $('[data-count]', found);
  if (count) count.textContent = found.dataset.picked.replace('%s', picked);
  $('.doing', found)?.classList.toggle('some', Boolean(some));
  for (const b of $$('button[name=do]', found)) b.disabled = !some;
});
found.addEventListener('change', pick);
found.addEventListener('carillon:new', pick);

// ---- what is shown, as it is now ---------------------------------------------------------------------------------------

let silent = false; // the last refresh had no answer

// refresh brings rows up to date, with their last runs if runs says so.
async function refresh(rows, runs) {
  if (document.hidden || !rows.length) return;
  const query = new URLSearchParams(rows.map((r) => ['shown', r.dataset.job]));
  if (runs) query.set('runs', '1');
  let answer;
  try {
    answer = await part(`/console/jobs?${query}`);
  } catch {
    answer = { ok: false };
  }
  if (!answer.ok) {
    if (!silent) say(found.dataset.lost, true);
    silent = true;
    return;
  }
  if (silent) say('');
  silent = false;
  for (const fresh of $$('tr', parse(answer.html))) {
    const row = document.getElementById(fresh.id);
    if (!row) continue; // another search has come
    row.classList.toggle('gone', Boolean($('.state.deleted', fresh)));
    for (const cell of $$('[data-live]', fresh)) {
      const old = $(`[data-live=${cell.dataset.live}]`, row);
      if (!old) continue;
      morph(old, cell);
      dress(old);
    }
    if (runs) row.dataset.runs = lastRun(row);
  }
}

const lastRun = (row) => $('[data-live=last] time', row)?.dateTime ?? '';

// refreshRuns brings the last runs of rows up to date whose job has run since, if they are shown at all.
async function refreshRuns() {
  if (!$('th.live-runs', found)?.offsetWidth) return;
  await refresh($$('tr[data-job]', found).filter((r) => r.dataset.runs !== lastRun(r)), true);
}

async function keep() {
  await refresh($$('tr[data-job]', found));
  await refreshRuns();
  setTimeout(keep, 3000);
}
setTimeout(keep, 3000);
refreshRuns();

// ---- until the index has caught up ---------------------------------------------------------------------------------------

let timer = 0;
let older = false; // the rows are, than the count: they were in use

// used reports whether rows are looked at so closely that they must not move: they are selected, have the focus, or the pointer.
function used() {
  return $('input:checked', found) || found.contains(document.activeElement) || $('table.jobs:hover', found);
}

function wait() {
  clearTimeout(timer);
  const again = $('#counted[data-again]', found)?.dataset.again || (older && 2000);
  if (again) timer = setTimeout(askAgain, Number(again));
}

async function askAgain() {
  const address = location.href;
  const url = new URL(address);
  url.searchParams.set('again', '1');
  const searching = () => found.hasAttribute('aria-busy') || location.href !== address;
  try {
    if (document.hidden || searching() || (used() && !$('#counted[data-again]', found))) return;
    const answer = await part(url.pathname + url.search);
    if (!answer.ok || searching()) return;
    if (!used()) {
      put(found, answer.html);
      return;
    }
    const fresh = parse(answer.html);
    for (const place of ['#counted', '[data-matching]']) {
      const [old, now] = [$(place, found), $(place, fresh)];
      if (!old || !now) continue;
      if (now.dataset.again) old.dataset.again = now.dataset.again;
      else delete old.dataset.again;
      morph(old, now);
    }
    older = true;
  } catch {
    // the refreshing of what is shown tells of it
  } finally {
    wait();
  }
}

found.addEventListener('carillon:new', (e) => {
  if (e.target !== found) return;
  older = false;
  wait();
  refreshRuns();
});
wait();
