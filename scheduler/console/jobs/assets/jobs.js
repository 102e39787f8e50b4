// The table of jobs: what is selected, and the states of what is shown, every few seconds, without moving a row.

const { $, $$, part, parse, morph, dress, say } = window.carillon;

const found = $('#found');
const boxes = () => $$('input[name=job]', found);
let last = null; // the box that was clicked last, for ranges

function selection() {
  const all = boxes();
  const picked = all.filter((b) => b.checked).length;
  const matching = $('input[name=all]', found);
  const some = picked > 0 || (matching && matching.checked);
  const head = $('input[data-all]', found);
  if (head) {
    head.checked = picked > 0 && picked === all.length;
    head.indeterminate = picked > 0 && picked < all.length;
  }
  const count = $('[data-count]', found);
  if (count) count.textContent = found.dataset.picked.replace('%s', picked);
  const doing = $('.doing', found);
  if (doing) doing.classList.toggle('some', Boolean(some));
  for (const b of $$('button[name=do]', found)) b.disabled = !some;
}

found.addEventListener('click', (e) => {
  if (e.target.matches('input[name=job]')) {
    const all = boxes();
    if (e.shiftKey && last && all.includes(last)) {
      const [from, to] = [all.indexOf(last), all.indexOf(e.target)].sort((a, b) => a - b);
      for (const b of all.slice(from, to + 1)) b.checked = e.target.checked;
    }
    last = e.target;
  } else if (e.target.matches('input[data-all]')) {
    for (const b of boxes()) b.checked = e.target.checked;
  }
});
found.addEventListener('change', selection);
found.addEventListener('carillon:new', selection);
selection();

// ---- what is shown, as it is now ---------------------------------------------------------------------------------------

let silent = false; // the last refresh had no answer

async function refresh() {
  const rows = $$('tr[data-job]', found);
  if (document.hidden || !rows.length) return;
  const query = new URLSearchParams(rows.map((r) => ['shown', r.dataset.job]));
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
  }
}

async function keep() {
  await refresh();
  setTimeout(keep, 3000);
}
setTimeout(keep, 3000);
