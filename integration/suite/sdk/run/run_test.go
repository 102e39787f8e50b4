package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// suite is a client whose suite is a script for the shell.
func suite(script string) client {
	return client{name: "shell", prepare: func(context.Context, *runner) ([]string, error) {
		return []string{"/bin/sh", "-c", script}, nil
	}}
}

func TestRun(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh to run the suites of the test with")
	}
	const sent = `echo '{"version":"1","operation":"send","result":"pass","ms":2}';`
	tests := []struct {
		name     string
		client   client
		patience time.Duration
		want     []string // operation, result and, after a colon, a part of the error
	}{
		{"a suite that passes", suite(sent), time.Minute, []string{"send pass:"}},
		{
			"operations that fail or are not run",
			suite(`echo '{"operation":"send","result":"fail","error":"why"}'; echo '{"operation":"peek","result":"not run","error":"how"}'`),
			time.Minute,
			[]string{"send fail:why", "peek not run:how"},
		},
		{"a suite that breaks off", suite(sent + `echo "some error" >&2; exit 3`), time.Minute, []string{"send pass:", " fail:some error"}},
		{"a suite that hangs", suite(sent + "exec sleep 600"), time.Second, []string{"send pass:", ` fail:not done after 1s; it came to "send"`}},
		{
			"a suite that hangs in what it has started",
			suite(sent + "sleep 600; true"), time.Second,
			[]string{"send pass:", ` fail:not done after 1s; it came to "send"`},
		},
		{
			"a suite that leaves behind what it has started",
			suite(sent + "sleep 600 & exit 0"), time.Minute,
			[]string{"send pass:", " fail:WaitDelay"},
		},
		{"a suite without operations", suite("true"), time.Minute, []string{" fail:told of no operation"}},
		{"an operation that nobody knows", suite(`echo '{"operation":"sned","result":"pass"}'`), time.Minute, []string{` fail:"sned"`}},
		{"a result without a reason", suite(`echo '{"operation":"send","result":"fail"}'`), time.Minute, []string{" fail:without a reason"}},
		{"a line that is no result", suite("echo hello"), time.Minute, []string{" fail:no result"}},
		{"a client of another registry", elsewhere("x", "Maven Central"), time.Minute, []string{" not run:Maven Central"}},
		{"a module that does not build", golang("x", "nowhere", "go.mod"), time.Minute, []string{" fail:nowhere"}},
		{"a Python module that is not there", python("x", "x.py", "no_such_module", "no-such-package"), time.Minute, []string{" not run:no-such-package"}},
		{
			"the emulators are where the environment says",
			suite(`test -n "$SERVICEBUS_AMQP$SERVICEBUS_HTTP$STORAGE_CONNECTION_STRING" && test -s "$CA_FILE" && ` + sent),
			time.Minute,
			[]string{"send pass:"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			results := newRunner(t.TempDir(), t.TempDir(), test.patience).run(t.Context(), test.client)
			if len(results) != len(test.want) {
				t.Fatalf("got %+v, want %q", results, test.want)
			}
			for i, want := range test.want {
				what, why, _ := strings.Cut(want, ":")
				if got := results[i]; got.Operation+" "+got.Result != what || !strings.Contains(got.Error, why) || got.Client == "" {
					t.Errorf("got %+v, want %q", got, want)
				}
			}
		})
	}
}

// TestBuild shows that a client whose packages cannot be had is not run, and one that cannot be built has failed.
func TestBuild(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh to say it with")
	}
	for says, want := range map[string]string{
		`go: x@v1: Get "https://proxy/x": dial tcp 10.0.0.1:443: connect: network is unreachable`: notRun,

		"go: x@v1: module lookup disabled by GOPROXY=off":                  notRun,
		"go: x@v1: reading https://proxy/x.zip: 503 Service Unavailable":   notRun,
		`go: x@v1: Get "https://proxy/x": net/http: TLS handshake timeout`: notRun,

		"npm error code ENOTFOUND":  notRun,
		"npm error code ENOTCACHED": notRun,
		"npm error code ECONNRESET": notRun,

		"npm error code E403\nnpm error 403 403 Forbidden - GET https://registry/x": notRun,

		"npm error code EUSAGE\nnpm error package.json and package-lock.json are not in sync": fail,

		"./main.go:5:2: undefined: x": fail,
	} {
		if got := outcome(build(t.Context(), "/bin/sh", "-c", `echo "$0" >&2; exit 1`, says)); got != want {
			t.Errorf("%s: %s, want %s", says, got, want)
		}
	}
}

func TestComplaint(t *testing.T) {
	const npm = "npm error code ECONNREFUSED\nnpm error connect ECONNREFUSED 127.0.0.1:1\n" +
		"npm error A complete log of this run can be found in: /root/.npm/_logs/1.log\n"
	if got, want := complaint([]byte(npm)), "npm error connect ECONNREFUSED 127.0.0.1:1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTable(t *testing.T) {
	results := []result{
		{Client: "a", Version: "1.2", Operation: "send", Result: pass, MillisPerSend: 1.25},
		{Client: "a", Version: "1.2", Operation: "peek", Result: fail, Error: "why"},
		{Client: "b", Operation: "send", Result: notRun, Error: "no port"},
		{Client: "c", Result: notRun, Error: "no runtime"},
		{Client: "d", Operation: "put and get", Result: pass},
	}
	var out strings.Builder
	if printTable(&out, results) {
		t.Error("a failure was not reported")
	}
	lines := strings.Split(out.String(), "\n")
	for _, want := range []string{
		"  a  a (1.2)",
		"send                        ok   n/r",
		"peek                        FAIL .",
		"put and get                 ok",
		"    1.25  a: send",
		"FAIL a: peek: why",
		"NOT RUN b: send: no port",
		"NOT RUN c: no runtime",
		"2 passed, 1 failed, 2 not run",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
	if !printTable(&out, []result{{Client: "c", Result: notRun, Error: "no runtime"}}) {
		t.Error("what was not run is reported as a failure")
	}
}

func TestChosen(t *testing.T) {
	for words, want := range map[string]int{"": len(clients), "rhea": 1, "azure-storage": -1, "QPID rhea": 2, "nonesuch": 0, "rhea nonesuch": 0} {
		some, err := chosen(strings.Fields(words))
		if (err != nil) != (want == 0) || want >= 0 && len(some) != want {
			t.Errorf("%q: %d clients, %v", words, len(some), err)
		}
		if want < 0 && !slices.ContainsFunc(some, func(c client) bool { return c.name == words }) {
			t.Errorf("%q: a client of that very name is left out", words)
		}
	}
}
