package web

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// secretHeader is a header whose value is written and never shown.
type secretHeader struct {
	name  string // canonical
	value document.Secret
}

// addSecret adds a header whose value is a secret, and returns how many
// characters it has, as far as that is known. given is the name as the job
// writes it.
func (r *request) addSecret(ho *document.Object, given, name string) (int, error) {
	s, ok := ho.Secret(given)
	if !ok {
		return 0, nil // which was reported
	}
	r.secrets = append(r.secrets, secretHeader{name, s})
	text, _ := s.Literal()
	if !isFieldValue(text) {
		return 0, errNoFieldValue
	}
	return utf8.RuneCountInString(text), nil
}

// revealTo sets the headers that are secrets.
func (a *action) revealTo(h http.Header, at scheduler.Attempt) error {
	for _, s := range a.secrets {
		text, err := at.Reveal(s.value)
		if err != nil {
			return unready(err)
		}
		if !isFieldValue(text) {
			return unready(fmt.Errorf("the secret for header %s has line breaks or control characters", s.name))
		}
		hideParts(at, s.name, text)
		h[s.name] = []string{text}
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
