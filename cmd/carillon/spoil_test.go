package main

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rogpeppe/go-internal/testscript"
)

// spoil writes something into a bucket that is not Carillon's: the bucket, the key and the value.
func spoil(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	nc, err := nats.Connect(ts.Getenv("NATS"))
	ts.Check(err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	ts.Check(err)
	bucket, err := js.KeyValue(ctx, args[0])
	ts.Check(err)
	_, err = bucket.PutString(ctx, args[1], args[2])
	ts.Check(err)
}
