package console

import (
	"net/http/httptest"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/stage"
	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// TestSheet looks at the design sheet: it has every token and every class of the style sheet of all pages, in colours that can be
// read, and fits on a phone. The bundled font is loaded, and its digits are of one width in tables.
func TestSheet(t *testing.T) {
	needed(t)
	sheet := httptest.NewServer(stage.Sheet(t.Context()))
	t.Cleanup(sheet.Close)
	page := open(t, sheet.URL, tab.Look{Width: 360, Height: 740})
	must(t, page.Go(stage.SheetPath))
	wide(t, page, tab.Look{Width: 360}, "the sheet")
	const missing = `(() => {
		const rules = (list) => [...list].flatMap((r) => [r, ...rules(r.cssRules ?? [])]);
		const all = rules([...document.styleSheets].find((s) => s.href.endsWith('console.css')).cssRules);
		const classes = all.flatMap((r) => r.selectorText?.match(/\.[a-z][a-z0-9-]*/g) ?? []).filter((c) => !document.querySelector(c));
		const tokens = all.flatMap((r) => [...(r.style ?? [])]).filter((p) => p.startsWith('--'));
		const main = document.querySelector('main').innerText;
		return [...new Set([...classes, ...tokens.filter((p) => !main.includes(p + '\t') && !main.includes(p + '\n'))])].join(' ');
	})()`
	if got, err := tab.Eval[string](page, missing); err != nil || got != "" {
		t.Errorf("the sheet is without %s (%v)", got, err)
	}
	const digits = `(async () => {
		const at = document.createRange();
		const cell = document.querySelector('td').firstChild ?? document.querySelector('td').appendChild(new Text());
		const width = (text) => { cell.data = text; at.selectNodeContents(cell); return at.getBoundingClientRect().width; };
		return (await document.fonts.load('13px Inter')).length === 1 && width('111111') === width('000000') && width('111111') > 0;
	})()`
	if ok, err := tab.Eval[bool](page, digits); err != nil || !ok {
		t.Errorf("the font is not there, or has no tabular figures (%v)", err)
	}
	look(t, page, "the sheet", false, allRules)
	look(t, page, "the sheet", true, allRules)
}
