package web_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets"
)

// guarded is an attempt that is told what is secret, as the scheduler's worker does.
func guarded() scheduler.Attempt {
	at, redactor := attempt(), &secrets.Redactor{}
	at.Redact, at.Veiled = redactor.Add, redactor.Veiled
	return at
}

// TestBodyContainsTellsNoSecret has a target that repeats what it gets, and guesses parts of a secret: a right guess ends
// as a wrong one does, wherever in the body the secret is and however it is written there. Who may change what is looked
// for, and not read the secret, would find it out letter by letter.
func TestBodyContainsTellsNoSecret(t *testing.T) {
	const secret = `pl4nted-"s3cr3t"/+<key>-0f-th1s-j0b`
	quoted := must.Get(json.Marshal(secret))(t)
	forms := []string{
		secret, string(quoted[1 : len(quoted)-1]), url.QueryEscape(secret), base64.RawStdEncoding.EncodeToString([]byte(secret)),
		hex.EncodeToString([]byte(secret)),
	}
	for _, padding := range []int{0, 100, 32<<10 - 60, 32<<10 - 10, 64<<10 - 20, 100 << 10} {
		for _, form := range forms {
			body := strings.Repeat("x", padding) + "X-Api-Key: " + form + "; status=fine" + strings.Repeat("y", min(padding, 33<<10))
			elsewhere := strings.ReplaceAll(body, form, "\x00")
			client := web.New(web.Config{Transport: tripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
			})})
			contains := func(want string) bool {
				t.Helper()
				text := must.Get(json.Marshal(want))(t)
				action := mustRead(t, client, "Http", fmt.Sprintf(
					`{"uri":"http://h/","method":"GET","headers":{"X-Api-Key":%s},"success":{"bodyContains":%s}}`, quoted, text,
				))
				return !action.Invoke(t.Context(), guarded()).Failed
			}
			step := 9
			if padding == 100 { // every position, with text before and behind it
				step = 1
			}
			for i := 0; i < len(form); i += step {
				for _, n := range []int{1, 3, 8, len(form)} {
					guess := form[i:min(len(form), i+n)]
					if strings.Contains(elsewhere, guess) {
						continue // it is somewhere else, too
					}
					if contains(guess) {
						t.Fatalf("%d bytes in, %q was found in %s", padding, guess, form)
					}
				}
				if contains("Key: "+form[:i+1]) || contains(form[i:]+"; status") {
					t.Fatalf("%d bytes in, what is beside it was found with %d bytes of %s", padding, i, form)
				}
			}
			for _, beside := range []string{"X-Api-Key: ", "; status=fine", "status"} {
				if !contains(beside) {
					t.Errorf("%d bytes in, beside %s: %q was not found", padding, form, beside)
				}
			}
		}
	}
}

// TestBodyContainsBesideSecrets moves the wanted text over the borders of what is searched at once.
func TestBodyContainsBesideSecrets(t *testing.T) {
	const request = `{"uri":"http://h/","method":"GET","headers":{"X-Api-Key":"pl4nted-s3cret"},"success":{"bodyContains":"needle"}}`
	for at := 0; at < 100<<10; at += 1021 {
		for name, part := range map[string]string{"found": "needle", "not found": "needl" + "pl4nted-s3cret"} {
			body := strings.Repeat("n", at) + part + strings.Repeat("e", 40<<10)
			client := web.New(web.Config{Transport: tripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(&shortReader{[]byte(body)})}, nil
			})})
			result := mustRead(t, client, "Http", request).Invoke(t.Context(), guarded())
			if result.Failed != (name == "not found") {
				t.Errorf("%s at %d: %.200s", name, at, result.Message)
			}
		}
	}
}
