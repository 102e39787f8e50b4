// Package tab drives pages of the console in a real browser, and notes what must not happen there: errors of scripts,
// requests to other origins, answers that are failures, and violations of the content security policy.
package tab

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// ErrNoBrowser reports that no browser is installed.
var ErrNoBrowser = errors.New("there is no Chromium here; on Debian: apt-get install chromium-headless-shell")

// patience bounds each wait for a page: far more than a busy machine takes, as nothing is to fail for being slow.
const patience = 5 * time.Minute

// Browser is a running browser.
type Browser struct {
	ctx context.Context //nolint:containedctx // it is the browser, to chromedp
	end func()
}

// Launch starts a browser. It retries if the browser crashes or does not respond.
func Launch(ctx context.Context) (*Browser, error) {
	program := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		return nil, ErrNoBrowser
	}
	var errs []error
	for range launches {
		b, err := launch(ctx, program)
		if err == nil {
			return b, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("browser: %w", errors.Join(errs...))
}

// launches is how often a browser is tried to be started.
const launches = 3

// launch starts a browser that ends with this process. The browser has a dedicated folder and does not use
// /dev/shm, which is small in containers.
func launch(ctx context.Context, program string) (*Browser, error) {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("hide-scrollbars", true))
	allocated, endProcess := chromedp.NewExecAllocator(ctx, options...)
	first, endFirst := chromedp.NewContext(allocated)
	b := &Browser{ctx: first, end: func() { endFirst(); endProcess() }}
	began := make(chan error, 1)
	go func() { began <- chromedp.Do(first) }()
	select {
	case err := <-began:
		if err != nil {
			b.end()
		}
		return b, err
	case <-time.After(patience):
		b.end()
		return nil, errors.New("it does not answer")
	}
}

// Close ends the browser.
func (b *Browser) Close() { b.end() }

// A Look is how a page is looked at.
type Look struct {
	Width, Height int64 // default 1280 by 900
	Dark          bool
	Zoom          float64 // default 1; Width and Height are of the zoomed page
	Zone          string  // default Europe/Berlin
	NoScripts     bool
	Fresh         bool // the browser has never been here: the server does not know its zone
}

// Looks are how every page is looked at.
var Looks = []Look{
	{Width: 1280, Height: 900},
	{Width: 1280, Height: 900, Dark: true},
	{Width: 360, Height: 740},
	{Width: 360, Height: 740, Dark: true},
}

// Zoomed is a window of 1280 by 900 at 200 %.
var Zoomed = Look{Width: 640, Height: 450, Zoom: 2}

// Tab is a page in a browser. It keeps nothing of others: cookies are its own.
type Tab struct {
	ctx    context.Context //nolint:containedctx // it is the tab, to chromedp
	base   *url.URL
	mu     sync.Mutex
	wrong  []string
	expect []int
	plain  bool // it runs no scripts
	end    func()
}

// Open opens a tab for pages of the console at a base, http://127.0.0.1:8080.
func (b *Browser) Open(base string, look Look) (*Tab, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	if look.Width == 0 {
		look.Width, look.Height = 1280, 900
	}
	if look.Zoom == 0 {
		look.Zoom = 1
	}
	if look.Zone == "" {
		look.Zone = "Europe/Berlin"
	}
	ctx, end := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t := &Tab{ctx: ctx, base: u, plain: look.NoScripts, end: end}
	err = errors.Join(
		chromedp.Listen(ctx, t.note),
		call(ctx, network.Enable, network.EnableParams{}), call(ctx, log.Enable, cdp.Empty{}), call(ctx, runtime.Enable, cdp.Empty{}),
		call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: look.Width, Height: look.Height, DeviceScaleFactor: look.Zoom, Mobile: look.Width < 600,
		}),
		// Every tab behaves as the focused one, independent of the others.
		call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
		t.Scheme(look.Dark),
		call(ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: look.Zone}),
		call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: look.NoScripts}),
	)
	if err == nil && !look.Fresh && !look.NoScripts {
		err = call(ctx, network.SetCookie, network.SetCookieParams{Name: "carillon-zone", Value: url.QueryEscape(look.Zone), URL: base})
	}
	if err != nil {
		end()
		return nil, err
	}
	return t, nil
}

// call sends a command whose result is of no interest.
func call[P, R any](ctx context.Context, command cdp.Command[P, R], params P) error {
	_, err := chromedp.Call(ctx, command, params)
	return err
}

// Scheme makes the colours light or dark, as the system of the person would.
func (t *Tab) Scheme(dark bool) error {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// ForceColors emulates forced colors, the high-contrast mode.
func (t *Tab) ForceColors() error {
	return call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}},
	})
}

// Close closes the tab.
func (t *Tab) Close() { t.end() }

// note notes what must not happen.
func (t *Tab) note(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		d := e.ExceptionDetails
		value := arguments([]*runtime.RemoteObject{d.Exception})
		t.fault(fmt.Sprintf("a script failed: %s at %s:%d %s", d.Text, d.URL, d.LineNumber+1, value))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			t.fault(fmt.Sprintf("console.%s: %s", e.Type, arguments(e.Args)))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			t.fault(fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Scheme != "data" && u.Scheme != "blob" && u.Scheme != "about" && u.Host != t.base.Host {
			t.fault("a request to another origin: " + e.Request.URL)
		}
	case *network.EventResponseReceived:
		if s := int(e.Response.Status); s >= 400 && !t.expected(s) {
			t.fault(fmt.Sprintf("%d from %s", s, e.Response.URL))
		}
	}
}

func arguments(all []*runtime.RemoteObject) string {
	var texts []string
	for _, one := range all {
		if one == nil {
			continue
		}
		texts = append(texts, string(one.Value)+one.Description)
	}
	return strings.Join(texts, " ")
}

func (t *Tab) fault(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrong = append(t.wrong, what)
}

func (t *Tab) expected(status int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.expect, status)
}

// Expect says that answers with these statuses are not wrong.
func (t *Tab) Expect(statuses ...int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expect = statuses
}

// Wrong returns the unexpected events so far, and clears them.
func (t *Tab) Wrong() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	wrong := t.wrong
	t.wrong = nil
	return wrong
}

// Eval evaluates a JavaScript expression and awaits a promise. A result that JSON cannot represent is an error.
func Eval[T any](t *Tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Await waits until an expression of JavaScript is true. Pages may come and go meanwhile.
func (t *Tab) Await(expression string) error {
	return t.until(expression, func(ctx context.Context) (bool, error) {
		return chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
	})
}

// until tries something until it is done, again and again; an error is but a reason why it is not.
func (t *Tab) until(what string, try func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		done, err := try(ctx)
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			text, _ := Eval[string](t, "location.href + '\\n' + String(document.querySelector('main')?.innerText).slice(0, 2000)")
			return fmt.Errorf("waited in vain for %s: %w\n%s", what, errors.Join(err, ctx.Err()), text)
		case <-tick.C:
		}
	}
}

// Text waits until an element has a text in it.
func (t *Tab) Text(selector, text string) error {
	return t.Await(fmt.Sprintf("document.querySelector(%q)?.innerText.includes(%q)", selector, text))
}

// Picture returns a screenshot of the whole page as PNG, with sticky elements in place.
func (t *Tab) Picture() ([]byte, error) {
	const unstick = "for (const e of document.querySelectorAll('main *')) {" +
		"if (getComputedStyle(e).position === 'sticky') e.style.position = 'static';" +
		"if (getComputedStyle(e).contentVisibility === 'auto') e.style.contentVisibility = 'visible'; } true"
	if _, err := Eval[bool](t, unstick); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	metrics, err := chromedp.Call(ctx, page.GetLayoutMetrics, cdp.Empty{})
	if err != nil {
		return nil, err
	}
	size, beyond := metrics.CSSContentSize, true
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		CaptureBeyondViewport: &beyond, Clip: &page.Viewport{Width: size.Width, Height: min(size.Height, 4000), Scale: 1},
	})
	return shot.Data, err
}

// Focused identifies the focused element: its tag, id, name and text.
func (t *Tab) Focused() (string, error) {
	return Eval[string](t, `(() => {
		const e = document.activeElement;
		return [e.tagName, e.id, e.name, e.innerText?.slice(0, 40)].filter(Boolean).join(' ');
	})()`)
}
