package console

import (
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// rows makes a list with a link in each row, focuses the one in the third, and changes the list.
const rows = `(() => {
	const list = document.createElement('ul');
	document.querySelector('main').append(list);
	const show = (...all) => window.carillon.put(list, all.map((n) => '<li id="row-' + n + '"><a href="#' + n + '">' + n + '</a></li>\n').join(''));
	show(1, 2, 3, 4);
	list.querySelector('#row-3 a').focus();
	const changes = new MutationObserver(() => {});
	changes.observe(list, {childList: true});
	const moved = () => changes.takeRecords().some((r) => [...r.removedNodes].some((n) => n.id === 'row-3'));
	const told = [];
	for (const all of [[2, 3, 4], [0, 2, 3, 4, 5], [3, 4], [9, 8, 3], [3, 9, 8], [8, 9, 3]]) {
		show(...all);
		told.push(list.textContent.replace(/\s+/g, '') + ' ' + (list.contains(document.activeElement) ? document.activeElement.textContent : 'lost') + (moved() ? ' moved' : ''));
	}
	list.remove();
	return told.join(', ');
})()`

// TestPartsKeepFocus changes a list in which a line has the focus: it stays there when others come and go, without a move of it,
// and when the order is another.
func TestPartsKeepFocus(t *testing.T) {
	page := open(t, needed(t).stage.HTTP, tab.Look{})
	must(t, page.Go("/console/live"))
	const want = "234 3, 02345 3, 34 3, 983 3, 398 3 moved, 893 3"
	if told, err := tab.Eval[string](page, rows); err != nil || told != want {
		t.Errorf("%s (%v), want %s", told, err, want)
	}
}

// TestAnswersOutOfOrder asks two things at once, the first of which is answered last: what was asked for last is shown.
func TestAnswersOutOfOrder(t *testing.T) {
	_, page, _ := aJob(t)
	const ask = `(() => {
		const real = window.fetch;
		window.held = [];
		window.fetch = (...all) => new Promise((go) => window.held.push(() => real(...all).then(async (r) => { go(r); return r; })));
		const form = document.querySelector('form[data-ask="#job-answer"]');
		for (const at of ['soon', '-2h']) {
			form.elements.at.value = at;
			form.requestSubmit();
		}
		window.fetch = real;
		return window.held.length;
	})()`
	if n, err := tab.Eval[int](page, ask); err != nil || n != 2 {
		t.Fatalf("%d are asked (%v)", n, err)
	}
	must(t, page.Await("window.held[1]()"), page.Text("#job-answer", "did not exist yet"))
	// The first answer is read a moment after it has come.
	const late = "window.held[0]().then(() => new Promise((go) => setTimeout(() => go(document.querySelector('#job-answer').innerText), 300)))"
	if text, err := tab.Eval[string](page, late); err != nil || text == "" {
		t.Fatalf("%q (%v)", text, err)
	}
	must(t, page.Text("#job-answer", "did not exist yet"), page.Await("!document.querySelector('#job-answer').hasAttribute('aria-busy')"))
	if soon, err := tab.Eval[bool](page, "document.querySelector('#job-answer').innerText.includes('soon')"); err != nil || soon {
		t.Errorf("the answer to the question before is shown (%v)", err)
	}
}
