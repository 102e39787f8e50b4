// What the pages of queues do with scripts: rows for more properties, and the views of a body without a new page.

const { $, $$, part, put, say, picking } = window.carillon;

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

// While messages are selected, their count and the buttons for them stay in view.
const pick = picking(document, () => $$('input[form=marked]:not(:disabled)'), (count) => {
  const form = $('#marked');
  if (!form) return;
  const output = $('[data-marked]', form);
  const [one, many] = output.dataset.marked.split('|');
  const text = count === 0 ? '' : count === 1 ? one : many.replace('%s', count);
  if (output.textContent !== text) output.textContent = text;
  form.classList.toggle('some', count > 0);
});
document.addEventListener('carillon:new', pick);
window.addEventListener('pageshow', pick); // the browser may have kept the selection

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
