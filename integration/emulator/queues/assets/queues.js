// What the pages of queues do with scripts: rows for more properties, and the views of a body without a new page.

const { $, $$, part, put, say } = window.carillon;

let asked = 0; // how many views were

document.addEventListener('click', async (e) => {
  const add = e.target.closest('[data-add-row]');
  if (add) {
    const rows = $('[data-rows]', add.closest('fieldset'));
    const row = rows.lastElementChild.cloneNode(true);
    for (const field of $$('input, textarea', row)) field.value = '';
    $('select', row).selectedIndex = 0;
    rows.append(row);
    $('input', row).focus();
    return;
  }
  const view = e.target.closest('a[data-load]');
  if (!view || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
  e.preventDefault();
  const mine = ++asked;
  try {
    const answer = await part(view.href);
    if (mine !== asked) return; // a later one is under way
    put($(view.dataset.load), answer.html);
    if (answer.ok) history.replaceState(null, '', view.href);
  } catch {
    if (mine === asked) say(document.body.dataset.lost, true);
  }
});

// Of what is selected there is a count, one box that selects all, and with Shift a range. While there is some, what can be done
// with it stays in view.
const boxes = () => $$('input[form=marked]:not(:disabled)');
let last = null; // the box that was clicked last

function marked() {
  const form = $('#marked');
  if (!form) return;
  const all = boxes();
  const count = all.filter((b) => b.checked).length;
  const head = $('[data-all]', form);
  head.disabled = all.length === 0;
  head.checked = count > 0 && count === all.length;
  head.indeterminate = count > 0 && count < all.length;
  const told = $('[data-marked]', form);
  const [one, many] = told.dataset.marked.split('|');
  const text = count === 0 ? '' : count === 1 ? one : many.replace('%s', count);
  if (told.textContent !== text) told.textContent = text;
  form.classList.toggle('some', count > 0);
}

document.addEventListener('click', (e) => {
  if (e.target.matches('#marked [data-all]')) {
    for (const b of boxes()) b.checked = e.target.checked;
  } else if (e.target.matches('input[form=marked]')) {
    const all = boxes();
    if (e.shiftKey && last && all.includes(last)) {
      const [from, to] = [all.indexOf(last), all.indexOf(e.target)].sort((a, b) => a - b);
      for (const b of all.slice(from, to + 1)) b.checked = e.target.checked;
    }
    last = e.target;
  } else {
    return;
  }
  marked();
});
document.addEventListener('carillon:new', marked);
window.addEventListener('pageshow', marked); // the browser may have kept what was selected
marked();

// The form of a rule shows the fields of its kind alone.
const kinds = $('[data-kinds]');
if (kinds) {
  const choose = () => {
    const kind = $('input[name=kind]:checked', kinds)?.value;
    for (const part of $$('[data-kind]', kinds)) part.hidden = part.dataset.kind !== kind;
  };
  kinds.addEventListener('change', choose);
  choose();
}
