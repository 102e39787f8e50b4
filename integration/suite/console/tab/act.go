package tab

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Actions resolve their element when they run, because pages change: they keep no node, and repeat a click that
// missed because the page moved.

// Do carries actions out.
func (t *Tab) Do(actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// ready says that a page is whole, and its scripts have begun.
const ready = "document.readyState === 'complete'"

// Go opens a path and waits until it has loaded.
func (t *Tab) Go(path string) error {
	if err := t.Do(chromedp.Navigate(t.base.String() + path)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return t.Await(ready + " && document.querySelector('main')?.checkVisibility()")
}

// aim finds the first visible and enabled element of a selector, scrolls to it if it is outside the window or something
// sticky covers it, and waits until it stops moving.
// It blocks clicks on other elements: see [Tab.Click].
const aim = `(async () => {
	const seen = (e) => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length && !e.disabled;
	const e = ` + ready + ` && [...document.querySelectorAll(%[1]q)].find(seen);
	if (!e) return null;
	const first = () => e.getClientRects()[0];
	const inside = (r) => r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
	const own = (n) => n && (e.contains(n) || [...(e.labels ?? [])].some((l) => l.contains(n)));
	const middle = (r) => [r.x + r.width / 2, r.y + r.height / 2];
	const covered = (r) => !own(document.elementFromPoint(...middle(r)));
	if (!inside(first()) || covered(first())) e.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
	const was = first();
	%[2]s
	const r = first();
	if (!r || r.x !== was.x || r.y !== was.y || r.width !== was.width || covered(r)) return null;
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
	return middle(r);
})()`

// landed reports whether the click reached the element. A page without its state is a new one.
const landed = "(() => { window.aimed?.end(); return window.aimed?.hit ?? true; })()"

// Click clicks the first visible element of a selector once it is enabled. If the page moves, it blocks the
// misdirected click and repeats it. The caller waits for a page that the click opens.
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
		// From here on, a missing response means that another page is open, where the click must not be repeated.
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

// Fill replaces the content of a field, as a user who selects it and types.
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

// Press presses keys one after the other, at the current focus.
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

// raw sends a key press as a keyboard does, so that the page can prevent its input.
func raw(event *input.DispatchKeyEventParams) {
	if event.Type == kb.KeyDown {
		event.Type = kb.KeyRawDown
	}
}

// Drag presses the pointer on an element that is seen, at a fraction of its width, and releases it at another.
func (t *Tab) Drag(selector string, from, to float64) error {
	at, err := Eval[[]float64](t, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: 'center'});
		const r = e.getBoundingClientRect();
		return [r.x + r.width * %g, r.x + r.width * %g, r.y + r.height / 2];
	})()`, selector, from, to))
	if err != nil {
		return err
	}
	return t.Do(
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, at[0], at[2], chromedp.Button("left")),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[1], at[2], chromedp.Button("left")),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, at[1], at[2], chromedp.Button("left")),
	)
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
