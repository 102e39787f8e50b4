package storagequeue_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/internal/leak"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// serveUntilKilled is the emulator of TestKill, in a process of its own. It returns only when it cannot start.
func serveUntilKilled(dir string) int {
	s, err := storagequeue.Start(context.Background(), storagequeue.Config{Addr: "127.0.0.1:0", Data: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(os.Stdout, s.ConnectionString())
	select {}
}

// TestKill kills an emulator that is in use, several times: everything that it answered is there afterwards.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	kept := map[string]bool{} // texts that were put and not deleted
	for round := range 3 {
		for text := range killed(t, dir, round) {
			kept[text] = true
		}
	}
	s := start(t, storagequeue.Config{Data: dir})
	q := client(t, s.ConnectionString(), nil).NewQueueClient("orders")
	properties := must.Get(q.GetProperties(t.Context(), nil))(t)
	found := map[string]int{}
	for {
		got := must.Get(q.DequeueMessage(t.Context(), nil))(t)
		if len(got.Messages) == 0 {
			break
		}
		found[*got.Messages[0].MessageText]++
	}
	for text := range kept {
		if found[text] != 1 {
			t.Errorf("%s is there %d times", text, found[text])
		}
	}
	// A request in flight when the process was killed may have been carried out: one for each user and round.
	if extra := len(found) - len(kept); extra > 3*users || int(*properties.ApproximateMessagesCount) != len(found) {
		t.Errorf("%d messages are there, %d were put; the queue says %d", len(found), len(kept), *properties.ApproximateMessagesCount)
	}
	t.Logf("%d messages survived", len(kept))
}

const users = 4

// killed runs an emulator, uses it and kills it after a while. It returns the texts that were answered.
func killed(t *testing.T, dir string, round int) map[string]bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-child", dir)
	out := must.Get(cmd.StdoutPipe())(t)
	cmd.Stderr = os.Stderr
	must.Do(t, cmd.Start())
	connection := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
	q := client(t, strings.TrimSpace(connection), nil).NewQueueClient("orders")
	must.Get(q.Create(t.Context(), nil))(t)
	var mu sync.Mutex
	put := map[string]bool{}
	var group sync.WaitGroup
	for user := range users {
		group.Go(func() {
			for i := 0; ; i++ {
				text := fmt.Sprintf("%d-%d-%d", round, user, i)
				answer, err := q.EnqueueMessage(t.Context(), text, nil)
				if err != nil {
					return // it was killed
				}
				mu.Lock()
				put[text] = true
				mu.Unlock()
				if i%3 != 0 {
					continue
				}
				mu.Lock()
				delete(put, text) // from now on it may be there or not
				mu.Unlock()
				if _, err := q.DeleteMessage(t.Context(), *answer.Messages[0].MessageID, *answer.Messages[0].PopReceipt, nil); err != nil {
					return
				}
			}
		})
	}
	timer := time.NewTimer(300 * time.Millisecond)
	defer timer.Stop()
	<-timer.C
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait() // it says that it was killed
	group.Wait()
	return put
}

// child makes the test binary an emulator that is to be killed.
var child = flag.String("child", "", "data folder of an emulator to run instead of the tests")

// TestMain checks that no test left a goroutine of an emulator behind.
func TestMain(m *testing.M) {
	flag.Parse()
	if *child != "" {
		os.Exit(serveUntilKilled(*child))
	}
	os.Exit(leak.Run(m))
}

func goroutines() []byte {
	var stacks bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
	return stacks.Bytes()
}
