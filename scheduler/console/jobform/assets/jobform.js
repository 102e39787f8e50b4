// The form of a job. Without this, all inputs of a secret are shown, and a button follows another type.

const { $, $$ } = window.carillon;

// choose shows the input that goes with what is chosen for a secret, or for the value of a row.
function choose(group) {
  const how = $$('[data-jobform-how]', group).find((e) => e.tagName === 'SELECT' || e.checked)?.value;
  if (how === undefined) return;
  for (const e of $$('[data-jobform-with]', group)) e.hidden = !e.dataset.jobformWith.split(' ').includes(how);
}

function begin(root) {
  for (const e of $$('[data-jobform-secret]', root)) choose(e);
}

// lead goes to the first thing that is wrong, by the first link of a list of problems; false when none leads anywhere.
function lead(problems) {
  const link = problems && $('li a[href^="#"]', problems);
  if (!link) return false;
  const id = decodeURIComponent(link.hash.slice(1));
  const place = document.getElementById(id);
  if (/^line-/.test(id)) {
    link.click(); // in a text its own script knows the way
    return true;
  }
  if (!place) return false;
  const inputs = 'input:not([type=hidden]), select, textarea';
  const beside = (e) => $$('[aria-invalid=true]', e)[0] || $$(inputs, e).find((i) => i.offsetParent !== null);
  const field = place.matches(inputs) ? place
    : id.startsWith('wrong-') ? document.getElementById(id.slice(6)) || beside(place.closest('fieldset, .field, .pane') || place)
      : beside(place) || place;
  for (let e = field?.closest('details:not([open])'); e; e = e.parentElement.closest('details:not([open])')) e.open = true;
  field?.focus({ preventScroll: true });
  field?.scrollIntoView({ block: 'center' });
  return Boolean(field);
}
window.carillon.lead = lead;

document.addEventListener('change', (e) => {
  const group = e.target.closest('[data-jobform-secret]');
  if (group && e.target.matches('[data-jobform-how]')) choose(group);
  if (e.target.matches('[data-jobform-retypes]')) { // other fields go with another type
    const button = $('button[value^="retype:"]', e.target.parentElement);
    button.form.requestSubmit(button);
  }
});
document.addEventListener('carillon:new', (e) => begin(e.target));
begin(document);
