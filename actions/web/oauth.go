package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/lru"
	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// loginEndpoint is the default of [Config] LoginEndpoint.
var loginEndpoint = &url.URL{Scheme: "https", Host: "login.microsoftonline.com"}

// oauth authenticates with a bearer token of the client credentials grant (RFC 6749, section 4.4).
type oauth struct {
	client   *Client
	endpoint *url.URL
	clientID string
	secret   document.Secret
	inHeader bool     // the client authenticates by a header, not in the body
	form     []string // names and values of further parameters
}

// readDirectory reads what Azure Scheduler calls ActiveDirectoryOAuth: Entra
// ID's first token endpoint, which takes a resource and not a scope.
func readDirectory(c *Client, o *document.Object) authentication {
	a := &oauth{client: c}
	tenant := needed(o, "tenant")
	if tenant != "" && (strings.Trim(tenant, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") != "" ||
		strings.Trim(tenant, ".") == "") {
		o.Problem("tenant", "is not an id or a domain name")
	}
	a.endpoint = c.login.JoinPath(tenant, "oauth2", "token")
	audience := needed(o, "audience")
	a.form = []string{"resource", audience}
	a.readClient(o)
	return a
}

// readOAuth2 reads the general form, for any token server.
func readOAuth2(c *Client, o *document.Object) authentication {
	a := &oauth{client: c}
	if text, ok := o.String("tokenUrl"); ok {
		u, err := parseURI(text, false)
		if err != nil {
			o.Problem("tokenUrl", "%v", err)
		}
		a.endpoint = u
	}
	for _, name := range []string{"scope", "audience"} {
		if text, ok := o.String(name); ok && text != "" {
			a.form = append(a.form, name, text)
		}
	}
	style, ok := o.Enum("authStyle", "header", "body")
	a.inHeader = !ok || style == "header"
	a.readClient(o)
	o.Require("tokenUrl")
	return a
}

func (a *oauth) readClient(o *document.Object) {
	a.clientID = needed(o, "clientId")
	a.secret, _ = o.Secret("secret")
	o.Require("secret")
}

// needed reads a string that must be there and not be empty.
func needed(o *document.Object, name string) string {
	text, ok := o.String(name)
	if ok && text == "" {
		o.Problem(name, "must not be empty")
	}
	o.Require(name)
	return text
}

func (a *oauth) authenticate(ctx context.Context, at scheduler.Attempt, stale string) (credential, error) {
	secret, err := at.Reveal(a.secret)
	if err != nil {
		return credential{}, unready(err)
	}
	var header string
	if a.inHeader { // both are encoded like a form first (RFC 6749, section 2.3.1)
		header = basicHeader(at, url.QueryEscape(a.clientID), url.QueryEscape(secret))
	}
	entry, _ := a.client.tokens.Get(a.key(secret), func() (*tokenEntry, error) { return new(tokenEntry), nil })
	token, err := entry.get(ctx, stale, func() (token, error) { return a.requestToken(ctx, at.Timeout, secret, header) })
	if err != nil {
		return credential{}, err
	}
	at.Hide(token)
	return credential{authorization: "Bearer " + token, token: token}, nil
}

// key finds the token in the cache: jobs that ask for the same with the same
// secret share it.
func (a *oauth) key(secret string) lru.Key {
	style := "body"
	if a.inHeader {
		style = "header"
	}
	return lru.Digest(append([]string{a.endpoint.String(), a.clientID, secret, style}, a.form...)...)
}

// The life of a token in the cache.
const (
	defaultTokenLife = 5 * time.Minute  // of a token without expires_in
	maxTokenLife     = 24 * time.Hour   // of any
	maxTokenMargin   = 60 * time.Second // maximum lead for renewing a token; a tenth of its lifetime for short ones
	maxTokens        = 4096
)

// token is a token that a token server issued.
type token struct {
	text string
	life time.Duration
}

// tokenEntry is a token in the cache. At most one request for an entry is active; attempts that need the token wait for it.
type tokenEntry struct {
	mu     sync.Mutex
	text   string
	renew  time.Time // when it is requested again
	flight *flight   // the active request; nil: none
}

// flight is a request of a token. Its other fields are set when done is closed.
type flight struct {
	done      chan struct{}
	text      string
	err       error
	abandoned bool // no evidence about the token server: the requesting attempt has ended
}

// get returns a token other than stale: the cached one, or the result of fetch. All callers that wait for one
// request share its error, which is a [failure], or ctx's.
func (e *tokenEntry) get(ctx context.Context, stale string, fetch func() (token, error)) (string, error) {
	for {
		e.mu.Lock()
		text, f := e.text, e.flight
		fresh := text != "" && text != stale && time.Now().Before(e.renew)
		mine := !fresh && f == nil
		if mine {
			f = &flight{done: make(chan struct{}), abandoned: true}
			e.flight = f
		}
		e.mu.Unlock()
		if fresh {
			return text, nil
		}
		if mine {
			e.fly(ctx, f, fetch)
			return f.text, f.err
		}
		select {
		case <-f.done:
			if !f.abandoned {
				return f.text, f.err
			}
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// fly requests a token and caches it.
func (e *tokenEntry) fly(ctx context.Context, f *flight, fetch func() (token, error)) {
	var life time.Duration
	defer func() { // also when fetch panics
		e.mu.Lock()
		defer e.mu.Unlock()
		if f.text != "" {
			e.text, e.renew = f.text, time.Now().Add(life-min(life/10, maxTokenMargin))
		}
		e.flight = nil
		close(f.done)
	}()
	t, err := fetch()
	f.text, f.err = t.text, err
	f.abandoned = err != nil && ctx.Err() != nil
	life = min(t.life, maxTokenLife)
}

// maxTokenAnswer limits the bytes of a token server's response.
const maxTokenAnswer = 64 << 10

// tokenAnswer is the response of a token server (RFC 6749, sections 5.1 and 5.2).
type tokenAnswer struct {
	AccessToken string      `json:"access_token"`
	TokenType   string      `json:"token_type"`
	ExpiresIn   json.Number `json:"expires_in"` // Entra ID's first endpoint gives a string, which decodes too
	Error       string      `json:"error"`
	Description string      `json:"error_description"`
}

// passingErrors are errors of a token server that a retry may overcome.
var passingErrors = []string{"temporarily_unavailable", "server_error", "slow_down"}

// requestToken requests a token within ctx, which ends after timeout. header authenticates the client; if it is
// empty, the secret is in the body. The error is a [failure].
func (a *oauth) requestToken(ctx context.Context, timeout time.Duration, secret, header string) (token, error) {
	start := time.Now()
	f := &failure{what: "Token request to host '" + a.endpoint.Host + "'"}
	resp, err := a.sendTokenRequest(ctx, secret, header)
	if err != nil {
		if refused, ok := errors.AsType[*failure](err); ok {
			f.Failure = refused.Failure
		} else {
			f.Failure = *actions.Unanswered(err, netreason.Explain(ctx, err, timeout, time.Since(start)))
		}
		return token{}, f
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxTokenAnswer+1))
	switch {
	case err != nil:
		f.Reason = "the answer broke off: " + netreason.Explain(ctx, err, timeout, time.Since(start))
		return token{}, f
	case len(body) > maxTokenAnswer:
		f.Reason = fmt.Sprintf("the answer is longer than %d bytes", maxTokenAnswer)
		return token{}, f
	}
	var answer tokenAnswer
	err = json.Unmarshal(body, &answer)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		f.Reason = tokenRefusal(resp.StatusCode, answer)
		f.Final = scheduler.FinalStatus(resp.StatusCode) && !slices.Contains(passingErrors, answer.Error)
		f.RetryAfter = retryAfter(resp)
		return token{}, f
	}
	t, err := issued(answer, err)
	if err != nil {
		f.Reason = err.Error()
		return token{}, f
	}
	return t, nil
}

func (a *oauth) sendTokenRequest(ctx context.Context, secret, header string) (*http.Response, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	for i := 0; i < len(a.form); i += 2 {
		form.Set(a.form[i], a.form[i+1])
	}
	if header == "" {
		form.Set("client_id", a.clientID)
		form.Set("client_secret", secret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.endpoint.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{
		headerContentType: {"application/x-www-form-urlencoded"},
		"Accept":          {"application/json"},
		headerAgent:       a.client.agent,
	}
	if header != "" {
		req.Header[headerAuthorization] = []string{header}
	}
	return a.client.roundTrip(a.client.transport, req)
}

// tokenRefusal says why a token server issued no token.
func tokenRefusal(status int, answer tokenAnswer) string {
	text := strconv.Itoa(status) + " " + http.StatusText(status)
	switch {
	case answer.Error != "":
		text += ": " + answer.Error
	case status >= 300 && status <= 399:
		text += ": redirects are not followed"
	}
	if line, _, _ := strings.Cut(answer.Description, "\n"); line != "" {
		text += " (" + strings.TrimSpace(line) + ")"
	}
	return netreason.Line(text, 2*netreason.Max)
}

// issued returns the token of an answer; parsing is how reading it went.
func issued(answer tokenAnswer, parsing error) (token, error) {
	switch {
	case parsing != nil:
		return token{}, errors.New("the answer is not a token in JSON")
	case answer.AccessToken == "" && answer.Error != "":
		return token{}, fmt.Errorf("the answer has no access_token but an error: %s", netreason.Line(answer.Error, netreason.Max))
	case answer.AccessToken == "":
		return token{}, errors.New("the answer has no access_token")
	case strings.ContainsFunc(answer.AccessToken, func(c rune) bool { return c <= ' ' || c >= 0x7f }):
		return token{}, errors.New("the access_token has characters that no header can carry")
	case answer.TokenType != "" && !strings.EqualFold(answer.TokenType, "Bearer"):
		return token{}, fmt.Errorf("the token is of type %q, only Bearer is known", netreason.Cut(answer.TokenType, netreason.Max))
	}
	life := defaultTokenLife
	if s, err := answer.ExpiresIn.Float64(); err == nil {
		life = time.Duration(min(max(0, s), maxTokenLife.Seconds()) * float64(time.Second))
	}
	return token{answer.AccessToken, life}, nil
}
