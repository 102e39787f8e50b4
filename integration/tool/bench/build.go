package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/store/embedded"
)

// programs are the paths of the measured programs.
type programs struct {
	carillon, server string
	against          string // the other carillon, or ""
}

const carillonPackage = "github.com/carillon-sched/carillon/cmd/carillon"

// build builds, in dir, Carillon of this source, nats-server of its go.mod, and the build that -against names.
func (b *bench) build(ctx context.Context, dir string) (err error) {
	b.log.Printf("build the programs")
	if b.programs.carillon == "" {
		b.programs = programs{carillon: filepath.Join(dir, "carillon"), server: filepath.Join(dir, "nats-server")}
		if _, err = execute(ctx, "", "go", "build", "-o", dir, carillonPackage, "github.com/nats-io/nats-server/v2"); err != nil {
			return err
		}
	}
	if b.against == "" {
		return nil
	}
	if info, err := os.Stat(b.against); err == nil && info.Mode().IsRegular() {
		b.programs.against, err = filepath.Abs(b.against)
		return err
	}
	b.programs.against, err = buildRevision(ctx, dir, b.against, carillonPackage)
	return err
}

// buildRevision builds a program of a git revision and returns its path.
func buildRevision(ctx context.Context, dir, revision, program string) (string, error) {
	root, err := execute(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	source, file := filepath.Join(dir, "source"), filepath.Join(dir, "carillon-against")
	if err := os.Mkdir(source, 0o700); err != nil {
		return "", err
	}
	for _, command := range [][]string{
		{root, "git", "archive", "-o", source + ".tar", revision},
		{source, "tar", "-xf", source + ".tar"},
		{source, "go", "build", "-o", file, program},
	} {
		if _, err := execute(ctx, command[0], command[1], command[2:]...); err != nil {
			return "", err
		}
	}
	return file, nil
}

// execute runs a command in a directory and returns the line that it prints.
func execute(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // commands of this package
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// bareCalls is the number of calls in flight: Carillon's default for one target.
const bareCalls = 64

// herdBare is the herd of bare JetStream: a message waits as a schedule, fires, is called for, and acknowledged.
func herdBare(ctx context.Context, s *stage) (figures, error) {
	_, err := s.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "BARE", Subjects: []string{"bare.>"}, Retention: jetstream.WorkQueuePolicy, AllowMsgSchedules: true,
		Replicas: s.servers,
	})
	if err != nil {
		return nil, err
	}
	if _, err = s.spawnChild(ctx, roleWorker, "__bare", s.url, s.target.url); err != nil {
		return nil, err
	}
	h := s.newHerd()
	h.settle = func(context.Context, calendar, time.Time) (figures, error) { return figures{}, nil }
	h.register = func(ctx context.Context, c calendar) (time.Duration, error) {
		return s.publishAll(ctx, c, func(i int) error {
			m := nats.NewMsg("bare.timer." + strconv.Itoa(i))
			m.Data = []byte(c.key(i, c.first))
			m.Header.Set(jetstream.ScheduleHeader, "@at "+c.first.Format(time.RFC3339Nano))
			m.Header.Set(jetstream.ScheduleTargetHeader, "bare.fire."+strconv.Itoa(i))
			_, err := s.js.PublishMsgAsync(m, jetstream.WithStallWait(patience))
			return err
		})
	}
	return h.measure(ctx)
}

// runBare is the worker process: it makes the calls of messages that fire. args are the URLs of NATS and of the target.
func runBare(ctx context.Context, ready func(string) error, args []string) error {
	nc, err := nats.Connect(args[0], embedded.ConnectOptions()...)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	consumer, err := js.CreateConsumer(ctx, "BARE", jetstream.ConsumerConfig{
		Durable: "workers", FilterSubject: "bare.fire.>", AckPolicy: jetstream.AckExplicitPolicy, AckWait: patience, MaxAckPending: -1,
	})
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: bareCalls, DisableCompression: true}}
	calls := make(chan struct{}, bareCalls)
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		calls <- struct{}{}
		go func() {
			defer func() { <-calls }()
			if err := errors.Join(callBare(ctx, client, args[1], string(m.Data())), m.Ack()); err != nil {
				fmt.Fprintln(os.Stderr, err) // the call is lost
			}
		}()
	}, jetstream.PullMaxMessages(publishWindow))
	if err != nil {
		return err
	}
	defer consuming.Stop()
	err = ready("")
	<-ctx.Done()
	return err
}

// callBare makes the call that Carillon makes for the job of a key.
func callBare(ctx context.Context, client *http.Client, target, key string) error {
	name, _, _ := strings.Cut(strings.TrimPrefix(key, "default/"), "@")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target+name, strings.NewReader(jobBody(name)))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", key)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	if err = resp.Body.Close(); err == nil && resp.StatusCode != http.StatusOK { // the body is empty
		err = fmt.Errorf("the target answered %s", resp.Status)
	}
	return err
}
