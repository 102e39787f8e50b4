package main

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rogpeppe/go-internal/testscript"
)

// put writes a value into a bucket of the NATS server, past the scheduler: store BUCKET KEY VALUE.
func put(ts *testscript.TestScript, _ bool, args []string) {
	nc, err := nats.Connect(ts.Getenv("NATS"))
	ts.Check(err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	kv, err := js.KeyValue(ctx, args[0])
	ts.Check(err)
	_, err = kv.PutString(ctx, args[1], args[2])
	ts.Check(err)
}
