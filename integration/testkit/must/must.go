// Package must ends a test at an error of its preparation.
package must

import "errors"

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
