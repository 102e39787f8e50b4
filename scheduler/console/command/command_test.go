package command

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// hostile are texts that a shell, or a command, might take for something else.
var hostile = []string{
	"", "plain", "it's", "'", `'\''`, `"`, "$HOME", "`date`", "$(date)", "\\", "a\\\nb", "!!", "*", "~", "; rm -rf x", "| cat", "> x", "CARILLON",
	"a\nCARILLON\nb", "CARILLON\nCARILLON2", "-n", "%s", "שלום\u202e", "tab\there", "{{.}}{{{", "${CARILLON_TOKEN}", "<<'CARILLON'",
}

// TestQuoting has a real shell read what is quoted for it.
func TestQuoting(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatalf("there is no shell: %v", err)
	}
	for _, text := range hostile {
		out, err := exec.CommandContext(t.Context(), sh, "-c", "printf %s "+Quoted(text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("%q as a word is %q (%v)", text, out, err)
		}
		out, err = exec.CommandContext(t.Context(), sh, "-c", HereDocument("cat", text)).Output()
		if want := strings.TrimSuffix(text, "\n") + "\n"; err != nil || string(out) != want {
			t.Errorf("%q as a document is %q (%v)", text, out, err)
		}
	}
}

// TestRequest has a real shell read the command: each option is one word, and the body is as it was.
func TestRequest(t *testing.T) {
	request := func(text string) document.Value {
		v, err := document.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	words := func(text string) []string {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "curl() { printf '%s\\0' \"$@\"; }\n"+text).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	}
	for _, c := range []struct {
		request string
		want    []string
	}{
		{`{"method": "GET"}`, []string{"-X", "GET", "http://[::1]/'a'?x=…"}},
		{`{"method": "HEAD", "headers": {"Accept": null, "X-Empty": ""}}`, []string{"--head", "http://[::1]/'a'?x=…", "-H", "X-Empty;"}},
		{`{"method": "PUT", "headers": {"X-Key": {"secretRef": "it's"}}, "body": "[{{json .Data.n}}]"}`, []string{
			"-X", "PUT", "http://[::1]/'a'?x=…", "-H", "X-Key: (secret it's)",
			"-H", "Content-Type: application/json", "--data-raw", "[{{json .Data.n}}]",
		}},
		{`{"method": "POST", "headers": {"content-type": "text/csv"}, "body": "@a,'b'\n\"$HOME\" \\\n{{.Job}}\n"}`, []string{
			"-X", "POST", "http://[::1]/'a'?x=…", "-H", "content-type: text/csv", "--data-raw", "@a,'b'\n\"$HOME\" \\\n{{.Job}}\n",
		}},
	} {
		if got := words(Request("http://[::1]/'a'?x=…", request(c.request))); !slices.Equal(got, append([]string{"-g"}, c.want...)) {
			t.Errorf("%s: %q", c.request, got)
		}
	}
	for _, text := range hostile {
		v := request(`{"method": "POST"}`).With(document.StringValue("."+text), "body")
		if got := words(Request("http://a", v)); got[len(got)-1] != "."+text || len(got) != 8 {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestUntemplated leaves the document as it is, and no template in it.
func TestUntemplated(t *testing.T) {
	for _, text := range hostile {
		v := document.ObjectValue(document.Member{Name: "{{" + text, Value: document.ObjectValue(document.Member{Name: text, Value: document.StringValue(text)})})
		safe := Untemplated(string(v.JSON()))
		again, err := document.Parse([]byte(safe))
		if err != nil || !again.Equal(v) || strings.Contains(safe, "{{") {
			t.Errorf("%s became %s (%v)", v.JSON(), safe, err)
		}
	}
}
