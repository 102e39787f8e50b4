// The selection in the list of jobs survives an error of its operation, and the links back from an operation lead to the list as
// it was. This tab keeps both.

const { $, $$ } = window.carillon;

const kept = 'carillon-jobs';
const list = /^\/console\/jobs(\?|$)/;

// here is the address of the page, whatever the order of its parameters.
function here() {
  const query = new URLSearchParams(location.search);
  query.sort();
  return `${location.pathname}?${query}`;
}

function last() {
  try {
    const it = JSON.parse(sessionStorage.getItem(kept));
    return list.test(it?.at) && Array.isArray(it.fields) ? it : null;
  } catch {
    return null;
  }
}

document.addEventListener('submit', (e) => {
  if (!e.target.matches('form.many')) return;
  try {
    sessionStorage.setItem(kept, JSON.stringify({ at: here(), fields: [...new FormData(e.target)] }));
  } catch {
    // nothing is kept here
  }
});

const before = last();
const operation = document.referrer && new URL(document.referrer).pathname.startsWith('/console/many/');
if (before && !list.test(here())) {
  for (const a of $$('main a[href="/console/jobs"]')) a.href = before.at;
} else if (before?.at === here() && (operation || !$('#note').hidden)) {
  for (const [name, value] of before.fields) {
    for (const field of $$('form.many [name]').filter((f) => f.name === name && f.type !== 'hidden')) {
      if (field.type !== 'checkbox') field.value = value;
      else if (field.value === value) field.checked = true;
    }
  }
  $('#found').dispatchEvent(new Event('change'));
}
