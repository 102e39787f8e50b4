package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

type healthCmd struct {
	Address string        `arg:"" name:"url" optional:"" help:"URL to check. The default path is /readyz." default:"http://127.0.0.1:8080" env:"CARILLON_SERVER"`
	Timeout time.Duration `help:"How long to wait for the response." default:"5s" placeholder:"DURATION"`
}

// maxHealth limits the size of a response, in bytes.
const maxHealth = 64 << 10

// Run sends one request.
func (c healthCmd) Run(ctx context.Context, t *terminal.Terminal) error {
	target, err := url.Parse(c.Address)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return terminal.Usagef("%q is not a URL such as http://127.0.0.1:8080", c.Address)
	}
	if target.Path == "" {
		target.Path = "/readyz"
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("no response within %s", c.Timeout))
	defer cancel()
	status, body, err := ask(ctx, target.String())
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s: %d: %s", target, status, reason(body))
	}
	var readiness struct {
		Status string `json:"status"`
		Reason string `json:"reason"`
	}
	answer, but := map[string]any{"ready": true, "url": target.String()}, ""
	if json.Unmarshal(body, &readiness) == nil && readiness.Status == "degraded" {
		answer["degraded"], but = readiness.Reason, ", but degraded: "+readiness.Reason
	}
	return terminal.PrintOne(t, answer, nil, func(map[string]any) { t.Printf("%s is ready%s\n", target, but) })
}

// ask sends a GET and returns the response.
func ask(ctx context.Context, target string) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return 0, nil, outer.Err // without the URL, which the caller adds
	}
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(io.LimitReader(answer.Body, maxHealth))
	return answer.StatusCode, body, err
}

// reason returns the message of an error response, or its whole text.
func reason(body []byte) string {
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) == nil && answer.Error.Message != "" {
		return answer.Error.Message
	}
	return string(body)
}
