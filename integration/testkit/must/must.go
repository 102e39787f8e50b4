// Package must ends a test at an error of its preparation, or if a condition that it waits for does not become true.
package must

import (
	"errors"
	"time"
)

// A Test is a [testing.TB], or one of package rapid.
type Test interface {
	Helper()
	Fatal(args ...any)
}

// Do ends the test with the errors that are not nil.
func Do(t Test, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Get returns the value of a call; its error ends the test: must.Get(os.ReadFile(name))(t).
func Get[T any](value T, err error) func(Test) T {
	return func(t Test) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// patience is the timeout of every wait.
const patience = time.Minute

// Await polls until ok reports true, for changes that announce themselves in no other way.
func Await(t Test, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain for " + what)
		}
	}
}
