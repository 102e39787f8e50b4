//go:build linux

package chaos

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// diskSize is that of the small disk of a node, in mount's words.
const diskSize = "size=512m"

// needsMounts says why no small disk can be made.
func needsMounts(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
		return "a disk of its own for a node needs the right to mount one: " + string(out)
	}
	if err := syscall.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
	return ""
}

// smallDisk gives the first node a disk of its own.
func smallDisk(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", diskSize, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return []string{dir}
}

// fill leaves nothing of the first node's disk, and gives it back after a while.
func fill(ctx context.Context, c *cluster) {
	c.t.Helper()
	path := filepath.Join(c.nodes[0].dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		c.t.Fatal(err)
	}
	block := make([]byte, 4<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		c.t.Fatal(err)
	}
	_ = f.Close()
	pause(ctx, full)
	if err := os.Remove(path); err != nil {
		c.t.Fatal(err)
	}
	c.kill(0) // a server that has found its disk full stays without JetStream until it is restarted
	c.trio.start(ctx, 0)
}
