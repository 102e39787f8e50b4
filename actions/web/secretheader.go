package web

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// revealTo sets the headers that are secrets.
func (a *action) revealTo(h http.Header, at scheduler.Attempt) error {
	for _, s := range a.secrets {
		text, err := s.Reveal(at)
		if err != nil {
			return unready(err)
		}
		hideParts(at, s.Name, text)
		h[s.Name] = []string{text}
	}
	return nil
}

// hideParts hides what of a header's value is a secret by itself: a target may
// show that without the rest.
func hideParts(at scheduler.Attempt, name, text string) {
	switch name {
	case headerAuthorization, "Proxy-Authorization":
		scheme, credentials, _ := strings.Cut(text, " ")
		at.Hide(credentials)
		if pair, err := base64.StdEncoding.DecodeString(credentials); err == nil && strings.EqualFold(scheme, "Basic") {
			_, password, _ := strings.Cut(string(pair), ":")
			at.Hide(password)
		}
	case headerCookie:
		for pair := range strings.SplitSeq(text, ";") {
			_, value, _ := strings.Cut(pair, "=")
			at.Hide(strings.TrimSpace(value))
		}
	}
}
