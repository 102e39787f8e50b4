package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/rogpeppe/go-internal/testscript"
)

// floodLanes is how many sends are under way at a time, on each connection.
const floodLanes = 8

// flood sends numbered messages to queues until an emulator has taken enough of each, kills it while more are under way, and
// notes what was acknowledged. For "-" instead of a number it sends until the emulator refuses by itself.
func flood(ts *testscript.TestScript, _ bool, args []string) {
	enough, err := strconv.ParseInt(args[0], 10, 64)
	kill := err == nil
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var ended sync.WaitGroup
	var full sync.WaitGroup
	for i := 1; i < len(args); i += 2 {
		put, err := opened(ctx, args[i], args[i+1])
		ts.Check(err)
		taken := &acknowledged{enough: enough, full: full.Done}
		full.Add(1)
		ended.Go(func() {
			taken.send(ctx, put)
			if err := os.WriteFile(floodFile(ts, i-1), []byte(strings.Join(taken.numbers, "\n")), 0o600); err != nil {
				panic(err)
			}
		})
	}
	if kill {
		full.Wait()
		for _, c := range ts.BackgroundCmds() {
			ts.Check(c.Process.Kill())
		}
	}
	ended.Wait()
	if ctx.Err() != nil {
		ts.Fatalf("the emulator never failed")
	}
}

func floodFile(ts *testscript.TestScript, i int) string {
	return ts.MkAbs(fmt.Sprintf("flood-%d.txt", i))
}

// acknowledged are the numbers of the messages that were taken.
type acknowledged struct {
	enough int64
	full   func()

	mu      sync.Mutex
	numbers []string
}

// send sends on all lanes until each has failed.
func (a *acknowledged) send(ctx context.Context, put func(context.Context, string) error) {
	var next atomic.Int64
	var lanes sync.WaitGroup
	full := sync.OnceFunc(a.full)
	defer full()
	for range floodLanes {
		lanes.Go(func() {
			for {
				text := strconv.FormatInt(next.Add(1), 10)
				if put(ctx, text) != nil {
					return
				}
				a.mu.Lock()
				a.numbers = append(a.numbers, text)
				if int64(len(a.numbers)) == a.enough {
					full()
				}
				a.mu.Unlock()
			}
		})
	}
	lanes.Wait()
}

// opened returns a function that sends a text.
func opened(ctx context.Context, connection, queue string) (func(context.Context, string) error, error) {
	if isStorage(connection) {
		client, err := azqueue.NewQueueClientFromConnectionString(connection, queue, &azqueue.ClientOptions{
			ClientOptions: azcore.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}},
		})
		return func(ctx context.Context, text string) error {
			_, err := client.EnqueueMessage(ctx, text, nil)
			return err
		}, err
	}
	client, err := azservicebus.NewClientFromConnectionString(connection, impatient)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = client.Close(context.WithoutCancel(ctx)) })
	sender, err := client.NewSender(queue, nil)
	return func(ctx context.Context, text string) error {
		return sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(text)}, nil)
	}, err
}

// salvage receives what the last flood had acknowledged. Messages beyond that are those whose answer was lost, which are at most
// one for each lane.
func salvage(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for i := 0; i < len(args); i += 2 {
		want := strings.Split(ts.ReadFile(filepath.Base(floodFile(ts, i))), "\n")
		if len(want) < 2 {
			ts.Fatalf("nothing was acknowledged before")
		}
		from := allOfBus
		if isStorage(args[i]) {
			from = allOfQueue
		}
		got := map[string]int{}
		ts.Logf("%s: %d acknowledged", args[i+1], len(want))
		ts.Check(from(ctx, args[i], args[i+1], func(text string) { got[text]++ }))
		var lost []string
		for _, text := range want {
			if got[text] != 1 {
				lost = append(lost, fmt.Sprintf("%s: %d times", text, got[text]))
			}
		}
		if extra := len(got) - len(want); len(lost) > 0 || extra > floodLanes {
			ts.Fatalf("%s: of %d that were acknowledged: %v; %d besides", args[i+1], len(want), lost, extra)
		}
	}
}

// allOfBus peeks at all messages.
func allOfBus(ctx context.Context, connection, queue string, take func(string)) error {
	client, err := azservicebus.NewClientFromConnectionString(connection, impatient)
	if err != nil {
		return err
	}
	defer client.Close(ctx) //nolint:errcheck // what counts is what was received
	receiver, err := client.NewReceiverForQueue(queue, nil)
	if err != nil {
		return err
	}
	for {
		rest, err := receiver.PeekMessages(ctx, 100, nil)
		if err != nil || len(rest) == 0 {
			return err
		}
		for _, message := range rest {
			take(string(message.Body))
		}
	}
}

// allOfQueue takes messages until there are no more.
func allOfQueue(ctx context.Context, connection, queue string, take func(string)) error {
	client, err := azqueue.NewQueueClientFromConnectionString(connection, queue, nil)
	if err != nil {
		return err
	}
	for {
		got, err := client.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: new(int32(32)), VisibilityTimeout: new(int32(60))})
		if err != nil || len(got.Messages) == 0 {
			return err
		}
		for _, message := range got.Messages {
			take(*message.MessageText)
		}
	}
}
