package main

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// hangup sends SIGHUP to the command in the background of a number, from 0.
func hangup(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(ts.BackgroundCmds()[n].Process.Signal(syscall.SIGHUP))
}

// poll asks a URL until what it answers matches: poll PATTERN URL.
func poll(ts *testscript.TestScript, _ bool, args []string) {
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	eventually(ts, args[0], func() bool {
		resp, err := http.Get(args[1])
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return err == nil && pattern.Match(body)
	})
}
