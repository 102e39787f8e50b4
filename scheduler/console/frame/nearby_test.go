package frame_test

import (
	"net/http"
	"net/url"
	"testing"
)

// TestNearby asks for addresses as people write them: the root of all pages, and a page with a slash at its end. No other leads
// anywhere.
func TestNearby(t *testing.T) {
	f, _ := console()
	for _, test := range []struct{ method, path, to string }{
		{"GET", "/console/", "/"},
		{"GET", "/console/jobs/a/", "/console/jobs/a"},
		{"GET", "/console/jobs/a/?x=%2F%2Fb&y", "/console/jobs/a?x=%2F%2Fb&y"},
		{"GET", "/console/jobs/a%2F%2Fb/", ""},
		{"POST", "/console/jobs/a/", ""},
		{"GET", "/console/nothing/", ""},
		{"GET", "/console/nothing", ""},
		{"GET", "/elsewhere/", ""},
	} {
		w := ask(f, test.method, test.path, "", admin)
		if to := w.Header().Get("Location"); to != test.to || (w.Code == http.StatusSeeOther) != (test.to != "") {
			t.Errorf("%s %s: %d %q, want %q", test.method, test.path, w.Code, to, test.to)
		}
	}
}

// TestSignInLeadsNowhereElse gives a sign-in paths that are no pages to go on at.
func TestSignInLeadsNowhereElse(t *testing.T) {
	f, _ := console()
	for next, want := range map[string]string{
		"/console/jobs/a?q=1": "/console/jobs/a?q=1", "/console/sign-out": "/", "/console/sign-in?next=/console/sign-in": "/",
	} {
		form := url.Values{"token": {"admin-token"}, "next": {next}}.Encode()
		if w := ask(f, http.MethodPost, "/console/sign-in", form); w.Header().Get("Location") != want {
			t.Errorf("%s leads to %q, want %q", next, w.Header().Get("Location"), want)
		}
	}
}
