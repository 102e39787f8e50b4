package scheduler

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"html"
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

// TestHiddenEscapes shows that the ways in which languages and frameworks escape what they show hide no secret, one in the
// other too.
func TestHiddenEscapes(t *testing.T) {
	const secret = `a+b/c="<d\e&ö😀 %41 f`
	inJSON := func(text string) string {
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `/`, `\/`).Replace(text)
	}
	forms := map[string]string{
		"PHP's JSON":    strings.NewReplacer("ö", `\u00f6`, "😀", `\ud83d\ude00`).Replace(inJSON(secret)),
		".NET's JSON":   `a\u002Bb/c=\u0022\u003Cd\\e\u0026\u00F6\uD83D\uDE00 %41 f`,
		"lower case":    `a\u002bb/c=\u0022\u003cd\\e\u0026\u00f6\ud83d\ude00 %41 f`,
		".NET's URL":    `a%2bb%2fc%3d%22%3cd%5ce%26%c3%b6%f0%9f%98%80+%2541+f`,
		"a path":        url.PathEscape(secret),
		"HTML":          `a&#43;b/c=&quot;&lt;d\e&amp;&#246;&#128512; %41 f`,
		"HTML, hex":     `a&#x2B;b&#x2f;c&#x3D;&#x22;&#x3c;d\e&#x26;&#xF6;&#x1F600; %41 f`,
		"JavaScript":    `a\x2Bb\x2fc=\"<d\\e&\xF6😀 %41 f`,
		"JSON in JSON":  inJSON(inJSON(secret)),
		"a URL in JSON": inJSON(url.QueryEscape(secret)),
		"a URL in HTML": strings.ReplaceAll(url.QueryEscape(secret), "%", "&#37;"),
		"HTML in JSON":  inJSON(html.EscapeString(secret)),
		"base64":        url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(secret))),
		"hexadecimal":   strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"as it is":      secret,
	}
	for name, form := range forms {
		h := &hidden{}
		h.add(secret)
		got := h.clean(Result{Message: "you sent " + form + " to us"}).Message
		want := "you sent " + Hidden + " to us"
		if name == "base64" {
			got = strings.Replace(got, "%3D%3D to us", " to us", 1) // what fills it up is no part of it
			got = strings.Replace(got, "%3D to us", " to us", 1)
		}
		if got != want {
			t.Errorf("%s: %q: got %q", name, form, got)
		}
		for n := len(form) - 1; n >= 24; n-- { // cut anywhere, also in an escape
			if got := h.clean(Result{Message: "you sent " + form[:n] + cutMark}).Message; got != "you sent "+Hidden+cutMark {
				t.Fatalf("%s: %q: got %q", name, form[:n], got)
			}
		}
	}
}

// TestHiddenBlanks shows that a header is hidden as it is sent: without the blanks around it.
func TestHiddenBlanks(t *testing.T) {
	h := &hidden{}
	h.add("  0123456789abcdef\t")
	for text, want := range map[string]string{
		"[0123456789abcdef]": "[" + Hidden + "]", "[  0123456789abcdef\t]": "[" + Hidden + "]",
	} {
		if got := h.clean(Result{Message: text}).Message; got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

// TestHiddenKeepsOthers shows that what is no secret stays as it is, escapes and all.
func TestHiddenKeepsOthers(t *testing.T) {
	h := &hidden{}
	h.add("0123456789abcdef")
	for _, text := range []string{
		`100% of "50%"`, `a\`, `\u00`, `&`, `&amp`, `C:\users\x`, "a+b %zz &nonsense; \xff\xc3", cutMark, cutMark + cutMark, "%2", "",
	} {
		if got := h.clean(Result{Message: text}).Message; got != text {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

// BenchmarkHidden looks for a secret in the longest text there is, of the kinds that cost most.
func BenchmarkHidden(b *testing.B) {
	for name, unit := range map[string]string{"text": "abcd ", "escapes": `\u0041%41&#65;`, "entities": "&", "cuts": cutMark, "beginnings": "aaaa"} {
		text := strings.Repeat(unit, 4096/len(unit))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				h := &hidden{}
				h.add(strings.Repeat("a", 64) + "+/")
				h.clean(Result{Message: text})
			}
		})
	}
}

// FuzzHidden shows that no text with a secret keeps it, and that what has none stays.
func FuzzHidden(f *testing.F) {
	f.Add("p+s/w%41\"rd", "before ", " after")
	f.Add(`\u0041\\&amp;`, "&", "…")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		h := &hidden{}
		h.add(secret)
		if len(secret) < leastHidden || strings.Contains(Hidden, secret[:1]) {
			return
		}
		for _, form := range []string{secret, url.QueryEscape(secret), html.EscapeString(secret), document.StringValue(secret).String()} {
			got := h.clean(Result{Message: before + form + after}).Message
			if strings.Contains(got, secret) && !strings.Contains(before+Hidden+after, secret) {
				t.Errorf("%q in %q: got %q", secret, before+form+after, got)
			}
		}
	})
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
		"… 012345… y: 01234567…":  "… " + Hidden + "… y: " + Hidden + "…",
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
