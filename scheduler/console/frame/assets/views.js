// Saved views of a list: its addresses with a filter, by name. This browser has them, and no other.

const { $ } = window.carillon;

const menu = $('[data-views]');
const kept = `carillon-views:${location.pathname}`;

// saved are the views; what else is stored under their name counts as none.
function saved() {
  try {
    const all = JSON.parse(localStorage.getItem(kept));
    return Array.isArray(all) ? all.filter((v) => typeof v?.name === 'string' && typeof v.query === 'string') : [];
  } catch {
    return [];
  }
}

function keep(all) {
  try {
    localStorage.setItem(kept, JSON.stringify(all));
  } catch {
    // nothing is kept here
  }
  show();
}

function show() {
  $('ul', menu).replaceChildren(...saved().map(({ name, query }) => {
    const [line, link, remove] = ['li', 'a', 'button'].map((tag) => document.createElement(tag));
    link.href = `${location.pathname}?${query}`;
    link.append(Object.assign(document.createElement('bdi'), { textContent: name }));
    Object.assign(remove, { type: 'button', className: 'quiet', textContent: '✕', ariaLabel: menu.dataset.remove.replace('%s', name) });
    remove.addEventListener('click', () => keep(saved().filter((v) => v.name !== name)));
    line.append(link, ' ', remove);
    return line;
  }));
}

$('form', menu).addEventListener('submit', (e) => {
  e.preventDefault();
  const field = $('input', menu);
  const query = new URLSearchParams(location.search); // of the first page
  for (const place of ['after', 'before']) query.delete(place);
  keep([...saved().filter((v) => v.name !== field.value), { name: field.value, query: query.toString() }]);
  field.value = '';
});
show();
