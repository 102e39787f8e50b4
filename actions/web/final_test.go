package web_test

import (
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/bubble"
)

// TestFinal checks which answers say that a retry cannot help.
func TestFinal(t *testing.T) {
	for name, test := range map[string]struct {
		status        int
		success       string
		failed, final bool
	}{
		"success":              {200, `{}`, false, false},
		"moved":                {301, `{}`, true, false},
		"bad request":          {400, `{}`, true, true},
		"unauthorized":         {401, `{}`, true, true},
		"not found":            {404, `{}`, true, true},
		"timeout":              {408, `{}`, true, false},
		"gone":                 {410, `{}`, true, true},
		"too large":            {413, `{}`, true, true},
		"too early":            {425, `{}`, true, false},
		"too many":             {429, `{}`, true, false},
		"server error":         {500, `{}`, true, false},
		"unavailable":          {503, `{}`, true, false},
		"beyond all":           {999, `{}`, true, false},
		"own success":          {404, `{"status":["404"]}`, false, false},
		"own success, no text": {404, `{"status":["404"],"bodyContains":"x"}`, true, false},
		"own failure":          {200, `{"status":["201"]}`, true, false},
		"own failure, 4xx":     {404, `{"status":["201"]}`, true, true},
		"no text":              {200, `{"bodyContains":"x"}`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			result := invoke(t, answer(test.status, nil, ""), success(test.success))
			if result.Failed != test.failed || result.Final != test.final {
				t.Errorf("got %+v", result)
			}
		})
	}
}

// TestNotFinal has failures that may pass.
func TestNotFinal(t *testing.T) {
	for name, err := range map[string]error{
		"name":  &net.DNSError{IsNotFound: true},
		"other": errors.New("other"),
	} {
		client := web.New(web.Config{Transport: tripper(func(*http.Request) (*http.Response, error) { return nil, err })})
		if result := invoke(t, client, uri("http://h/")); !result.Failed || result.Final {
			t.Errorf("%s: got %+v", name, result)
		}
	}
}

// TestRetryAfter runs on fake time, which begins on 1 January 2000.
func TestRetryAfter(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		header string
		want   time.Duration
	}{
		"seconds":     {429, "120", 2 * time.Minute},
		"unavailable": {503, "1", time.Second},
		"zero":        {503, "0", 0},
		"date":        {503, "Sat, 01 Jan 2000 01:00:00 GMT", time.Hour},
		"old date":    {503, "Saturday, 01-Jan-00 01:00:00 GMT", time.Hour},
		"past":        {429, "Fri, 31 Dec 1999 23:59:59 GMT", 0},
		"far":         {429, "Sun, 02 Jan 2000 00:00:01 GMT", 24 * time.Hour},
		"long":        {429, "86401", 24 * time.Hour},
		"too long":    {429, "99999999999999999999999", 24 * time.Hour},
		"negative":    {429, "-1", 0},
		"fraction":    {429, "1.5", 0},
		"garbage":     {429, "soon", 0},
		"none":        {429, "", 0},
		"other":       {500, "120", 0},
		"success":     {200, "120", 0},
		"moved":       {301, "120", 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				header := http.Header{}
				if test.header != "" {
					header.Set("Retry-After", test.header)
				}
				if got := invoke(t, answer(test.status, header, ""), uri("http://h/")).RetryAfter; got != test.want {
					t.Errorf("got %v, want %v", got, test.want)
				}
			})
		})
	}
}

// TestRetryAfterOfSuccess has a job that takes a refusal for a success.
func TestRetryAfterOfSuccess(t *testing.T) {
	header := http.Header{"Retry-After": {"120"}}
	if result := invoke(t, answer(429, header, ""), success(`{"status":["429"]}`)); result.Failed || result.RetryAfter != 0 {
		t.Errorf("got %+v", result)
	}
}
