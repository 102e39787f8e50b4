package scheduler

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

func TestReveal(t *testing.T) {
	shared := func(name string) (string, error) {
		if name != "orders" {
			return "", errors.New("there is none of that name")
		}
		return "shared-text", nil
	}
	v, err := document.Parse([]byte(`{"a": "literal-text", "b": {"secretRef": "orders"}, "c": {"secretRef": "other"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := document.NewReader()
	o := r.Object(v, "")
	for name, want := range map[string][2]string{
		"a": {"literal-text"}, "b": {"shared-text"}, "c": {"", `shared secret "other": there is none of that name`}, "absent": {},
	} {
		s, _ := o.Secret(name)
		got, err := Attempt{Shared: shared}.Reveal(s)
		if message := strings.TrimSpace(errorText(err)); got != want[0] || message != want[1] {
			t.Errorf("%s: got %q, %q, want %q", name, got, message, want)
		}
	}
	s, _ := o.Secret("b")
	if _, err := (Attempt{}).Reveal(s); err == nil {
		t.Error("a shared secret is revealed without a source")
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestHidden shows that a result holds no secret, in whatever form a target that shows what it was sent gives it back.
func TestHidden(t *testing.T) {
	const secret = `p&s"s<wörd/+==`
	forms := map[string]string{
		"plain": secret, "JSON": `p&s\"s<wörd/+==`, "JSON for web pages": `p\u0026s\"s\u003cwörd/+==`,
		"HTML": `p&amp;s&#34;s&lt;wörd/+==`, "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
		"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
	for name, form := range forms {
		h := &hidden{}
		Attempt{hidden: h}.Hide(secret)
		response := "you sent " + form + " to us"
		res := h.clean(Result{Message: "Response Headers: x: " + form + "\r\n Body: " + response, Response: response})
		if strings.Contains(res.Message, form) || strings.Contains(res.Response, form) {
			t.Errorf("%s: got %+v", name, res)
		}
		if !strings.HasSuffix(res.Message, res.Response) || !strings.HasPrefix(res.Response, "you sent "+Hidden) || !strings.HasSuffix(res.Response, " to us") {
			t.Errorf("%s: got %+v", name, res)
		}
	}
}

// TestHiddenBeginnings shows that a text which is cut inside a secret does not show its beginning.
func TestHiddenBeginnings(t *testing.T) {
	h := &hidden{}
	h.add("0123456789abcdef")
	for text, want := range map[string]string{
		"key 01234567":            "key " + Hidden,
		"key 0123":                "key " + Hidden,
		"key 012":                 "key 012", // too short to tell
		"x: 01234567…\r\n Body: ": "x: " + Hidden + "…\r\n Body: ",
		"0123456789abcdef":        Hidden,
		"nothing":                 "nothing",
	} {
		if got := h.clean(Result{Message: text}).Message; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := (&hidden{}).clean(Result{Message: "0123456789abcdef"}).Message; got != "0123456789abcdef" {
		t.Errorf("got %q", got)
	}
	h.add("abc") // found everywhere: not hidden
	if got := h.clean(Result{Message: "abc"}).Message; got != "abc" {
		t.Errorf("got %q", got)
	}
}
