package console

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// axeCore is the script of axe, which npm brings.
var axeCore = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
	return string(text) + "; true", err
})

// What axe looks at: the rules of WCAG 2.2 AA and its own best practice, and of these the ones that colours can break.
const (
	allRules    = `{type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}`
	colourRules = `{type: 'rule', values: ['color-contrast', 'link-in-text-block']}`
)

// violations is what axe finds wrong, by rule and element. What it finds but once was in the middle of a change. Lists of what
// a field takes are not looked at: nothing of them is in the page, and that of zones is longer than the rest of it. What sticks to
// the window is put into its place: wherever the page is scrolled to, it covers something.
const violations = `(async () => {
	for (const e of document.querySelectorAll('main *')) if (getComputedStyle(e).position === 'sticky') e.style.position = 'static';
	const look = async () => (await axe.run({include: %s, exclude: ['datalist']}, {preload: false, resultTypes: ['violations'], runOnly: %s})).violations
		.flatMap((v) => v.nodes.map((n) => [v.id, v.help, n.html.trim(), n.failureSummary].join('\n')));
	const found = await look();
	if (found.length === 0) return [];
	const again = await look();
	return found.filter((one) => again.includes(one));
})()`

// turn is taken while axe looks at a page, which takes a processor for seconds: others wait for pages meanwhile.
var turn = make(chan struct{}, 2)

// allLooks is for whoever has changed a colour or a width.
var allLooks = flag.Bool("looks", false, "have axe look at every page by all rules in light and dark, wide and narrow")

// withAxe skips a test that is of use with axe only.
func withAxe(t *testing.T) {
	t.Helper()
	if _, err := axeCore(); err != nil {
		t.Skip("NOT RUN: axe-core is not here; npm --prefix integration/suite/console ci brings it")
	}
}

// accessible has axe look at what a tab shows at the moment: at everything in light colours, and at what colours can break in
// dark ones. Without axe it looks at nothing, which [TestAccessible] says.
func accessible(t *testing.T, page *tab.Tab, where string) {
	t.Helper()
	look(t, page, where, false, allRules)
	look(t, page, where, true, colourRules)
	must(t, page.Scheme(false))
}

// laidOut has what is far from the window laid out as well, which browsers put off: axe would take its estimated size for the
// real one.
const laidOut = "(document.querySelectorAll('main *').forEach((e) => " +
	"{ if (getComputedStyle(e).contentVisibility === 'auto') e.style.contentVisibility = 'visible'; }), true)"

// look has axe look by rules, in light or dark colours, which stay.
func look(t *testing.T, page *tab.Tab, where string, dark bool, rules string) {
	t.Helper()
	lookAt(t, page, "document", where, dark, rules)
}

// lookAt has axe look at a part of a page, of which the rest has been looked at.
func lookAt(t *testing.T, page *tab.Tab, part, where string, dark bool, rules string) {
	t.Helper()
	core, err := axeCore()
	if err != nil {
		return
	}
	there, err := tab.Eval[bool](page, "'axe' in window")
	if err == nil && !there {
		_, err = tab.Eval[bool](page, core)
	}
	must(t, err, page.Scheme(dark), page.Await(laidOut))
	turn <- struct{}{}
	found, err := tab.Eval[[]string](page, fmt.Sprintf(violations, part, rules))
	<-turn
	must(t, err)
	for _, one := range found {
		t.Errorf("%s, dark is %t: %s", where, dark, one)
	}
}
