package conn

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

func TestResize(t *testing.T) {
	one, three := []held{{"A", 1}, {"B", 1}}, []held{{"A", 3}, {"B", 3}}
	tests := map[string]struct {
		have   []held
		want   int
		reduce bool
		change []held
		err    bool
	}{
		"nothing asked for":        {have: three},
		"as it is":                 {have: three, want: 3},
		"raised":                   {have: one, want: 3, change: one},
		"one was raised before":    {have: []held{{"A", 3}, {"B", 1}}, want: 3, change: one[1:]},
		"lower":                    {have: three, want: 1, err: true},
		"lower than one of them":   {have: []held{{"A", 1}, {"B", 3}}, want: 2, err: true},
		"lower, as asked for":      {have: three, want: 1, reduce: true, change: three},
		"raised, with leave given": {have: one, want: 3, reduce: true, change: one},
	}
	for name, test := range tests {
		change, err := resize(test.have, test.want, test.reduce)
		if !slices.Equal(change, test.change) || (err != nil) != test.err || test.err && !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("%s: got %v, %v", name, change, err)
		}
	}
}

func TestBlame(t *testing.T) {
	for name, test := range map[string]struct {
		api           jetstream.APIError
		setting, says string
	}{
		"alone":             {jetstream.APIError{Code: 500, ErrorCode: 10074}, "replicas", "one NATS server is alone"},
		"too few servers":   {jetstream.APIError{Code: 400, ErrorCode: 10005}, "replicas", ""},
		"a full disk":       {jetstream.APIError{Code: 500, ErrorCode: 10049, Description: "error creating store for stream"}, "nats-server", "its disk may be full"},
		"another failure":   {jetstream.APIError{Code: 500, ErrorCode: 10049, Description: "mkdir: no space left on device"}, "nats-server", "its disk may be full"},
		"no room":           {jetstream.APIError{Code: 503, ErrorCode: 10023}, "nats-server", "no room left"},
		"no room on disk":   {jetstream.APIError{Code: 500, ErrorCode: 10047}, "nats-server", "no room left"},
		"the account's end": {jetstream.APIError{Code: 400, ErrorCode: 10002}, "nats-server", "no room left"},
		"a refusal":         {jetstream.APIError{Code: 400, ErrorCode: 10052}, "nats-server", ""},
	} {
		setting, says := blame(&test.api), whyNot(&test.api)
		if setting != test.setting || !strings.Contains(says, test.says) || test.says == "" && says != "" {
			t.Errorf("%s: got %s, %q", name, setting, says)
		}
	}
}

func TestPassing(t *testing.T) {
	answer := func(code jetstream.ErrorCode) error {
		return &SettingError{Setting: "replicas", Message: "x", Cause: &jetstream.APIError{ErrorCode: code}}
	}
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"no answer":             {Translate(errors.New("timeout")), true},
		"no leader":             {answer(10008), true},
		"servers are missing":   {answer(10005), true},
		"just being created":    {answer(10059), true},
		"not a cluster":         {answer(10074), false},
		"another setting":       {&SettingError{Setting: "lanes"}, false},
		"forbidden":             {Translate(&SettingError{Setting: "permissions"}), false},
		"nothing":               {nil, false},
		"a defect of this side": {errors.New("x"), false},
	} {
		if got := IsTransient(test.err); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
