package embedded_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/store/embedded"
)

// holdEnv makes the test binary hold a directory until it is killed.
const holdEnv = "CARILLON_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		os.Exit(hold(dir))
	}
	ats.Register() // before any bubble
	os.Exit(m.Run())
}

func hold(dir string) int {
	if _, err := embedded.Start(context.Background(), embedded.Config{Dir: dir}); err != nil {
		println(err.Error())
		return 1
	}
	println("holding")
	select {}
}

func start(t *testing.T, cfg embedded.Config) *embedded.Server {
	t.Helper()
	s := must.Get(embedded.Start(t.Context(), cfg))(t)
	t.Cleanup(s.Close)
	return s
}

func connect(t *testing.T, s *embedded.Server) jetstream.JetStream {
	t.Helper()
	nc := must.Get(s.Connect())(t)
	t.Cleanup(nc.Close)
	return must.Get(jetstream.New(nc))(t)
}

func TestDataSurvivesRestart(t *testing.T) {
	for _, always := range []bool{false, true} {
		cfg := embedded.Config{Dir: filepath.Join(t.TempDir(), "deep", "down"), SyncAlways: always}
		s := start(t, cfg)
		kv := must.Get(connect(t, s).CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b"}))(t)
		must.Get(kv.PutString(t.Context(), "k", "v"))(t)
		s.Close()
		s.Close() // a second call is allowed

		kv = must.Get(connect(t, start(t, cfg)).KeyValue(t.Context(), "b"))(t)
		if e, err := kv.Get(t.Context(), "k"); err != nil || string(e.Value()) != "v" {
			t.Errorf("after the restart: %v, %v", e, err)
		}
	}
}

func TestListens(t *testing.T) {
	s := start(t, embedded.Config{Dir: t.TempDir(), Addr: "127.0.0.1:0"})
	nc, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatalf("%s: %v", s.URL(), err)
	}
	defer nc.Close()
	if nc.MaxPayload() != 4<<20 {
		t.Errorf("max payload: got %d", nc.MaxPayload())
	}
	if wide := start(t, embedded.Config{Dir: t.TempDir(), Addr: ":0"}); !strings.HasPrefix(wide.URL(), "nats://127.0.0.1:") {
		t.Errorf("on all addresses: got URL %s", wide.URL())
	}
	if silent := start(t, embedded.Config{Dir: t.TempDir()}); silent.URL() != "" {
		t.Errorf("without an address: got URL %s", silent.URL())
	}
}

func TestBadAddress(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	tests := []struct{ addr, want string }{
		{l.Addr().String(), "NATS address " + l.Addr().String() + ": bind: address already in use"},
		{"4222", "NATS address 4222: missing port in address"},
		{"127.0.0.1:nats", "NATS address 127.0.0.1:nats: port is not a number from 0 to 65535"},
		{"127.0.0.1:65536", "NATS address 127.0.0.1:65536: port is not a number from 0 to 65535"},
	}
	for _, test := range tests {
		dir := filepath.Join(t.TempDir(), "data")
		_, err := embedded.Start(t.Context(), embedded.Config{Dir: dir, Addr: test.addr})
		if _, ok := errors.AsType[*embedded.PortError](err); !ok || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.addr, err, test.want)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the directory was touched", test.addr)
		}
	}
}

func TestBadDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		_, err := embedded.Start(t.Context(), embedded.Config{Dir: dir})
		if _, ok := errors.AsType[*embedded.DirError](err); !ok || !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%s: got %v", dir, err)
		}
	}
	if os.Geteuid() == 0 {
		t.Log("not tested as root, who may write everywhere: a directory without write permission")
		return
	}
	dir := t.TempDir()
	must.Do(t, os.Chmod(dir, 0o500))
	_, err := embedded.Start(t.Context(), embedded.Config{Dir: dir})
	if _, ok := errors.AsType[*embedded.DirError](err); !ok || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

// TestLock: one process at a time uses a directory, and a crash releases it.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	exe := must.Get(os.Executable())(t)
	other := exec.CommandContext(t.Context(), exe)
	other.Env = append(os.Environ(), holdEnv+"="+dir)
	out := must.Get(other.StderrPipe())(t)
	must.Do(t, other.Start())
	said := make([]byte, 256)
	if n, _ := out.Read(said); !strings.HasPrefix(string(said[:n]), "holding") {
		t.Fatalf("the other process said %q", said[:n])
	}

	_, err := embedded.Start(t.Context(), embedded.Config{Dir: dir})
	if used, ok := errors.AsType[*embedded.InUseError](err); !ok || used.PID != other.Process.Pid || used.Dir != dir {
		t.Errorf("while process %d holds it: got %v", other.Process.Pid, err)
	}
	must.Do(t, other.Process.Kill())
	_ = other.Wait()
	s := start(t, embedded.Config{Dir: dir})
	if _, err := embedded.Start(t.Context(), embedded.Config{Dir: dir}); err == nil {
		t.Error("the same process could start a second server on the directory")
	}
	s.Close()
	start(t, embedded.Config{Dir: dir}).Close()
}

// TestBubble: a server without a listener runs on fake time.
func TestBubble(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := start(t, embedded.Config{Dir: t.TempDir()})
		js := connect(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		must.Get(js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Storage: jetstream.MemoryStorage}))(t)
	})
}

// TestRefusedForAMoment has a server refuse the login again and again, as it does between the expiry of credentials and their
// renewal. The connection continues when the server accepts it.
func TestRefusedForAMoment(t *testing.T) {
	serve := func(port int, password string) *server.Server {
		s := must.Get(server.NewServer(&server.Options{
			Host: "127.0.0.1", Port: port, Username: "me", Password: password, NoSigs: true, NoLog: true,
		}))(t)
		s.Start()
		must.Await(t, "the server", func() bool { return s.ReadyForConnections(time.Second) })
		return s
	}
	stop := func(s *server.Server) { s.Shutdown(); s.WaitForShutdown() }
	s := serve(-1, "right")
	port := must.Get(strconv.Atoi(must.Get(url.Parse(s.ClientURL()))(t).Port()))(t)
	var refused atomic.Int32
	nc := must.Get(nats.Connect(s.ClientURL(), append(embedded.ConnectOptions(), nats.UserInfo("me", "right"),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrAuthorization) {
				refused.Add(1)
			}
		}))...))(t)
	defer nc.Close()
	stop(s)
	s = serve(port, "other")
	must.Await(t, "three refusals", func() bool { return refused.Load() >= 3 || nc.IsClosed() })
	stop(s)
	s = serve(port, "right")
	defer stop(s)
	must.Await(t, "the connection", func() bool { return nc.IsConnected() || nc.IsClosed() })
	if nc.IsClosed() {
		t.Errorf("the connection is closed: %v", nc.LastError())
	}
}
