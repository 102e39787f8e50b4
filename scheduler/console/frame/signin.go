package frame

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/access"
)

const signInPath, signOutPath = Root + "/sign-in", Root + "/sign-out"

// own returns the routes of the frame.
func (f *Frame) own() []placed {
	open := func(method, path string, do func(*Call) error) placed {
		return placed{Route: Route{Method: method, Path: path, Right: access.Open, Do: do}}
	}
	assets := open(http.MethodGet, Root+"/assets/{version}/{path...}", f.assets.serve)
	assets.plain = true
	if f.cfg.Unlocked { // a typed token would have no effect and remain stored
		return []placed{assets}
	}
	return []placed{
		assets,
		open(http.MethodGet, signInPath, func(c *Call) error { c.signIn(""); return nil }),
		open(http.MethodPost, signInPath, f.takeToken),
		open(http.MethodPost, signOutPath, func(c *Call) error {
			c.setCookie(tokenCookie, "", -time.Second)
			return c.Redirect(signInPath)
		}),
	}
}

// asking is the input of the sign-in form.
type asking struct {
	Why  string // problem of the previous attempt
	Next string // target after the sign-in
	Open bool   // authentication is currently disabled
}

// maxToken limits a token, in bytes: browsers store no much longer cookie.
const maxToken = 4000

// signIn shows the sign-in form; why is the problem of the previous attempt.
func (c *Call) signIn(why string) {
	next := c.Request.URL.RequestURI()
	if c.Request.URL.Path == signInPath || c.Request.Method != http.MethodGet {
		next = c.Query("next")
	}
	status := http.StatusUnauthorized
	if why == "" {
		status = http.StatusOK
	}
	if _, err := c.Request.Cookie(tokenCookie); err != nil && c.Request.Method == http.MethodGet {
		why = "" // no attempt yet
	}
	_ = c.Show(&Page{
		Status: status, Title: c.Say("frame.signin"), Template: signInPage,
		Data: asking{why, safe(next), c.open()},
	})
}

// takeToken stores a valid token in the browser.
func (f *Frame) takeToken(c *Call) error {
	form, err := c.ShortForm()
	if err != nil {
		return err
	}
	token := strings.TrimSpace(form.Get("token"))
	asked := c.Request.Clone(c.Context())
	asked.Header.Set("Authorization", "Bearer "+token)
	next := safe(form.Get("next"))
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`";,\`, r) }) || token == "" {
		c.signInAgain(c.Say("frame.signin.form"), next)
		return nil
	}
	if len(token) > maxToken {
		c.signInAgain(c.Say("frame.signin.long", Bytes(maxToken)), next)
		return nil
	}
	_, err = f.cfg.Identify(asked)
	if unknown, ok := errors.AsType[*access.Unknown](err); ok {
		c.signInAgain(unknown.Error(), next)
		return nil
	}
	if err != nil {
		return err
	}
	c.setCookie(tokenCookie, token, 0)
	return c.Redirect(next)
}

func (c *Call) signInAgain(why, next string) {
	_ = c.Show(&Page{
		Status: http.StatusUnauthorized, Title: c.Say("frame.signin"), Template: signInPage,
		Data: asking{why, next, c.open()},
	})
}

// safe returns next if it is a path of the console, else /, so that a form cannot redirect to another site.
func safe(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || u.Path != "/" && !strings.HasPrefix(u.Path, Root+"/") || strings.HasPrefix(next, "//") ||
		strings.ContainsAny(next, "\\\r\n") || u.Path == signInPath || u.Path == signOutPath {
		return "/"
	}
	return next
}
