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
	"time"

	"github.com/nats-io/nats.go"
)

// TestConsoleCopies has a shell carry out what the console's page of a job offers to copy: each puts the same job again, after
// it was deleted, whatever the job has in its texts. For the command nats stands a script that notes what it is given.
func TestConsoleCopies(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skipf("NOT RUN: the first copy is of curl (apt-get install curl): %v", err)
	}
	dir := t.TempDir()
	ports := copiedDev(t, dir)
	job := ports["http"] + "/jobCollections/default/jobs/hostile"
	texts := []string{
		"it's \"quoted\" `date` $(touch " + dir + "/owned) $HOME ${CARILLON_TOKEN} $${CARILLON_X} \\ !! ;|&<>*~", "CARILLON", "a\nCARILLON\nb", "{{.Count}} {{{",
		"שלום\u202e", " leads and ends ", "tab\there\r\n", "- a: b # c", "---", strings.Repeat("long ", 1000),
	}
	document, err := json.Marshal(map[string]any{
		"description": texts[0], "labels": map[string]string{"x": "it's"}, "startTime": "2090-01-01T00:00:00Z",
		"action": map[string]any{"type": "http", "request": map[string]any{
			"method": "POST", "uri": "http://127.0.0.1:1/'$(date)'", "body": strings.Join(texts, "\n"), "headers": map[string]string{"X-Text": texts[3]},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	answered(t, http.MethodPut, job, string(document))
	want := properties(t, job)
	page := answered(t, http.MethodGet, ports["http"]+"/console/jobs/default/hostile/copy", "")
	for _, id := range []string{"copy-curl", "copy-apply", "copy-nats"} {
		found := regexp.MustCompile(`(?s)<code id="` + id + `">(.*?)</code>`).FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("the page has no %s: %s", id, page)
		}
		answered(t, http.MethodDelete, job, "")
		shell(t, dir, html.UnescapeString(found[1]))
		if id == "copy-nats" {
			published(t, dir, ports["nats"])
			await(t, job)
		}
		if got := properties(t, job); got != want {
			t.Errorf("%s makes\n%s\nwant\n%s", id, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "owned")); err == nil {
		t.Error("a text of the job was carried out")
	}
}

// copiedDev runs `carillon dev`, and returns where it listens.
func copiedDev(t *testing.T, dir string) map[string]string {
	t.Helper()
	file := filepath.Join(dir, "ports.json")
	const free = "127.0.0.1:0"
	dev := exec.CommandContext(t.Context(), "carillon", "dev", "--http", free, "--nats", free, "--amqp", free, "--queue", free,
		"--data", filepath.Join(dir, "data"), "--ports-file", file)
	dev.Cancel = func() error { return dev.Process.Signal(os.Interrupt) }
	dev.WaitDelay = time.Minute
	var log bytes.Buffer
	dev.Stdout, dev.Stderr = &log, &log
	if err := dev.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = dev.Wait() }()
	t.Cleanup(func() { <-ended })
	ports := map[string]string{}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); <-tick.C {
		if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &ports) == nil {
			return ports
		}
	}
	t.Fatal("carillon dev does not start")
	return nil
}

// await waits for a job that was published.
func await(t *testing.T, url string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		res, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatal("the job does not come")
}

// shell has a shell carry out a command, as it is pasted.
func shell(t *testing.T, dir, command string) {
	t.Helper()
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	note := "#!/bin/sh\nprintf '%s\\n' \"$@\" > '" + dir + "/arguments'\ncat > '" + dir + "/message'\n"
	if err := os.WriteFile(filepath.Join(bin, "nats"), []byte(note), 0o755); err != nil {
		t.Fatal(err)
	}
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
	arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
	if err != nil {
		t.Fatal(err)
	}
	if string(arguments) != "pub\n--force-stdin\ncarillon.spec.put.default.hostile\n" {
		t.Fatalf("nats is called with %q", arguments)
	}
	message, err := os.ReadFile(filepath.Join(dir, "message"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(message, []byte("{{")) {
		t.Error("the message has what nats takes for a template")
	}
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.Publish("carillon.spec.put.default.hostile", message); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}

// properties are those of a job, without its status.
func properties(t *testing.T, url string) string {
	t.Helper()
	var job struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal([]byte(answered(t, http.MethodGet, url, "")), &job); err != nil {
		t.Fatal(err)
	}
	delete(job.Properties, "status")
	text, err := json.MarshalIndent(job.Properties, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answered asks the scheduler for something that it has.
func answered(t *testing.T, method, url, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
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
