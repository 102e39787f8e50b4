package v1_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/document"
)

func TestDescribeError(t *testing.T) {
	var many document.Problems
	for i := range 7 {
		many = append(many, document.Problem{Path: fmt.Sprintf("p%d", i), Message: "is wrong"})
	}
	tests := []struct {
		err     error
		status  int
		details int
		want    string
	}{
		{
			scheduler.Invalid("recurrence.interval", `0 is not in 1-1000; "zero"`), 400, 1,
			`{"error":{"code":"BadRequest","message":"recurrence.interval: 0 is not in 1-1000; \"zero\"","details":[{"path":"recurrence.interval","message":"0 is not in 1-1000; \"zero\""}]}}`,
		},
		{errors.Join(nil, scheduler.Invalid("a", "x"), fmt.Errorf("b: %w", scheduler.Invalid("b", "y"))), 400, 2, ""},
		{scheduler.AsInvalid(many), 400, 7, ""},
		{scheduler.AsInvalid(document.Problem{Message: "1:2: is empty"}), 400, 1, ""},
		{scheduler.AsInvalid(errors.New("plain")), 400, 0, `{"error":{"code":"BadRequest","message":"plain"}}`},
		{fmt.Errorf("job a/b: %w", scheduler.ErrNotFound), 404, 0, `{"error":{"code":"ResourceNotFound","message":"job a/b: not found"}}`},
		{fmt.Errorf("job a/b: %w: busy", scheduler.ErrConflict), 409, 0, `{"error":{"code":"Conflict","message":"job a/b: conflict: busy"}}`},
		{fmt.Errorf("%w: no answer", scheduler.ErrUnavailable), 503, 0, `{"error":{"code":"ServiceUnavailable","message":"unavailable: no answer"}}`},
		{
			&auth.Unknown{}, 401, 0,
			`{"error":{"code":"AuthenticationFailed","message":"this scheduler asks for a token, as Authorization: Bearer, and none was given"}}`,
		},
		{
			&auth.Denied{Right: auth.Operate, Collection: "a"}, 403, 0,
			`{"error":{"code":"AuthorizationFailed","message":"this needs the role operator on collection a; nobody known has no role"}}`,
		},
		{context.DeadlineExceeded, 503, 0, ""},
		{errors.New("secret"), 500, 0, `{"error":{"code":"InternalError","message":"a defect of the scheduler; its log says more"}}`},
	}
	for _, test := range tests {
		d := v1.DescribeError(test.err)
		if d.Status != test.status || len(d.Details) != test.details {
			t.Errorf("%v: got %+v, want status %d and %d details", test.err, d, test.status, test.details)
		}
		if got := string(v1.JSON(d.Document())); test.want != "" && got != test.want {
			t.Errorf("%v: got %s, want %s", test.err, got, test.want)
		}
	}
	if got, want := v1.DescribeError(scheduler.AsInvalid(many)).Message,
		"p0: is wrong; p1: is wrong; p2: is wrong; p3: is wrong; p4: is wrong; and 2 more"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDescribeErrorIsBounded shows that an error repeats little of what is wrong, whatever is wrong with it.
func TestDescribeErrorIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	var many document.Problems
	for range 1000 {
		many = append(many, document.Problem{Path: long, Message: long})
	}
	for _, err := range []error{
		scheduler.AsInvalid(many), scheduler.Invalid(long, long), scheduler.AsInvalid(errors.New(long)),
		fmt.Errorf("%s: %w", long, scheduler.ErrNotFound), fmt.Errorf("%s: %w", long, scheduler.ErrConflict), fmt.Errorf("%s: %w", long, scheduler.ErrUnavailable),
	} {
		if text := v1.JSON(v1.DescribeError(err).Document()); len(text) > 256<<10 {
			t.Errorf("%d bytes: %.100s", len(text), text)
		}
	}
}
