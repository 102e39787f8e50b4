package queues

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/frame/frametest"
)

// TestShowBody has what is shown of bodies: in the view that fits, and in others.
func TestShowBody(t *testing.T) {
	large := strings.Repeat("ü", maxText)
	tests := []struct {
		name, body, view string
		wantView, want   string
		part             bool
	}{
		{"an object", `{"a":1}`, "", asJSON, "{\n  \"a\": 1\n}", false},
		{"a string", `"a"`, "", asJSON, `"a"`, false},
		{"a number", "12.5", "", asJSON, "12.5", false},
		{"nearly JSON", `{"a":1`, "", asText, `{"a":1`, false},
		{"words", "hello\nthere", "", asText, "hello\nthere", false},
		{"another view", `{"a":1}`, asText, asText, `{"a":1}`, false},
		{"not JSON", "hello", asJSON, asText, "hello", false},
		{"bytes", "\x00\xff", "", asHex, "00000000  00 ff                                             |..|", false},
		{"bytes as text", "a\xffb", asText, asText, "a\uFFFDb", false},
		{"control characters", "a\x00b\x1b", asText, asText, "a␀b␛", false},
		{"other directions", "a\u202Eb\u2066c\u200Fd", "", asText, "a⟦U+202E⟧b⟦U+2066⟧c⟦U+200F⟧d", false},
		{"line ends", "a\r\nb\rc", "", asText, "a\nb␍c", false},
		{"Arabic", "مرحبا", "", asText, "مرحبا", false},
		{"a large text", "a" + large, "", asText, "a" + large[:maxText-2], true},
		{"an unknown view", "x", "png", asText, "x", false},
	}
	for _, test := range tests {
		body := browse.Body{Kind: "data", Data: [][]byte{[]byte(test.body)}, Size: int64(len(test.body))}
		got := showBody(body, test.view)
		if got.View != test.wantView || got.Text != test.want || (got.Shown < got.Size) != test.part {
			t.Errorf("%s: %s %.200q, %d of %d", test.name, got.View, got.Text, got.Shown, got.Size)
		}
	}
	several := showBody(browse.Body{Kind: "data", Data: [][]byte{[]byte(`{"a"`), []byte(`:1}`)}, Size: 7}, "")
	if several.View != asJSON || several.Text != "{\n  \"a\": 1\n}" {
		t.Errorf("two sections: %+v", several)
	}
	if none := showBody(browse.Body{Kind: "none"}, ""); none.Text != "" || none.Views != nil {
		t.Errorf("no body: %+v", none)
	}
	if value := showBody(browse.Body{Kind: "value", Type: "list", Text: "[\n  1\n]", Raw: []byte{0, 0x53, 0x77}, Size: 3}, asHex); !strings.HasPrefix(value.Text, "00000000  00 53 77") {
		t.Errorf("a value in hex: %+v", value)
	}
}

// FuzzShort never leaves too much.
func FuzzShort(f *testing.F) {
	f.Add("a\u202E\x00\xff\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		if got := short(s, 10); len([]rune(got)) > 11 {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}

// TestShowText decodes what clients encode in base64, if it is text.
func TestShowText(t *testing.T) {
	encode := base64.StdEncoding.EncodeToString
	for text, want := range map[string]string{
		"hello": "text hello", encode([]byte("a<b>")): "base64 a<b>", encode([]byte{0, 1, 2, 0xff}): "text AAEC/w==", `{"a":1}`: "json {\n  \"a\": 1\n}",
		"word": "text word", "": "text ",
	} {
		if got := showText(text, ""); got.View+" "+got.Text != want {
			t.Errorf("%q: %s %q, want %q", text, got.View, got.Text, want)
		}
	}
}

// TestLength tells lengths of time in plain words.
func TestLength(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Minute: "1 minute", 336 * time.Hour: "14 days", 90 * time.Second: "1 minute 30 seconds", 49 * time.Hour: "2 days 1 hour",
		24*time.Hour + time.Second: "1 day 1 second", 5 * time.Millisecond: "5ms",
	} {
		if got := length(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// TestSpans writes lengths of time as forms have them, and reads the same.
func TestSpans(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"": 0, "30s": 30 * time.Second, "1m": time.Minute, "1m30s": 90 * time.Second, "12h": 12 * time.Hour, "14d": 14 * day,
		"1d12h": 36 * time.Hour, "10675d": 10675 * day, "1d0.5s": day + time.Second/2, "1h1s": time.Hour + time.Second,
	} {
		got, err := parseSpan(text)
		if err != nil || got != want {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
		if again, err := parseSpan(spanText(want)); err != nil || again != want {
			t.Errorf("%v is written as %q, and read as %v, %v", want, spanText(want), again, err)
		}
	}
	for want, d := range map[string]time.Duration{"1m": time.Minute, "1h": time.Hour, "1d12h": 36 * time.Hour, "20m": 20 * time.Minute, "10s": 10 * time.Second} {
		if got := spanText(d); got != want {
			t.Errorf("%v is written as %q, want %q", d, got, want)
		}
	}
	for _, text := range []string{"d", "1", "-1s", "1d-1s", "soon", "1d 2h", "99999999d", "200000d", "106751d24h", "1.5d"} {
		if got, err := parseSpan(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestRoutes(t *testing.T) {
	some := Config{Bus: func() Bus { return nil }, Storage: func() Storage { return nil }}
	frametest.Routes(t, []frame.Section{Section(some)}, Path+"/rules")
}
