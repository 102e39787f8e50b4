// Package echo is a target for testing jobs: an HTTP handler that returns the request it received, with a chosen
// response.
//
//	/echo                     200
//	/echo/status/503          that status, to see a job fail and retry
//	/echo/delay/2s            200 after that time, to see a timeout; 503 immediately while 64 others wait
//	/echo/token               an OAuth2 access token for any client, to test authentication;
//	                          /echo/token/{tenant}/oauth2/token is the same in the form of Azure AD
//	/echo/anything/else       200
//
// The response is JSON: method, path, query, headers and body of the request. The response of /echo/token is a
// token response (RFC 6749, section 5).
package echo

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"
)

// Limits of requests.
const (
	maxBody  = 1 << 20 // bytes of a request that are shown
	maxDelay = time.Hour
	waiting  = 64 // delayed requests in progress: as many as a scheduler sends to one target by default
)

// Echo is the response.
type Echo struct {
	Method    string            `json:"method"`
	Path      string            `json:"path"`
	Query     string            `json:"query,omitempty"`
	Headers   map[string]string `json:"headers"` // the first value of each
	Body      string            `json:"body,omitempty"`
	BodyBytes []byte            `json:"bodyBytes,omitempty"` // base64, of a body that is not text
	Received  time.Time         `json:"received"`
}

// Handler returns the handler for the path /echo and all below it.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", ok)
	mux.HandleFunc("/echo/", ok)
	mux.HandleFunc("/echo/status/{code}", status)
	mux.HandleFunc("/echo/delay/{duration}", delays(make(chan struct{}, waiting)).answer)
	mux.HandleFunc("POST /echo/token", token)
	mux.HandleFunc("POST /echo/token/{tenant}/oauth2/token", token)
	return mux
}

func ok(w http.ResponseWriter, r *http.Request) {
	if e, ok := receive(w, r); ok {
		answer(w, http.StatusOK, e)
	}
}

func status(w http.ResponseWriter, r *http.Request) {
	code, err := strconv.Atoi(r.PathValue("code"))
	if err != nil || code < 200 || code > 599 {
		http.Error(w, "the path is /echo/status/{code} with a code from 200 to 599", http.StatusBadRequest)
		return
	}
	if e, ok := receive(w, r); ok {
		answer(w, code, e)
	}
}

// delays has a value for each caller whose answer is delayed: these hold connections of the server, for nothing.
type delays chan struct{}

func (all delays) answer(w http.ResponseWriter, r *http.Request) {
	d, err := time.ParseDuration(r.PathValue("duration"))
	if err != nil || d < 0 || d > maxDelay {
		http.Error(w, "the path is /echo/delay/{duration} with a duration such as 250ms or 2s", http.StatusBadRequest)
		return
	}
	e, ok := receive(w, r) // before the delay: net/http notices a caller that has gone only after the body
	if !ok {
		return
	}
	select {
	case all <- struct{}{}:
		defer func() { <-all }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, fmt.Sprintf("%d others wait for delayed answers already", waiting), http.StatusServiceUnavailable)
		return
	}
	select {
	case <-time.After(d):
		answer(w, http.StatusOK, e)
	case <-r.Context().Done():
	}
}

// receive reads the request.
func receive(w http.ResponseWriter, r *http.Request) (*Echo, bool) {
	received := time.Now().UTC()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil, false
	}
	e := &Echo{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Headers: map[string]string{}, Received: received}
	for name := range r.Header {
		e.Headers[name] = r.Header.Get(name)
	}
	if utf8.Valid(body) {
		e.Body = string(body)
	} else {
		e.BodyBytes = body
	}
	return e, true
}

// answer answers with a value as JSON.
func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if code == http.StatusNoContent || code == http.StatusNotModified {
		return // these have no body
	}
	_ = json.NewEncoder(w).Encode(v) //nolint:errchkjson // the times are now; a caller that has gone does not matter
}

// tokenLife is how long a token says it is good for.
const tokenLife = time.Hour

// tokenAnswer and tokenRefusal are the answers of RFC 6749, sections 5.1 and 5.2.
type tokenAnswer struct {
	AccessToken string `json:"access_token"`
	ExpiresIn   int    `json:"expires_in"` // seconds
	TokenType   string `json:"token_type"`
}

type tokenRefusal struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// token answers a request for an access token by client credentials. It takes
// any client and any secret.
func token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	grant := r.PostFormValue("grant_type")
	client, _, basic := r.BasicAuth()
	if !basic {
		client = r.PostFormValue("client_id")
	}
	w.Header().Set("Cache-Control", "no-store")
	if grant != "client_credentials" || client == "" {
		refusal := tokenRefusal{"invalid_request", "grant_type must be client_credentials, and client_id not empty"}
		answer(w, http.StatusBadRequest, refusal)
		return
	}
	answer(w, http.StatusOK, tokenAnswer{"echo-" + rand.Text(), int(tokenLife.Seconds()), "Bearer"})
}
