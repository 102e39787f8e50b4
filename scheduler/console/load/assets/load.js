// Fetches what takes long to count when it is there, and marks all proposals at once.

const { $, $$, part, put, picking } = window.carillon;

for (const id of ['report', 'agenda']) {
  const into = document.getElementById(id);
  if (!into) continue;
  let asked = 0;
  const again = async () => {
    const waits = $('[data-again]', into);
    if (!waits) return;
    const mine = ++asked;
    const answer = await part(waits.dataset.again).catch(() => null);
    if (mine !== asked || $('[data-again]', into) !== waits) return; // something else is asked for by now
    const done = answer && !(waits.matches('[data-old]') && answer.html.includes('data-old'));
    if (done && !$('input[name=pick]:checked', into)) put(into, answer.html);
    else setTimeout(again, 3000); // nobody is to lose what they have picked
  };
  into.addEventListener('carillon:new', again);
  again();
}

picking(document, () => $$('input[name=pick]'));
