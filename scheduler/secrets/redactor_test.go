package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestRedactor shows that a result holds no secret, in whatever form a target that shows what it was sent gives it back.
func TestRedactor(t *testing.T) {
	const secret = `p&s"s<wörd/+==`
	forms := map[string]string{
		"plain": secret, "JSON": `p&s\"s<wörd/+==`, "JSON for web pages": `p\u0026s\"s\u003cwörd/+==`,
		"HTML": `p&amp;s&#34;s&lt;wörd/+==`, "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
		"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
	for name, form := range forms {
		r := &Redactor{}
		r.Add(secret)
		response := "you sent " + form + " to us"
		res := r.Clean(scheduler.Result{
			Message: "Response Headers: x: " + form + "\r\n Body: " + response, Response: response,
			Summary: "OK (the body does not contain " + form + ")", Headers: "x: " + form + "\r\n",
		})
		if strings.Contains(res.Message+res.Response+res.Summary+res.Headers, form) {
			t.Errorf("%s: got %+v", name, res)
		}
		if !strings.HasSuffix(res.Message, res.Response) || !strings.HasPrefix(res.Response, "you sent "+Redacted) || !strings.HasSuffix(res.Response, " to us") {
			t.Errorf("%s: got %+v", name, res)
		}
	}
}

// TestRedactorCleansEveryText fills one text of a result after the other.
func TestRedactorCleansEveryText(t *testing.T) {
	const secret = "open sesame"
	r := &Redactor{}
	r.Add(secret)
	fields := reflect.TypeFor[scheduler.Result]()
	for i := range fields.NumField() {
		if fields.Field(i).Type.Kind() != reflect.String {
			continue
		}
		var res scheduler.Result
		reflect.ValueOf(&res).Elem().Field(i).SetString("you sent " + secret)
		cleaned := reflect.ValueOf(r.Clean(res)).Field(i).String()
		if !strings.HasPrefix(cleaned, "you sent "+Redacted) || strings.Contains(cleaned, secret) {
			t.Errorf("%s: %q; clean it in Redactor.Clean", fields.Field(i).Name, cleaned)
		}
	}
}

// TestRedactorEscapes shows that the ways in which languages and frameworks escape what they show hide no secret, one in the
// other too.
func TestRedactorEscapes(t *testing.T) {
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
		r := &Redactor{}
		r.Add(secret)
		got := r.Clean(scheduler.Result{Message: "you sent " + form + " to us"}).Message
		want := "you sent " + Redacted + " to us"
		if name == "base64" {
			got = strings.Replace(got, "%3D%3D to us", " to us", 1) // what fills it up is no part of it
			got = strings.Replace(got, "%3D to us", " to us", 1)
		}
		if got != want {
			t.Errorf("%s: %q: got %q", name, form, got)
		}
		for n := len(form) - 1; n >= 24; n-- { // cut anywhere, also in an escape
			if got := r.Clean(scheduler.Result{Message: "you sent " + form[:n] + ellipsis}).Message; got != "you sent "+Redacted+ellipsis {
				t.Fatalf("%s: %q: got %q", name, form[:n], got)
			}
		}
	}
}

// TestRedactorBlanks shows that a header is redacted as it is sent: without the blanks around it.
func TestRedactorBlanks(t *testing.T) {
	r := &Redactor{}
	r.Add("  0123456789abcdef\t")
	for text, want := range map[string]string{
		"[0123456789abcdef]": "[" + Redacted + "]", "[  0123456789abcdef\t]": "[" + Redacted + "]",
	} {
		if got := r.Clean(scheduler.Result{Message: text}).Message; got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

// TestRedactorKeepsOthers shows that what is no secret stays as it is, escapes and all.
func TestRedactorKeepsOthers(t *testing.T) {
	r := &Redactor{}
	r.Add("0123456789abcdef")
	for _, text := range []string{
		`100% of "50%"`, `a\`, `\u00`, `&`, `&amp`, `C:\users\x`, "a+b %zz &nonsense; \xff\xc3", ellipsis, ellipsis + ellipsis, "%2", "",
	} {
		if got := r.Clean(scheduler.Result{Message: text}).Message; got != text {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

// BenchmarkRedactor looks for a secret in the longest text there is, of the kinds that cost most.
func BenchmarkRedactor(b *testing.B) {
	for name, unit := range map[string]string{"text": "abcd ", "escapes": `\u0041%41&#65;`, "entities": "&", "cuts": ellipsis, "beginnings": "aaaa"} {
		text := strings.Repeat(unit, 4096/len(unit))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := &Redactor{}
				r.Add(strings.Repeat("a", 64) + "+/")
				r.Clean(scheduler.Result{Message: text})
			}
		})
	}
}

// FuzzRedactor shows that no text with a secret keeps it, and that what has none stays.
func FuzzRedactor(f *testing.F) {
	f.Add("p+s/w%41\"rd", "before ", " after")
	f.Add(`\u0041\\&amp;`, "&", "…")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		r := &Redactor{}
		r.Add(secret)
		if len(secret) < minLength || strings.Contains(Redacted, secret[:1]) {
			return
		}
		for _, form := range []string{secret, url.QueryEscape(secret), html.EscapeString(secret), document.StringValue(secret).String()} {
			got := r.Clean(scheduler.Result{Message: before + form + after}).Message
			if strings.Contains(got, secret) && !strings.Contains(before+Redacted+after, secret) {
				t.Errorf("%q in %q: got %q", secret, before+form+after, got)
			}
		}
	})
}

// TestRedactorBeginnings shows that a text which is cut inside a secret does not show its beginning.
func TestRedactorBeginnings(t *testing.T) {
	r := &Redactor{}
	r.Add("0123456789abcdef")
	for text, want := range map[string]string{
		"key 01234567":            "key " + Redacted,
		"key 0123":                "key " + Redacted,
		"key 012":                 "key 012", // too short to tell
		"x: 01234567…\r\n Body: ": "x: " + Redacted + "…\r\n Body: ",
		"… 012345… y: 01234567…":  "… " + Redacted + "… y: " + Redacted + "…",
		"0123456789abcdef":        Redacted,
		"nothing":                 "nothing",
	} {
		if got := r.Clean(scheduler.Result{Message: text}).Message; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := (&Redactor{}).Clean(scheduler.Result{Message: "0123456789abcdef"}).Message; got != "0123456789abcdef" {
		t.Errorf("got %q", got)
	}
	r.Add("abc") // found everywhere: not redacted
	if got := r.Clean(scheduler.Result{Message: "abc"}).Message; got != "abc" {
		t.Errorf("got %q", got)
	}
}
