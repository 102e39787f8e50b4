// Saved views of a list: its addresses with a filter, by name. This browser has them, and no other; the server has the shared ones.

const { $, into } = window.carillon;

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
  const { name: field, page, query: shared } = e.target.elements;
  const query = new URLSearchParams(location.search); // of the first page
  for (const place of ['after', 'before']) query.delete(place);
  [page.value, shared.value] = [location.pathname, query];
  if (e.submitter?.name) return; // the server shares or removes it
  e.preventDefault();
  keep([...saved().filter((v) => v.name !== field.value), { name: field.value, query: query.toString() }]);
  field.value = '';
});
show();

menu.addEventListener('toggle', () => {
  if (menu.open) into($('#shared', menu), `/console/views?${new URLSearchParams({ page: location.pathname })}`);
});
