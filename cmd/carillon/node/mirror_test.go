package node_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/carillon-sched/carillon/integration/testkit/logtest"
)

// mirror is a target that repeats what it gets, credentials above all. Its paths
// are the status to answer with, /token for access tokens, and /refuse, which
// tells the caller his secret.
type mirror struct {
	seen                *logtest.Log
	bodies              *logtest.Log // of requests to /body, which no secret belongs into
	token, clientSecret string
}

// ServeHTTP answers.
func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	user, password, _ := r.BasicAuth()
	form, _ := url.ParseQuery(string(body))
	if strings.HasPrefix(r.URL.Path, "/token") { // where credentials are escaped (RFC 6749, section 2.3.1)
		password, _ = url.QueryUnescape(password)
	}
	text := fmt.Sprintf("%s:%s %s %v %v %s", user, password, r.Header.Get("Authorization"), r.Header, form, body)
	_, _ = io.WriteString(m.seen, text+"\n")
	if r.URL.Path == "/body" {
		_, _ = io.WriteString(m.bodies, string(body)+"\n")
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/token"):
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(marshaled(map[string]any{"access_token": m.token, "token_type": "Bearer", "expires_in": 3600}))
	case r.URL.Path == "/refuse":
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write(marshaled(map[string]string{"error": "invalid_client", "error_description": "your secret is " + m.clientSecret}))
	case r.URL.Path == "/500":
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, text)
	default:
		_, _ = io.WriteString(w, text)
	}
}
