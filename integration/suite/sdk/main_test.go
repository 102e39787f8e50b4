package sdk

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no goroutine is left, of an emulator or a client. Against Azurite it does not: what the SDK keeps for the
// next request only ends with the server.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("skipped by -short: run go test ./integration/suite/sdk")
		return
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if *azurite != "" {
		os.Exit(code)
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
