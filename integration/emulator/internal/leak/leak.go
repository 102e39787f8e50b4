// Package leak finds goroutines that the tests of an emulator leave behind.
package leak

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Run runs the tests of a package and returns its exit code: a failure too when a goroutine of an emulator or a client
// is left then.
func Run(m *testing.M) int {
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}
