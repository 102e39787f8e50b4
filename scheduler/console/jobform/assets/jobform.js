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
  for (const e of $$('[data-jobform] [data-without-script]')) e.hidden = true;
}

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
