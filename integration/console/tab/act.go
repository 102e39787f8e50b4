package tab

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What a person does is done here at what is there at this moment: pages change by themselves, so that no node of before is
// kept, and a pointer that has missed because something moved is pointed again.

// Do carries actions out.
func (t *Tab) Do(actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// ready says that a page is whole, and its scripts have begun.
const ready = "document.readyState === 'complete'"

// Go opens a path and waits until it is there.
func (t *Tab) Go(path string) error {
	if err := t.Do(chromedp.Navigate(t.base.String() + path)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return t.Await(ready + " && document.querySelector('main')?.checkVisibility()")
}

// aim finds the first element of a selector that somebody sees and may use, brings it into the window, and waits until it
// stands still. Whatever a click reaches besides is kept from it: see [Tab.Click].
const aim = `(async () => {
	const seen = (e) => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length && !e.disabled;
	const e = ` + ready + ` && [...document.querySelectorAll(%[1]q)].find(seen);
	if (!e) return null;
	const first = () => e.getClientRects()[0];
	const inside = (r) => r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
	if (!inside(first())) e.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
	const was = first();
	%[2]s
	const r = first();
	if (!r || r.x !== was.x || r.y !== was.y || r.width !== was.width) return null;
	const own = (n) => n && (e.contains(n) || [...(e.labels ?? [])].some((l) => l.contains(n)));
	const x = r.x + r.width / 2, y = r.y + r.height / 2;
	if (!own(document.elementFromPoint(x, y))) return null;
	window.aimed?.end();
	const guard = (event) => {
		if (!own(event.target)) {
			event.preventDefault();
			event.stopImmediatePropagation();
		} else if (event.type === 'click') window.aimed.hit = true;
	};
	const types = ['mousedown', 'mouseup', 'click'];
	for (const type of types) window.addEventListener(type, guard, true);
	window.aimed = {hit: false, end() { for (const type of types) window.removeEventListener(type, guard, true); }};
	return [x, y];
})()`

// landed says whether what was aimed at was clicked. A page that has none of it is another one.
const landed = "(() => { window.aimed?.end(); return window.aimed?.hit ?? true; })()"

// Click clicks on the first element of a selector that can be seen, as soon as there is one and it may be used. A click that
// would reach something else, as the page has moved meanwhile, is kept from it and done again. A page that it leads to is
// awaited by whoever needs it.
func (t *Tab) Click(selector string) error {
	still := "await new Promise((go) => setTimeout(go, 30));"
	if t.plain {
		still = "" // nothing moves, and no timer goes
	}
	return t.until("a click on "+selector, func(ctx context.Context) (bool, error) {
		at, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](fmt.Sprintf(aim, selector, still), chromedp.EvalAwaitPromise))
		if err != nil || len(at) != 2 {
			return false, err
		}
		// What has no answer from here on has led to another page, and is not to be done there again.
		if err := chromedp.Do(ctx, chromedp.MouseClickXY(at[0], at[1])); err != nil || t.plain {
			return ctx.Err() == nil, err
		}
		hit, err := chromedp.Run(ctx, chromedp.Evaluate[bool](landed))
		return hit || err != nil && ctx.Err() == nil, err
	})
}

// Type types a text into a field, where its caret is.
func (t *Tab) Type(selector, text string) error {
	if err := t.focus(selector, "true"); err != nil {
		return fmt.Errorf("type into %s: %w", selector, err)
	}
	return t.Press(text)
}

// Fill replaces what a field has, as somebody does who selects it and types. The field has the text then.
func (t *Tab) Fill(selector, text string) error {
	if err := t.focus(selector, "(e.select(), e.selectionStart === null || e.selectionEnd === e.value.length)"); err != nil {
		return fmt.Errorf("fill %s: %w", selector, err)
	}
	typed := text
	if typed == "" {
		typed = kb.Backspace
	}
	if err := t.Press(typed); err != nil {
		return err
	}
	return t.Await(fmt.Sprintf("document.querySelector(%q)?.value === %q", selector, text))
}

// focus puts the focus on the first element of a selector that can be seen, and waits until that and more is so.
func (t *Tab) focus(selector, more string) error {
	return t.Await(fmt.Sprintf(`(() => {
		const e = %s && [...document.querySelectorAll(%q)].find((e) => e.checkVisibility({visibilityProperty: true}) && !e.disabled);
		if (!e) return false;
		if (document.activeElement !== e) e.focus();
		return document.activeElement === e && %s;
	})()`, ready, selector, more))
}

// Press presses keys, one after the other, wherever the focus is.
func (t *Tab) Press(keys ...string) error {
	for _, key := range keys {
		if err := t.Await(ready); err != nil {
			return err
		}
		if err := t.Do(chromedp.KeyEvent(key, raw)); err != nil {
			return fmt.Errorf("press %s: %w", key, err)
		}
	}
	return nil
}

// raw has a key go down as that of a keyboard does: what a page does not want to be typed with it is not typed then.
func raw(event *input.DispatchKeyEventParams) {
	if event.Type == kb.KeyDown {
		event.Type = kb.KeyRawDown
	}
}

// Point moves the pointer onto an element that is seen, or into the corner of the window with "".
func (t *Tab) Point(selector string) error {
	x, y := 2.0, 2.0
	if selector != "" {
		at, err := Eval[[]float64](t, fmt.Sprintf(`(() => {
			const r = document.querySelector(%q).getBoundingClientRect();
			return [r.x + r.width / 2, r.y + r.height / 2];
		})()`, selector))
		if err != nil {
			return err
		}
		x, y = at[0], at[1]
	}
	return t.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
}
