package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// pipe returns a buffering connection and its other side. A read of the other side returns the data of one write, if
// the buffer fits.
func pipe(t *testing.T) (gathering, other net.Conn) {
	t.Helper()
	a, b := net.Pipe()
	c := New(a)
	t.Cleanup(func() { _, _ = c.Close(), b.Close() })
	return c, b
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if n, err := c.Write([]byte(text)); err != nil || n != len(text) {
		t.Fatalf("%d of %d bytes written: %v", n, len(text), err)
	}
}

// TestWritesGoOutTogether: writers do not wait for a write in progress, and the data written in the meantime is sent
// together.
func TestWritesGoOutTogether(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, other := pipe(t)
		write(t, c, "first.")
		synctest.Wait() // the write is in progress: no reader
		var want strings.Builder
		for i := range 100 {
			text := fmt.Sprintf("%d.", i)
			write(t, c, text)
			want.WriteString(text)
		}
		b := make([]byte, 1<<10)
		for i, want := range []string{"first.", want.String()} {
			if n, err := other.Read(b); err != nil || string(b[:n]) != want {
				t.Fatalf("write %d: %q, %v, want %q", i, b[:n], err, want)
			}
		}
	})
}

// TestWritesKeepTheirOrder: each write of many goroutines stays contiguous, in the order of its goroutine.
func TestWritesKeepTheirOrder(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, other := pipe(t)
		const writers, each = 16, 2000
		read := make(chan []byte, 1)
		go func() {
			all, _ := io.ReadAll(other)
			read <- all
		}()
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					if _, err := fmt.Fprintf(c, "%d %d\n", w, i); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if err := c.Close(); err != nil { // which sends the rest
			t.Error(err)
		}
		next := map[int]int{}
		for line := range strings.Lines(string(<-read)) {
			var w, i int
			if _, err := fmt.Sscanf(line, "%d %d\n", &w, &i); err != nil || next[w] != i {
				t.Fatalf("%q came when %d of writer %d was next: %v", line, next[w], w, err)
			}
			next[w]++
		}
		for w := range writers {
			if next[w] != each {
				t.Errorf("%d of %d came from writer %d", next[w], each, w)
			}
		}
	})
}

// TestWritersWaitForRoom: the buffer is bounded, except for a single larger message.
func TestWritersWaitForRoom(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, other := pipe(t)
		write(t, c, "first")
		synctest.Wait()
		write(t, c, strings.Repeat("x", 2*most))
		done := make(chan struct{})
		go func() {
			defer close(done)
			write(t, c, "last")
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("more is taken while more than the bound waits")
		default:
		}
		b := make([]byte, len("first")+2*most+len("last"))
		if _, err := io.ReadFull(other, b); err != nil || !bytes.HasSuffix(b, []byte("xlast")) {
			t.Errorf("%q at the end, %v", b[len(b)-8:], err)
		}
		<-done
	})
}

// TestBrokenConnectionIsTold: the reader and all writers, including those that wait for room, get the error of a broken
// connection.
func TestBrokenConnectionIsTold(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, other := pipe(t)
		write(t, c, "first")
		synctest.Wait()
		write(t, c, strings.Repeat("x", most))
		waited := make(chan error, 1)
		go func() {
			_, err := c.Write([]byte("x"))
			waited <- err
		}()
		synctest.Wait()
		_ = other.Close()
		if err := <-waited; err == nil {
			t.Error("who waited for room is told nothing")
		}
		if _, err := c.Write([]byte("x")); err == nil {
			t.Error("who writes later is told nothing")
		}
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("the reader is told nothing")
		}
	})
}

// TestDeafConnectionEnds: how long a connection may accept no data.
func TestDeafConnectionEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, _ := pipe(t)
		began := time.Now()
		write(t, c, "first")
		if _, err := c.Read(make([]byte, 1)); err == nil || time.Since(began) != patience {
			t.Errorf("%v after %s, want an error after %s", err, time.Since(began), patience)
		}
	})
}

// TestSlowConnectionLasts has a peer that takes longer than patience for the whole buffer, and less for each chunk.
func TestSlowConnectionLasts(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, other := pipe(t)
		write(t, c, strings.Repeat("x", 3*chunk))
		for range 3 {
			time.Sleep(patience - time.Second)
			if _, err := io.ReadFull(other, make([]byte, chunk)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Write([]byte("x")); err != nil {
			t.Error(err)
		}
	})
}

// TestCloseSendsWhatWaits: data written before Close arrives, and Close does not wait long.
func TestCloseSendsWhatWaits(t *testing.T) {
	for name, reads := range map[string]bool{"to who reads": true, "to who does not": false} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				c, other := pipe(t)
				read := make(chan string, 1)
				if reads {
					go func() {
						all, _ := io.ReadAll(other)
						read <- string(all)
					}()
				}
				write(t, c, "first")
				write(t, c, "last")
				began := time.Now()
				_ = c.Close()
				if reads && <-read != "firstlast" {
					t.Error("not all that was written has come")
				}
				if took := time.Since(began); took > closing {
					t.Errorf("closing took %s, longer than %s", took, closing)
				}
				if _, err := c.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
					t.Errorf("written after the end: %v", err)
				}
			})
		})
	}
}

// TestDialer dials over TCP, and reports an address without a listener.
func TestDialer(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	d := Dialer{Timeout: 30 * time.Second}
	c := must.Get(d.Dial("tcp", l.Addr().String()))(t)
	other := must.Get(l.Accept())(t)
	write(t, c, "all")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if all, err := io.ReadAll(other); err != nil || string(all) != "all" {
		t.Errorf("%q came, %v", all, err)
	}
	_, _ = other.Close(), l.Close()
	if c, err := d.Dial("tcp", l.Addr().String()); err == nil {
		_ = c.Close()
		t.Error("connected to where nobody listens")
	}
}
