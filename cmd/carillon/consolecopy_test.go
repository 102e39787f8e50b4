//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestConsoleCopies has a shell carry out what the console's page of a job offers to copy: each puts the same job again, after
// it was deleted, whatever the job has in its texts. For the command nats stands a script that notes what it is given.
func TestConsoleCopies(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skipf("NOT RUN: the first copy is of curl (apt-get install curl): %v", err)
	}
	dir := t.TempDir()
	dev := startProcess(t, strings.Fields(freeDev)...).ports(t)
	job := dev.HTTP + "/jobCollections/default/jobs/hostile"
	texts := []string{
		"it's \"quoted\" `date` $(touch " + dir + "/owned) $HOME ${CARILLON_TOKEN} $${CARILLON_X} \\ !! ;|&<>*~", "CARILLON", "a\nCARILLON\nb", "{{.Count}} {{{",
		"שלום\u202e", " leads and ends ", "tab\there\r\n", "- a: b # c", "---", strings.Repeat("long ", 1000),
	}
	document := must.Get(json.Marshal(map[string]any{
		"description": texts[0], "labels": map[string]string{"x": "it's"}, "startTime": "2090-01-01T00:00:00Z",
		"action": map[string]any{"type": "http", "request": map[string]any{
			"method": "POST", "uri": "http://127.0.0.1:1/'$(date)'", "body": strings.Join(texts, "\n"), "headers": map[string]string{"X-Text": texts[3]},
		}},
	}))(t)
	answered(t, http.MethodPut, job, string(document))
	want := properties(t, job)
	page := answered(t, http.MethodGet, dev.HTTP+"/console/jobs/default/hostile/copy", "")
	for _, id := range []string{"copy-curl", "copy-apply", "copy-nats"} {
		found := regexp.MustCompile(`(?s)<code id="` + id + `">(.*?)</code>`).FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("the page has no %s: %s", id, page)
		}
		answered(t, http.MethodDelete, job, "")
		shell(t, dir, html.UnescapeString(found[1]))
		if id == "copy-nats" {
			published(t, dir, dev.NATS)
			must.Await(t, "the published job", func() bool {
				res, err := http.Get(job)
				if err != nil {
					t.Fatal(err)
				}
				return res.Body.Close() == nil && res.StatusCode == http.StatusOK
			})
		}
		if got := properties(t, job); got != want {
			t.Errorf("%s makes\n%s\nwant\n%s", id, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "owned")); err == nil {
		t.Error("a text of the job was carried out")
	}
}

// shell has a shell carry out a command, as it is pasted.
func shell(t *testing.T, dir, command string) {
	t.Helper()
	bin := filepath.Join(dir, "bin")
	must.Do(t, os.MkdirAll(bin, 0o755))
	note := "#!/bin/sh\nprintf '%s\\n' \"$@\" > '" + dir + "/arguments'\ncat > '" + dir + "/message'\n"
	must.Do(t, os.WriteFile(filepath.Join(bin, "nats"), []byte(note), 0o755))
	sh := exec.CommandContext(t.Context(), "sh")
	sh.Stdin = strings.NewReader(command)
	sh.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CARILLON_TOKEN=none", "CARILLON_X=wrong")
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, command)
	}
}

// published publishes what the command nats was given.
func published(t *testing.T, dir, url string) {
	t.Helper()
	arguments := must.Get(os.ReadFile(filepath.Join(dir, "arguments")))(t)
	if string(arguments) != "pub\n--force-stdin\ncarillon.spec.put.default.hostile\n" {
		t.Fatalf("nats is called with %q", arguments)
	}
	message := must.Get(os.ReadFile(filepath.Join(dir, "message")))(t)
	if bytes.Contains(message, []byte("{{")) {
		t.Error("the message has what nats takes for a template")
	}
	nc := must.Get(nats.Connect(url))(t)
	defer nc.Close()
	must.Do(t, nc.Publish("carillon.spec.put.default.hostile", message))
	must.Do(t, nc.Flush())
}

// properties are those of a job, without its status.
func properties(t *testing.T, url string) string {
	t.Helper()
	var job struct {
		Properties map[string]any `json:"properties"`
	}
	must.Do(t, json.Unmarshal([]byte(answered(t, http.MethodGet, url, "")), &job))
	delete(job.Properties, "status")
	text := must.Get(json.MarshalIndent(job.Properties, "", " "))(t)
	return string(text)
}

// answered asks the scheduler for something that it has.
func answered(t *testing.T, method, url, body string) string {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %d %s (%v)", method, url, res.StatusCode, text, err)
	}
	return string(text)
}
