package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// smallDiskEnv is set in the process that has a small disk.
const smallDiskEnv = "CARILLON_TEST_SMALL_DISK"

// onSmallDisk runs the test again in a process of its own, which may mount a file system of 64 MB, and there calls f with
// the directory of that.
func onSmallDisk(t *testing.T, f func(t *testing.T, dir string)) {
	t.Helper()
	if dir := os.Getenv(smallDiskEnv); dir != "" {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
			t.Skipf("no file system can be mounted here (%v): run the test as root, or where user namespaces may mount", err)
		}
		defer syscall.Unmount(dir, syscall.MNT_DETACH) //nolint:errcheck // it ends with the process
		f(t, dir)
		return
	}
	exe := must.Get(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), smallDiskEnv+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("no user namespace can be made here (%v): enable them (sysctl user.max_user_namespaces, "+
			"kernel.apparmor_restrict_unprivileged_userns=0), or run the test as root", err)
	}
	if bytes.Contains(out, []byte("--- SKIP")) {
		t.Skip(string(out))
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes ten seconds: run the tests without -short")
	}
}

// running is a `carillon dev` that is ready.
type running struct {
	*process

	listen.Ports
}

// devCommand is a `carillon dev` on free ports, in a shell that first does something else, such as setting a limit.
func devCommand(t *testing.T, before, data string, more ...string) *exec.Cmd {
	t.Helper()
	needShell(t)
	const free = "127.0.0.1:0"
	args := []string{"-c", before + ` && exec carillon dev "$@"`, "sh", "--data", data, "--http", free, "--nats", free, "--amqp", free, "--queue", free}
	return exec.Command("sh", append(args, more...)...)
}

// startDev starts it, and waits until it is ready.
func startDev(t *testing.T, before, data string) *running {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ports.json")
	r := &running{process: startCommand(t, devCommand(t, before, data, "--ports-file", file))}
	r.until(t, "the start", func() bool {
		data, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(data, &r.Ports) == nil
	})
	return r
}

// call makes a request and returns the status and the body.
func (r *running) call(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), method, r.HTTP+path, strings.NewReader(body)))(t)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(data)
}

// must makes a request that has to succeed, and returns the body.
func (r *running) must(t *testing.T, method, path, body string) string {
	t.Helper()
	status, answer := r.call(t, method, path, body)
	if status/100 != 2 {
		t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	return answer
}

// readyz returns what /readyz says.
func (r *running) readyz(t *testing.T) (status int, text string) {
	t.Helper()
	return r.call(t, http.MethodGet, "/readyz", "")
}

// executions is how often a job has run.
func (r *running) executions(t *testing.T, job string) int {
	t.Helper()
	var v struct {
		Properties struct {
			Status struct {
				ExecutionCount int `json:"executionCount"`
			} `json:"status"`
		} `json:"properties"`
	}
	_, text := r.call(t, http.MethodGet, "/jobCollections/default/jobs/"+job, "")
	_ = json.Unmarshal([]byte(text), &v) // none, if it is not there
	return v.Properties.Status.ExecutionCount
}

// fill writes a file until there is no room any more, and returns its path.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err = f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return f.Name()
}

// everySecond is a job whose records are large enough to need a new page of a disk each.
const everySecond = `{"action":{"type":"http","request":{"uri":"HTTP/echo","method":"POST","body":"BODY"}},
	"recurrence":{"frequency":"second","interval":1}}`

func (r *running) job() string {
	return strings.NewReplacer("HTTP", r.HTTP, "BODY", strings.Repeat("x", 4000)).Replace(everySecond)
}

// toQueue is a job that writes to the journal of an emulator.
const toQueue = `{"action":{"type":"storageQueue","queueMessage":{"storageAccount":"devstoreaccount1","queueName":"orders",
	"sasToken":"sv=2020-01-01&sig=abc","message":"BODY"},"retryPolicy":{"retryType":"fixed","retryInterval":"PT1S","retryCount":20}},
	"recurrence":{"frequency":"second","interval":1}}`

// TestDiskFull fills the disk under a scheduler and frees it again: it is told while it lasts, and when it is over, the
// jobs go on in the same process and nothing is lost.
func TestDiskFull(t *testing.T) {
	skipShort(t)
	onSmallDisk(t, func(t *testing.T, dir string) {
		r := startDev(t, "true", filepath.Join(dir, "data"))
		jobs := []string{"a", "b", "queue"}
		for _, name := range jobs[:2] {
			r.must(t, http.MethodPut, "/jobCollections/default/jobs/"+name, r.job())
		}
		r.must(t, http.MethodPut, "/jobCollections/default/jobs/queue", strings.Replace(toQueue, "BODY", strings.Repeat("x", 4000), 1))
		r.until(t, "a first run", func() bool { return r.executions(t, "a") > 0 && r.executions(t, "queue") > 0 })
		filler := fill(t, dir)
		r.until(t, "being not ready", func() bool {
			status, text := r.readyz(t)
			return status == http.StatusServiceUnavailable && strings.Contains(text, "CARILLON_HISTORY") &&
				strings.Contains(text, "no space left on device") && strings.Contains(text, "free some space")
		})
		if status, text := r.call(t, http.MethodGet, "/healthz", ""); status != http.StatusOK {
			t.Errorf("/healthz: %d %s", status, text)
		}
		r.until(t, "a refusal that says why", func() bool {
			status, text := r.call(t, http.MethodPut, "/jobCollections/default/jobs/later", r.job())
			return status == http.StatusServiceUnavailable && strings.Contains(text, "no space left on device")
		})
		before := map[string]int{}
		for _, name := range jobs {
			before[name] = r.executions(t, name)
		}
		must.Do(t, os.Remove(filler))
		r.until(t, "being ready again", func() bool { status, _ := r.readyz(t); return status == http.StatusOK })
		for _, name := range jobs {
			r.until(t, "a run of "+name, func() bool { return r.executions(t, name) > before[name]+1 })
		}
		r.until(t, "putting a job", func() bool {
			status, _ := r.call(t, http.MethodPut, "/jobCollections/default/jobs/later", r.job())
			return status/100 == 2
		})
		if report := r.must(t, http.MethodPost, "/doctor", ""); !strings.Contains(report, `"findings":[]`) {
			t.Errorf("doctor: %s", report)
		}
		r.must(t, http.MethodPost, "/jobCollections/default/disable", "") // changes of collections are heard of again, too
		r.until(t, "the jobs being postponed", func() bool {
			_, text := r.call(t, http.MethodGet, "/jobCollections/default/jobs/a/history?$top=1", "")
			return strings.Contains(text, `"status":"Postponed"`)
		})
		if code := r.end(t, syscall.SIGTERM); code != terminal.ExitOK {
			t.Errorf("exit code %d", code)
		}
		for _, want := range []string{"streams of the NATS server are read-only", "all streams of the NATS server accept writes again"} {
			if n := strings.Count(r.out.String(), want); n == 0 || n > 5 {
				t.Errorf("%d lines %q in\n%s", n, want, r.out.String())
			}
		}
	})
}

// TestSlowClientsWithFewFiles opens more connections than the process may have files, on each of its ports, and begins
// requests on them that never end: the jobs and others' requests do not notice.
func TestSlowClientsWithFewFiles(t *testing.T) {
	skipShort(t)
	r := startDev(t, "ulimit -n 256", t.TempDir())
	r.must(t, http.MethodPut, "/jobCollections/default/jobs/a", r.job())
	r.until(t, "a first run", func() bool { return r.executions(t, "a") > 0 })
	for addr, begin := range map[string]string{
		strings.TrimPrefix(r.HTTP, "http://"):  "PUT /jobCollections/default/jobs/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{",
		strings.TrimPrefix(r.Queue, "http://"): "PUT /devstoreaccount1/queue HTTP/1.1\r\nHost: x\r\nContent-Le",
		strings.TrimPrefix(r.NATS, "nats://"):  "CONN",
		r.AMQP:                                 "AMQ",
	} {
		for range 400 {
			conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", addr))(t)
			t.Cleanup(func() { conn.Close() })
			_, _ = io.WriteString(conn, begin) // its place may have been given away already
		}
	}
	before := r.executions(t, "a")
	if status, text := r.readyz(t); status != http.StatusOK {
		t.Errorf("/readyz: %d %s", status, text)
	}
	for range 10 {
		r.must(t, http.MethodPut, "/jobCollections/default/jobs/b", r.job())
	}
	r.until(t, "runs beside the slow clients", func() bool { return r.executions(t, "a") > before+1 })
	if code := r.end(t, syscall.SIGTERM); code != terminal.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

// TestStartsThatCannotBe starts on a disk that is full, on one that is read-only, and with too few files: each start says
// in one line what is wrong, and what to do.
func TestStartsThatCannotBe(t *testing.T) {
	onSmallDisk(t, func(t *testing.T, dir string) {
		data := filepath.Join(dir, "data")
		refused := func(name, before string, wants ...string) {
			t.Helper()
			p := startCommand(t, devCommand(t, before, data))
			code, said := p.wait(t, name), p.out.String()
			if code != terminal.ExitUnavailable || strings.Count(said, "\n") > 3 {
				t.Errorf("%s: exit code %d\n%s", name, code, said)
			}
			for _, want := range wants {
				if !strings.Contains(said, want) {
					t.Errorf("%s: no %q in\n%s", name, want, said)
				}
			}
		}
		filler := fill(t, dir)
		refused("full", "true", "error: data directory "+data+": no space left on device", "MB are free", "8 MB are needed", "hint: free some space")
		must.Do(t, os.Remove(filler))
		refused("few files", "ulimit -n 24", "too many open files", "hint: raise the limit of open files")
		startDev(t, "true", data).end(t, syscall.SIGTERM)
		must.Do(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		refused("read-only", "true", "error: data directory "+data+": read-only file system", "hint: make it writable")
	})
}
