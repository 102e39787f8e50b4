package console

import (
	"fmt"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/stage"
	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// TestPages opens every page, wide and narrow, and at 200 %: it has a heading and a title, nothing that must not happen does,
// nothing of what it shows became a part of the page, and it is not wider than the window. Axe finds nothing in it, in light
// colours and in dark ones.
func TestPages(t *testing.T) {
	c := needed(t)
	for _, at := range []tab.Look{tab.Looks[0], tab.Looks[2], tab.Zoomed} {
		for pages := range slices.Chunk(stage.Pages, 15) {
			t.Run(fmt.Sprintf("%d%s", at.Width, pages[0]), func(t *testing.T) {
				t.Parallel()
				page := open(t, c.stage.HTTP, at)
				for _, path := range pages {
					must(t, page.Go(path))
					where := fmt.Sprintf("%s, %d wide", path, at.Width)
					sound(t, page, where)
					wide(t, page, at, where)
					seen(t, page, where, at)
					for _, wrong := range page.Wrong() {
						t.Errorf("%s: %s", where, wrong)
					}
				}
			})
		}
	}
}

// shortened removes what axe has nothing to say about, or has said already, and takes most of its time with: the parts of a
// drawing, which are nothing of their own to those who cannot see it, and all lines of a list after the thirtieth.
const shortened = `(() => {
	for (const e of document.querySelectorAll('main svg[role=img] > :not(title, desc), main tr:nth-child(n+31), main li:nth-child(n+31)')) e.remove();
	return true;
})()`

// seen has axe look at a page in light and dark: by all rules once in each colour and once in each width, and by those of
// colours in the other one of wide pages; with -looks by all rules in all four.
func seen(t *testing.T, page *tab.Tab, where string, at tab.Look) {
	t.Helper()
	if at.Zoom != 0 {
		return
	}
	if _, err := tab.Eval[bool](page, shortened); err != nil {
		t.Fatal(err)
	}
	switch {
	case *allLooks:
		look(t, page, where, false, allRules)
		look(t, page, where, true, allRules)
	case at.Width < 600:
		look(t, page, where, true, allRules)
	default:
		accessible(t, page, where)
	}
	must(t, page.Scheme(false))
}

// wide looks whether a page is not wider than the window.
func wide(t *testing.T, page *tab.Tab, at tab.Look, where string) {
	t.Helper()
	if got, err := tab.Eval[int64](page, "document.documentElement.scrollWidth"); err != nil || got > at.Width {
		t.Errorf("%s: it is %d pixels wide, in a window of %d (%v)", where, got, at.Width, err)
	}
}

// sound looks at what is so of every page.
func sound(t *testing.T, page *tab.Tab, where string) {
	t.Helper()
	if got, err := tab.Eval[string](page, "document.querySelector('h1')?.innerText ?? ''"); err != nil || got == "" {
		t.Errorf("%s: no heading (%v)", where, err)
	}
	if got, err := tab.Eval[string](page, "document.title"); err != nil || got == "" || got == "taken" {
		t.Errorf("%s: its title is %q (%v)", where, got, err)
	}
	const misread = "[...document.querySelectorAll('main > .warning[role=alert]')].map((e) => e.innerText).join(' ')"
	if got, err := tab.Eval[string](page, misread); err != nil || got != "" {
		t.Errorf("%s: its address is wrong: %s (%v)", where, got, err)
	}
	const foreign = "[...document.querySelectorAll('main script, img[src=x], [onerror]')].map((e) => e.outerHTML).join(' ')"
	if got, err := tab.Eval[string](page, foreign); err != nil || got != "" {
		t.Errorf("%s: what it shows is a part of it: %s (%v)", where, got, err)
	}
}

// TestAccessible says whether axe is here.
func TestAccessible(t *testing.T) { withAxe(t) }

// TestPagesWithoutScripts opens every page in a browser that runs no scripts: it can be read.
func TestPagesWithoutScripts(t *testing.T) {
	c := needed(t)
	page := open(t, c.stage.HTTP, tab.Look{NoScripts: true})
	for _, path := range stage.Pages {
		must(t, page.Go(path))
		sound(t, page, path)
	}
}

// TestForcedColours has the system choose the colours: outcomes still have shapes of their own, and one entry of the menu is
// underlined.
func TestForcedColours(t *testing.T) {
	page := open(t, needed(t).stage.HTTP, tab.Look{})
	must(t, page.ForceColors(), page.Go("/console/live"))
	for _, outcome := range []string{"completed", "failed", "faulted", "postponed"} {
		style := fmt.Sprintf("getComputedStyle(document.querySelector('.state.%s .shape')).forcedColorAdjust", outcome)
		if got, err := tab.Eval[string](page, style); err != nil || got != "none" {
			t.Errorf("the ground of the shape of %s is taken away: %s (%v)", outcome, got, err)
		}
	}
	const underlined = `(() => {
		const ground = document.body.appendChild(document.createElement('i'));
		ground.style.color = 'Canvas';
		const links = [...document.querySelectorAll('.top nav a')];
		const seen = links.filter((a) => getComputedStyle(a).borderBottomColor !== getComputedStyle(ground).color);
		ground.remove();
		return seen.length;
	})()`
	if n, err := tab.Eval[int](page, underlined); err != nil || n != 1 {
		t.Errorf("%d entries of the menu are underlined (%v)", n, err)
	}
}
