// The tail of all attempts. What comes is put on top, a few times a second; while somebody looks at something, it waits, and is
// counted. The page never has more lines than it says, and what it has no room for is counted and can be opened in the history.

const { $, $$, dress, parse, stream } = window.carillon;

const tail = $('#tail');
let connection = ''; // live, lost or ended; '' before the first answer
let waiting = []; // what came while the list stood still, oldest first: {fragment, lines, missed}
let dropped = 0; // of these, what there was no room for
let button = false; // it stands still because somebody said so
let pointer = false;

const bar = () => $('.bar[data-follow]', tail);
const list = () => $('#attempts', tail);
const most = () => Number(bar().dataset.most);
const still = () => button || pointer || list().contains(document.activeElement);

// tell shows what the tail does: live, held, paused, lost, ended; nothing while it is asked for the first time.
function tell(state) {
  const box = $('.live-state', tail);
  if (box && box.dataset.state !== state) {
    box.dataset.state = state;
    for (const e of $$('[data-when]', box)) e.hidden = e.dataset.when !== state;
  }
  const n = waiting.reduce((sum, b) => sum + b.lines + b.missed, dropped);
  const count = $('[data-waiting]', tail);
  if (!count) return;
  count.hidden = n === 0;
  $('b', count).textContent = String(n);
}

const state = () => (connection === 'ended' || !still() ? connection : button ? 'paused' : 'held');

// name names the button by what it does next.
function name(b) {
  b.textContent = button ? b.dataset.resume : b.dataset.pause;
  b.classList.toggle('main', button);
}

// before is the address of the history before a line.
function before(line) {
  const url = new URL(bar().dataset.base, location);
  url.searchParams.set('before', line.dataset.sequence);
  return url.pathname + url.search;
}

// missed is a line that says how many are not there, below those that are older than none of them.
function missed(n, above) {
  const line = $('#missed').content.firstElementChild.cloneNode(true);
  line.dataset.missed = String(n);
  $('b', line).textContent = String(n);
  $('a', line).href = before(above);
  return line;
}

// take takes what an event brings.
function take(html) {
  const fragment = parse(html);
  for (const line of $$('[data-sequence]', fragment)) {
    if (document.getElementById(line.id) || waiting.some((b) => b.fragment.getElementById(line.id))) line.remove(); // told twice, after a lost connection
  }
  for (const line of $$('[data-ends]', fragment)) { // the attempt is there already: this is how its run ended
    const found = [list(), ...waiting.map((b) => b.fragment)].map((e) => $(`[data-attempt="${line.dataset.ends}"]`, e)).find(Boolean);
    if (!found) continue;
    $('.state', found).replaceWith($('.state', line));
    line.remove();
  }
  const count = { fragment, lines: $$('[data-sequence]', fragment).length, missed: 0 };
  for (const line of $$('[data-missed]', fragment)) count.missed += Number(line.dataset.missed);
  if (!fragment.firstElementChild) return;
  waiting.push(count);
  for (let room = waiting.reduce((sum, b) => sum + b.lines, 0); room > most(); ) {
    const oldest = waiting.shift();
    room -= oldest.lines;
    dropped += oldest.lines + oldest.missed;
  }
}

const [weekday, date] = [{ weekday: 'long' }, { dateStyle: 'long' }].map((form) => new Intl.DateTimeFormat(document.documentElement.lang, form));

// days names the day of each line that the line above does not share, on the browser's clock. The style shows it as a heading.
function days() {
  let above = '';
  for (const line of $$('#attempts > [data-sequence]', tail)) {
    const at = new Date($('.at time', line)?.dateTime);
    if (Number.isNaN(at.getTime())) continue; // of years that scripts do not know
    const day = `${weekday.format(at)}, ${date.format(at)}`;
    if (day === above) delete line.dataset.day;
    else line.dataset.day = day;
    above = day;
  }
}

// show puts on top what waits, unless the list is to stand still.
function show() {
  if (bar() && !still() && waiting.length) {
    const fresh = document.createDocumentFragment();
    if (dropped) {
      const above = $$('[data-sequence]', waiting[0].fragment).pop();
      if (above) waiting[0].fragment.append(missed(dropped, above));
    }
    for (const { fragment } of waiting) fresh.prepend(fragment);
    waiting = [];
    dropped = 0;
    dress(fresh);
    if (fresh.childElementCount < 5) for (const line of fresh.children) line.classList.add('fresh');
    $('#nothing', tail)?.remove();
    list().prepend(fresh);
    trim();
    days();
  }
  if (bar()) tell(state());
}

// trim takes away the oldest lines: the history has them.
function trim() {
  const lines = list();
  if (lines.childElementCount <= most()) return;
  while (lines.childElementCount > most()) lines.lastElementChild.remove();
  const oldest = $$('[data-sequence]', lines).pop();
  const link = $('[data-older]', tail);
  if (oldest && link) {
    link.href = before(oldest);
    link.parentElement.hidden = false;
  }
}

// problem tells why nothing comes, once.
function problem(html) {
  const box = $('#live-problem', tail);
  const fresh = parse(html);
  if (box && box.textContent !== fresh.textContent) box.replaceChildren(fresh);
}

const follow = stream(['rows', 'mark'], (name, data) => {
  if (name !== 'rows') return; // the mark is a position only
  take(data);
  show();
}, (now, html) => {
  connection = now;
  if (html || now === 'live') problem(html);
  show();
});

// begin follows what the list is of, when that is another than before.
function begin() {
  const events = bar()?.dataset.follow || '';
  waiting = [];
  dropped = 0;
  connection = '';
  pointer = false;
  for (const b of $$('[data-pause]', tail)) name(b);
  days();
  follow(events);
  if (events) show();
}

tail.addEventListener('carillon:new', begin);
tail.addEventListener('click', (e) => {
  const b = e.target.closest('[data-pause]');
  if (!b) return;
  button = !button;
  name(b);
  show();
});
tail.addEventListener('pointerover', (e) => {
  if (e.pointerType !== 'touch' && e.target.closest('#attempts')) pointer = true;
  if (bar()) tell(state());
});
tail.addEventListener('pointerout', (e) => {
  if (e.relatedTarget?.closest?.('#attempts')) return;
  pointer = false;
  show();
});
document.addEventListener('focusin', show);
tail.addEventListener('focusout', () => setTimeout(show));
begin();
