package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/backup"
)

// backupFiring is how many jobs fire every ten seconds while backups are taken and restored.
const backupFiring = 100

// backUp takes a backup of many jobs while others fire, restores it to another prefix with other lanes, and compares a backup
// of that with the first.
func backUp(ctx context.Context, b *bench) ([]part, error) {
	st, err := b.newStage(ctx)
	if err != nil {
		return nil, err
	}
	defer st.close()
	fs, err := st.withSystem(ctx, func(sys *system) (figures, error) {
		c := b.distant()
		c.members = searched
		took, err := sys.putAll(ctx, st.progress, c, st.sink.url)
		if err != nil {
			return nil, err
		}
		fs := figures{{"register_s", took.Seconds()}}
		firing := calendar{
			collection: "default", prefix: "firing-", jobs: backupFiring, grain: time.Millisecond,
			first: time.Now().UTC().Truncate(time.Second), step: 10 * time.Second / backupFiring, interval: 10 * time.Second,
		}
		if _, err := sys.putAll(ctx, st.progress, firing, st.sink.url); err != nil {
			return nil, err
		}
		more, err := st.backUp(ctx)
		return append(fs, more...), err
	})
	return []part{{orderCarillon, fs}}, err
}

// backUp takes and restores the backups, by the program.
func (s *stage) backUp(ctx context.Context) (fs figures, err error) {
	first, again := filepath.Join(s.dir, "first.backup"), filepath.Join(s.dir, "again.backup")
	for _, step := range []struct {
		figure string
		args   []string
	}{
		{"backup", []string{"backup", first}},
		{"restore", []string{"restore", first, "--prefix", "again", "--lanes", "4"}},
		{"", []string{"backup", again, "--prefix", "again"}},
	} {
		s.progress.sayf("carillon %s", step.args[0])
		began := time.Now()
		ended, err := s.tool(ctx, append(step.args, "--nats-url", s.engine.url)...)
		if err != nil {
			return nil, err
		}
		if step.figure != "" {
			fs = append(fs, figure{step.figure + "_s", time.Since(began).Seconds()},
				figure{step.figure + "_cpu_s", (ended.UserTime() + ended.SystemTime()).Seconds()},
				figure{step.figure + "_rss_peak_mb", float64(peakOf(ended)) / 1e6})
		}
	}
	size, err := os.Stat(first)
	if err != nil {
		return nil, err
	}
	different, err := compareBackups(first, again)
	return append(fs, figure{"backup_mb", float64(size.Size()) / 1e6}, figure{"different", float64(different)}), err
}

// tool runs the program to its end.
func (s *stage) tool(ctx context.Context, args ...string) (*os.ProcessState, error) {
	cmd := exec.CommandContext(ctx, s.files.carillon, args...) //nolint:gosec // the program is this source's, or was named
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("carillon %s: %w\n%s", args[0], err, out)
	}
	return cmd.ProcessState, nil
}

// compareBackups counts the jobs of two backups that are not the same in both: their definitions and batons, but for the
// revisions that these name. What fires goes on where it is of, and is not compared.
func compareBackups(first, again string) (different int, err error) {
	sums := map[string][sha256.Size]byte{}
	err = eachJob(first, func(name string, sum [sha256.Size]byte) { sums[name] = sum })
	if err != nil {
		return 0, err
	}
	err = eachJob(again, func(name string, sum [sha256.Size]byte) {
		if sums[name] != sum {
			different++
		}
		delete(sums, name)
	})
	return different + len(sums), err
}

func eachJob(file string, f func(name string, sum [sha256.Size]byte)) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer from.Close()
	r, err := backup.NewReader(from)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Kind != backup.Job || strings.HasPrefix(e.Name, "default/firing-") {
			continue
		}
		text := e.Data
		for _, b := range e.Batons {
			b.Revision = 0
			text = append(append(text, b.Encode()...), b.Detached...)
		}
		f(e.Name, sha256.Sum256(text))
	}
}
