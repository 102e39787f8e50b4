package view

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// Said is the message of a record in its parts: one of Azure Scheduler's, such as "Http Action - Response from host 'a':
// 'OK' Response Headers: A: b\r\n Body: …". What the target answered is the record's response, and no part of it here.
type Said struct {
	Text    string
	Headers []string // of the response
}

// SaidIn takes a message apart.
func SaidIn(message string) Said {
	_, rest, found := strings.Cut(message, scheduler.ResponseHeaders)
	s := Said{Text: scheduler.ReasonIn(message)}
	if !found {
		return s
	}
	headers, _, _ := strings.Cut(rest, " Body:")
	for h := range strings.Lines(headers) {
		if h = strings.TrimSpace(h); strings.Contains(h, ":") {
			s.Headers = append(s.Headers, h)
		}
	}
	return s
}

// answered is what there is of a message when a host has answered: the reason is what it says.
var answered = regexp.MustCompile(`^Response from host '[^']*': '(.*)'$`)

// Reason is the text without what a record tells besides: which host has answered.
func (s Said) Reason() string {
	if m := answered.FindStringSubmatch(s.Text); m != nil {
		return m[1]
	}
	return s.Text
}

// Answer is in one line what became of an attempt: the status, what it means, and the target's answer.
func Answer(r *scheduler.Record) string {
	text := SaidIn(r.Message).Reason()
	if status := strconv.Itoa(r.Status); r.Status != 0 && !strings.Contains(text, status) {
		text = status + " " + text
	}
	if response := strings.TrimSpace(r.Response); response != "" {
		text = strings.TrimSpace(text) + ": " + response
	}
	return strings.Join(strings.Fields(text), " ")
}
