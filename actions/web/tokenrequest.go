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
	"time"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/scheduler"
)

// maxTokenAnswer is how many bytes a token server's answer may have.
const maxTokenAnswer = 64 << 10

// tokenAnswer is what a token server says (RFC 6749, sections 5.1 and 5.2).
type tokenAnswer struct {
	AccessToken string      `json:"access_token"`
	TokenType   string      `json:"token_type"`
	ExpiresIn   json.Number `json:"expires_in"` // Entra ID's first endpoint gives a string, which decodes too
	Error       string      `json:"error"`
	Description string      `json:"error_description"`
}

// passingErrors are errors of a token server that a retry may overcome.
var passingErrors = []string{"temporarily_unavailable", "server_error", "slow_down"}

// requestToken asks for a token within ctx, which ends after timeout. header
// is what the client authenticates by; empty: by the secret in the body. The
// error is a [failure].
func (c *Client) requestToken(ctx context.Context, timeout time.Duration, r *tokenRequest, secret, header string) (token, error) {
	start := time.Now()
	f := &failure{what: "Token request to host '" + r.endpoint.Host + "'"}
	resp, err := c.sendTokenRequest(ctx, r, secret, header)
	if err != nil {
		if refused, ok := errors.AsType[*failure](err); ok {
			f.why, f.final = refused.why, refused.final
		} else {
			f.why, f.final = netreason.Explain(ctx, err, timeout, time.Since(start)), egress.IsRefused(err)
		}
		return token{}, f
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxTokenAnswer+1))
	switch {
	case err != nil:
		f.why = "the answer broke off: " + netreason.Explain(ctx, err, timeout, time.Since(start))
		return token{}, f
	case len(body) > maxTokenAnswer:
		f.why = fmt.Sprintf("the answer is longer than %d bytes", maxTokenAnswer)
		return token{}, f
	}
	var answer tokenAnswer
	err = json.Unmarshal(body, &answer)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		f.why = tokenRefusal(resp.StatusCode, answer)
		f.final = scheduler.FinalStatus(resp.StatusCode) && !slices.Contains(passingErrors, answer.Error)
		f.retryAfter = retryAfter(resp)
		return token{}, f
	}
	t, err := issued(answer, err)
	if err != nil {
		f.why = err.Error()
		return token{}, f
	}
	return t, nil
}

func (c *Client) sendTokenRequest(ctx context.Context, r *tokenRequest, secret, header string) (*http.Response, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	for i := 0; i < len(r.form); i += 2 {
		form.Set(r.form[i], r.form[i+1])
	}
	if header == "" {
		form.Set("client_id", r.clientID)
		form.Set("client_secret", secret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.endpoint.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{
		headerContentType: {"application/x-www-form-urlencoded"},
		"Accept":          {"application/json"},
		headerAgent:       c.agent,
	}
	if header != "" {
		req.Header[headerAuthorization] = []string{header}
	}
	return c.roundTrip(c.transport, req)
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
