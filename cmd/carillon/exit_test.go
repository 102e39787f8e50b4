package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// refusing is a scheduler that refuses everything, for the reason that the name of a job or secret says.
func refusing(t *testing.T) string {
	t.Helper()
	answers := []struct {
		word   string
		status int
		code   string
	}{
		{"bad", http.StatusBadRequest, "BadRequest"},
		{"gone", http.StatusNotFound, "ResourceNotFound"},
		{"busy", http.StatusConflict, "Conflict"},
		{"down", http.StatusServiceUnavailable, "ServiceUnavailable"},
		{"broken", http.StatusInternalServerError, "InternalError"},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, a := range answers {
			if strings.Contains(r.URL.Path, a.word) {
				w.WriteHeader(a.status)
				_, _ = w.Write([]byte(`{"error":{"code":"` + a.code + `","message":"it is ` + a.word + `"}}`))
				return
			}
		}
		_, _ = w.Write([]byte(`{"value":[],"nextLink":null,"name":"default/good","properties":{"state":"enabled"},"lacking":1,"findings":[{"job":"default/lost","problem":"no baton"}]}`))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestExitCodes is the rule of the page of the command line: what ends with which code, and what programs are told.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	const action = "action: {type: http, request: {method: GET, uri: 'http://127.0.0.1/'}}\n"
	good, bad, broken := write("good.yaml", action), write("bad.yaml", action), write("broken.json", `{"action": }`)
	busy, key, cron := write("busy.yaml", action), write("secret.key", "no key"), write("cron.yaml", "recurrence: {cron: 0 9 32 * *}\n"+action)
	none, file := filepath.Join(dir, "none"), write("file", "")
	empty := filepath.Join(dir, "empty")
	must.Do(t, os.Mkdir(empty, 0o700))
	tests := []struct {
		args string
		code int
		word string // of the error, for programs
	}{
		{"docs", terminal.ExitOK, ""},
		{"preview @daily --after 2026-01-01", terminal.ExitOK, ""},
		{"preview " + good, terminal.ExitOK, ""},
		{"apply " + good, terminal.ExitOK, ""},

		// Refused input, and failures.
		{"preview @dayly", terminal.ExitFailure, "Failure"},
		{"preview -f " + cron, terminal.ExitFailure, "Failure"},
		{"preview -f " + broken, terminal.ExitFailure, "Failure"},
		{"apply " + broken, terminal.ExitFailure, "Failure"},
		{"apply " + bad, terminal.ExitFailure, "BadRequest"},
		{"apply " + empty, terminal.ExitFailure, "Failure"},
		{"run broken", terminal.ExitFailure, "InternalError"},
		{"doctor", terminal.ExitFailure, "Failure"},
		{"account job --from 1h", terminal.ExitFailure, "Failure"},
		{"account job", terminal.ExitUsage, "Usage"},
		{"secrets set bad --value-file " + good, terminal.ExitFailure, "BadRequest"},
		{"secrets set door --value-file " + file, terminal.ExitOK, ""},
		{"serve --secret-key-file " + key, terminal.ExitFailure, "Failure"},
		{"serve --nats-ca " + key, terminal.ExitFailure, "Failure"},
		{"emulate --config " + broken, terminal.ExitFailure, "Failure"},
		{"emulate --cert " + key + " --key " + key, terminal.ExitFailure, "Failure"},

		// The command line: unknown words, malformed values, files that cannot be read.
		{"frobnicate", terminal.ExitUsage, "Usage"},
		{"get --colour", terminal.ExitUsage, "Usage"},
		{"get --state running", terminal.ExitUsage, "Usage"},
		{"get a.b", terminal.ExitUsage, "Usage"},
		{"get -c a.b", terminal.ExitUsage, "Usage"},
		{"run a.b", terminal.ExitUsage, "Usage"},
		{"run", terminal.ExitUsage, "Usage"},
		{"apply", terminal.ExitUsage, "Usage"},
		{"apply " + none, terminal.ExitUsage, "Usage"},
		{"apply -c a.b " + good, terminal.ExitUsage, "Usage"},
		{"history -n 0", terminal.ExitUsage, "Usage"},
		{"preview", terminal.ExitUsage, "Usage"},
		{"preview -f " + none, terminal.ExitUsage, "Usage"},
		{"preview 0 9 * * *", terminal.ExitUsage, "Usage"},
		{"preview @daily --tz Mars", terminal.ExitUsage, "Usage"},
		{"preview @daily --count 0", terminal.ExitUsage, "Usage"},
		{"secrets set door --value-file " + none, terminal.ExitUsage, "Usage"},
		{"secrets set do.or --value-file " + good, terminal.ExitUsage, "Usage"},
		{"secrets delete do.or", terminal.ExitUsage, "Usage"},
		{"secrets keygen --id .", terminal.ExitUsage, "Usage"},
		{"get --server localhost", terminal.ExitUsage, "Usage"},
		{"serve --prefix a..b", terminal.ExitUsage, "Usage"},
		{"serve --lanes 1000 --replicas 9", terminal.ExitUsage, "Usage"},
		{"serve --proxy ftp://x", terminal.ExitUsage, "Usage"},
		{"serve --storage tape", terminal.ExitUsage, "Usage"},
		{"serve --nats-url http://127.0.0.1", terminal.ExitUsage, "Usage"},
		{"serve --creds " + none, terminal.ExitUsage, "Usage"},
		{"serve --nats-ca " + none, terminal.ExitUsage, "Usage"},
		{"serve --nats-cert " + key, terminal.ExitUsage, "Usage"},
		{"serve --secret-key-file " + none, terminal.ExitUsage, "Usage"},
		{"dev --http 8080", terminal.ExitUsage, "Usage"},
		{"dev --sync sometimes", terminal.ExitUsage, "Usage"},
		{"emulate --config " + none, terminal.ExitUsage, "Usage"},
		{"emulate --cert " + none + " --key " + none, terminal.ExitUsage, "Usage"},
		{"emulate --keys loose", terminal.ExitUsage, "Usage"},
		{"collection create -f " + none, terminal.ExitUsage, "Usage"},
		{"context set x --server http://127.0.0.1:1 --token-file " + none, terminal.ExitUsage, "Usage"},
		{"validate " + none, terminal.ExitUsage, "Usage"},

		{"get gone", terminal.ExitNotFound, "ResourceNotFound"},
		{"get -c gone", terminal.ExitNotFound, "ResourceNotFound"},
		{"delete gone", terminal.ExitNotFound, "ResourceNotFound"},
		{"secrets delete gone", terminal.ExitNotFound, "ResourceNotFound"},
		{"docs weather", terminal.ExitNotFound, "ResourceNotFound"},

		{"run busy", terminal.ExitConflict, "Conflict"},
		{"apply " + busy, terminal.ExitConflict, "Conflict"},

		{"run down", terminal.ExitUnavailable, "ServiceUnavailable"},
		{"get --server http://127.0.0.1:1", terminal.ExitUnavailable, "ServiceUnavailable"},
		{"serve --http 127.0.0.1:0 --nats-wait 0s --nats-url 127.0.0.1:1", terminal.ExitUnavailable, "ServiceUnavailable"},
		{"dev --http 127.0.0.1:0 --nats 127.0.0.1:0 --data " + file, terminal.ExitUnavailable, "ServiceUnavailable"},
		{"emulate --ports-file " + none + "/ports.json --amqp 127.0.0.1:0 --http 127.0.0.1:0 --queue 127.0.0.1:0", terminal.ExitUnavailable, "ServiceUnavailable"},

		{"init x --every 5m -o " + none + "/x.yaml", terminal.ExitUnavailable, "ServiceUnavailable"},

		// Several: the code that they share, or that of a failure.
		{"run gone gone2", terminal.ExitNotFound, "ResourceNotFound"},
		{"run gone busy", terminal.ExitFailure, "Failure"},
		{"run gone fine", terminal.ExitNotFound, "ResourceNotFound"},
		{"run gone down", terminal.ExitUnavailable, "ServiceUnavailable"},
		{"run --wait gone busy", terminal.ExitFailure, "Failure"},
		{"run --wait gone", terminal.ExitNotFound, "ResourceNotFound"},
		{"apply " + none + " " + broken, terminal.ExitFailure, "Failure"},
		{"apply " + none + " " + good, terminal.ExitUsage, "Usage"},
		{"preview @dayly --count 0", terminal.ExitFailure, "Failure"},
	}
	server := refusing(t)
	for _, test := range tests {
		args := strings.Fields(test.args)
		if code, out := runOnce(server, args...); code != test.code || (code == 0) != !strings.Contains(out, "carillon: error: ") {
			t.Errorf("%s: exit code %d, want %d\n%s", test.args, code, test.code, out)
		}
		code, out := runOnce(server, append(args, "--json")...)
		if code != test.code {
			t.Errorf("%s --json: exit code %d, want %d\n%s", test.args, code, test.code, out)
		}
		if test.code == terminal.ExitOK {
			continue
		}
		var doc struct {
			Error struct {
				Code    string `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Error.Code != test.word || doc.Error.Message == "" {
			t.Errorf("%s --json: %v, want one object with the code %s\n%s", test.args, err, test.word, out)
		}
	}
}

// runOnce runs a command line and returns its exit code and what it says on stderr.
func runOnce(server string, args ...string) (code int, out string) {
	if slices.Contains([]string{"apply", "run", "get", "delete", "doctor", "secrets", "history", "collection", "account"}, args[0]) &&
		!slices.Contains(args, "--server") && !slices.Contains(args, "keygen") {
		args = append(args, "--server", server)
	}
	var stderr bytes.Buffer
	term := &terminal.Terminal{
		In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &stderr,
		Lookup: func(string) (string, bool) { return "", false },
	}
	return run(args, term), stderr.String()
}

// TestErrorsForPrograms shows what is in the JSON of an error.
func TestErrorsForPrograms(t *testing.T) {
	server := refusing(t)
	for args, want := range map[string]string{
		"run gone busy fine": `{"error":{"code":"Failure","message":"2 things went wrong","details":[` +
			`{"path":"default/gone","message":"it is gone"},{"path":"default/busy","message":"it is busy"}]}}`,
		"run gone":                 `{"error":{"code":"ResourceNotFound","message":"default/gone: it is gone","details":[{"path":"default/gone","message":"it is gone"}]}}`,
		"collection get x -o yaml": `{"error":{"code":"Usage","message":"--json and --output yaml exclude each other"}}`,
		"run --wait gone":          `{"error":{"code":"ResourceNotFound","message":"default/gone: it is gone","details":[{"path":"default/gone","message":"it is gone"}]}}`,
		"docs weather":             `"code":"ResourceNotFound","message":"there is no page \"weather\"","hint":"`,
		"apply none.yaml": `{"error":{"code":"Usage","message":"none.yaml: no such file or directory",` +
			`"hint":"fix the files and apply again; applied jobs stay unchanged",` +
			`"details":[{"path":"none.yaml","message":"no such file or directory"}]}}`,
		"preview 0~9~32~13~*": `"message":"2 things went wrong","details":[{"message":"column 5, field 3 (day of month): 32 is not in 1-31"},`,
		"preview @dayly":      `"hint":"did you mean @daily?"`,
		"serve --lanes 1000 --replicas 9": `"message":"--lanes: 1000 is not in 0-256; --replicas: 9 is not in 0-5",` +
			`"details":[{"message":"--lanes: 1000 is not in 0-256"},{"message":"--replicas: 9 is not in 0-5"}]`,
	} {
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "~", " ")
		}
		_, out := runOnce(server, append(words, "--json")...)
		if !strings.Contains(out, want) || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: got %swant %s", args, out, want)
		}
	}
}
