package scheduler

import (
	"errors"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/document"
)

func TestReveal(t *testing.T) {
	shared := func(name string) (string, error) {
		if name != "orders" {
			return "", errors.New("there is none of that name")
		}
		return "shared-text", nil
	}
	v := must.Get(document.Parse([]byte(`{"a": "literal-text", "b": {"secretRef": "orders"}, "c": {"secretRef": "other"}}`)))(t)
	r := document.NewReader()
	o := r.Object(v, "")
	for name, want := range map[string][2]string{
		"a": {"literal-text"}, "b": {"shared-text"}, "c": {"", `shared secret "other": there is none of that name`}, "absent": {},
	} {
		s, _ := o.Secret(name)
		got, err := Attempt{Shared: shared}.Reveal(s)
		if message := strings.TrimSpace(errorText(err)); got != want[0] || message != want[1] {
			t.Errorf("%s: got %q, %q, want %q", name, got, message, want)
		}
	}
	s, _ := o.Secret("b")
	if _, err := (Attempt{}).Reveal(s); err == nil {
		t.Error("a shared secret is revealed without a source")
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
