package seal_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

func newKey(tb testing.TB, id string) seal.Key {
	tb.Helper()
	k, err := seal.NewKey(id)
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

const place = "job default/hello action.queueMessage.sasToken"

func TestSealAndOpen(t *testing.T) {
	ring := seal.NewKeyring(newKey(t, "k1"))
	for _, secret := range []string{"", "s3cret", strings.Repeat("x", 12<<10), "\x00\xff\n"} {
		sealed, err := ring.Seal(place, secret)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(sealed, "v1.k1.") || secret != "" && strings.Contains(sealed, secret) {
			t.Errorf("sealed as %.80s", sealed)
		}
		if got, err := ring.Open(place, sealed); err != nil || got != secret {
			t.Errorf("got %.80q, %v", got, err)
		}
	}
}

// TestNonces shows that one secret is never sealed to one text twice.
func TestNonces(t *testing.T) {
	ring := seal.NewKeyring(newKey(t, "k"))
	seen := map[string]bool{}
	for range 1000 {
		sealed, err := ring.Seal(place, "same")
		if err != nil || seen[sealed] {
			t.Fatalf("sealed to the same text again, or %v", err)
		}
		seen[sealed] = true
	}
}

func TestOpenRefuses(t *testing.T) {
	k1, other := newKey(t, "k1"), newKey(t, "k1")
	ring := seal.NewKeyring(k1)
	sealed, err := ring.Seal(place, "s3cret")
	if err != nil {
		t.Fatal(err)
	}
	head, body := sealed[:len("v1.k1.")], sealed[len("v1.k1."):]
	changed := []byte(body)
	changed[40] ^= 1 // stays in the alphabet, or does not decode
	tests := map[string]struct {
		ring   *seal.Keyring
		place  string
		sealed string
		want   error
	}{
		"another job":     {ring, strings.Replace(place, "hello", "other", 1), sealed, seal.ErrDamaged},
		"another member":  {ring, strings.Replace(place, "sasToken", "message", 1), sealed, seal.ErrDamaged},
		"a shared secret": {ring, "secret hello", sealed, seal.ErrDamaged},
		"changed":         {ring, place, head + string(changed), seal.ErrDamaged},
		"cut":             {ring, place, sealed[:len(sealed)-4], seal.ErrDamaged},
		"nothing sealed":  {ring, place, head, seal.ErrDamaged},
		"longer":          {ring, place, sealed + "AAAA", seal.ErrDamaged},
		"with a newline":  {ring, place, sealed[:20] + "\n" + sealed[20:], seal.ErrDamaged},
		"other version":   {ring, place, "v2" + sealed[2:], seal.ErrDamaged},
		"plain":           {ring, place, "s3cret", seal.ErrDamaged},
		"key of that id":  {seal.NewKeyring(other), place, sealed, seal.ErrDamaged},
		"renamed key":     {seal.NewKeyring(newKey(t, "k2"), k1), place, "v1.k2." + body, seal.ErrDamaged},
		"no such key":     {seal.NewKeyring(newKey(t, "k2")), place, sealed, seal.ErrNoKey},
		"no keys":         {nil, place, sealed, seal.ErrNoKey},
	}
	for name, test := range tests {
		got, err := test.ring.Open(test.place, test.sealed)
		if got != "" || !errors.Is(err, test.want) {
			t.Errorf("%s: got %q, %v, want %v", name, got, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error shows the secret: %v", name, err)
		}
	}
	var none *seal.Keyring
	if _, err := none.Seal(place, "s3cret"); !errors.Is(err, seal.ErrNoKey) {
		t.Errorf("sealing without a key: %v", err)
	}
}

// TestRotation shows that the first key seals and that all open.
func TestRotation(t *testing.T) {
	before := newKey(t, "old")
	sealed, err := seal.NewKeyring(before).Seal(place, "s3cret")
	if err != nil {
		t.Fatal(err)
	}
	ring := seal.NewKeyring(newKey(t, "new"), before)
	if got, err := ring.Open(place, sealed); err != nil || got != "s3cret" {
		t.Errorf("got %q, %v", got, err)
	}
	again, err := ring.Seal(place, "s3cret")
	if err != nil || seal.KeyID(again) != "new" || seal.KeyID(sealed) != "old" || ring.First() != "new" {
		t.Errorf("sealed with %q, %v", seal.KeyID(again), err)
	}
}

func TestParseKeys(t *testing.T) {
	k1, k2 := newKey(t, "2026-03"), newKey(t, "k_2")
	url := strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(k2.Text()), "=")
	ring, err := seal.ParseKeys("\uFEFF# a comment\r\n\n " + k1.Text() + " \r\n" + url)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(ring.IDs()); got != "[2026-03 k_2]" {
		t.Errorf("got %s", got)
	}
	sealed, err := seal.NewKeyring(k2).Seal(place, "s3cret")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ring.Open(place, sealed); got != "s3cret" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestParseKeysProblems shows that every wrong line is named, and none shown.
func TestParseKeysProblems(t *testing.T) {
	material := base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
	text := strings.Join([]string{
		"# keys", material, ":" + material, "a b:" + material, strings.Repeat("x", 33) + ":" + material,
		"short:" + material[:20], "bad:*" + material, "good:" + material, "good:" + material,
	}, "\n")
	_, err := seal.ParseKeys(text)
	want := `line 2: is not of the form <id>:<base64 of 32 bytes>
line 3: the id must not be empty
line 4: the id may hold letters, digits, - and _ only
line 5: the id is longer than 32 characters
line 6: key "short": has 15 bytes, not 32
line 7: key "bad": what follows the colon is not base64
line 9: key "good": the id is used before`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if err != nil && strings.Contains(err.Error(), material[:8]) {
		t.Error("the error shows a key")
	}
	for _, text := range []string{"", "# nothing\n\n"} {
		if _, err := seal.ParseKeys(text); err == nil || err.Error() != "there is no key in it" {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := seal.NewKey("a b"); err == nil {
		t.Error("a key of that id was made")
	}
}

// TestPrinting shows that no verb prints a key.
func TestPrinting(t *testing.T) {
	k := newKey(t, "k1")
	_, material, _ := strings.Cut(k.Text(), ":")
	raw, err := base64.StdEncoding.DecodeString(material)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		got := fmt.Sprintf(verb, k) + fmt.Sprintf(verb, seal.NewKeyring(k)) + fmt.Sprintf(verb, []any{k, &k})
		if strings.Contains(got, material) || strings.Contains(got, fmt.Sprintf("%d %d %d", raw[0], raw[1], raw[2])) || !strings.Contains(got, "k1") {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

func FuzzOpen(f *testing.F) {
	ring := seal.NewKeyring(newKey(f, "k"))
	sealed, err := ring.Seal(place, "s3cret")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add("v1.k.")
	f.Add("v1..x")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := ring.Open(place, text); err == nil && (text != sealed || got != "s3cret") {
			t.Errorf("%q opened to %q", text, got)
		}
	})
}

func BenchmarkSealAndOpen(b *testing.B) {
	ring := seal.NewKeyring(newKey(b, "k"))
	b.ReportAllocs()
	for b.Loop() {
		sealed, _ := ring.Seal(place, "sv=2024-01-01&sig=abcdefghijklmnopqrstuvwxyz0123456789")
		if _, err := ring.Open(place, sealed); err != nil {
			b.Fatal(err)
		}
	}
}
