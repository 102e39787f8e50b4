package buckets

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/store/conn"
)

// jobRevisions is the number of retained revisions of a definition, for occurrences that started under an earlier one.
const jobRevisions = 8

// Buckets with a watch.
const (
	jobsBucket        = "jobs"
	collectionsBucket = "collections"
	secretsBucket     = "secrets"
	tokensBucket      = "tokens"
	operationsBucket  = "operations"
	listenersBucket   = "listeners"
	sourcesBucket     = "sources"
)

// operationAge is how long an operation is retained after its last change.
const operationAge = 7 * 24 * time.Hour

// markerAge is how long the store retains the marker of a deleted job.
const markerAge = time.Hour

// Buckets stores definitions and other values by name. It is safe for concurrent use.
type Buckets struct {
	conn        *conn.Conn
	jobs        jetstream.KeyValue
	jobStream   jetstream.Stream
	collections jetstream.KeyValue
	secrets     jetstream.KeyValue
	tokens      jetstream.KeyValue
	operations  jetstream.KeyValue
	listeners   jetstream.KeyValue
	sources     jetstream.KeyValue
	deaf        sync.Map // buckets whose changes are not announced to this process
}

// New returns the buckets on a connection. It does no I/O.
func New(c *conn.Conn) *Buckets { return &Buckets{conn: c} }

// Open opens all buckets.
func (s *Buckets) Open(ctx context.Context) (err error) {
	for _, b := range []struct {
		kv   *jetstream.KeyValue
		name string
		cfg  jetstream.KeyValueConfig
	}{
		{&s.jobs, jobsBucket, jetstream.KeyValueConfig{
			Description: "Carillon: job definitions", History: jobRevisions, LimitMarkerTTL: markerAge,
		}},
		{&s.collections, collectionsBucket, jetstream.KeyValueConfig{Description: "Carillon: job collections", History: jobRevisions}},
		{&s.secrets, secretsBucket, jetstream.KeyValueConfig{Description: "Carillon: shared secrets, sealed"}},
		{&s.operations, operationsBucket, jetstream.KeyValueConfig{
			Description: "Carillon: operations on many jobs, and acknowledged failures", TTL: operationAge,
		}},
		{&s.listeners, listenersBucket, jetstream.KeyValueConfig{Description: "Carillon: what the triggers of jobs listen to"}},
		{&s.sources, sourcesBucket, jetstream.KeyValueConfig{Description: "Carillon: sources of events"}},
	} {
		if *b.kv, err = s.open(ctx, b.name, b.cfg); err != nil {
			return err
		}
	}
	s.jobStream, err = s.conn.JS.Stream(ctx, "KV_"+s.conn.Config.Bucket(jobsBucket))
	if err != nil {
		return conn.Translate(err)
	}
	return s.OpenTokens(ctx)
}

// OpenTokens opens only the bucket of access tokens.
func (s *Buckets) OpenTokens(ctx context.Context) (err error) {
	s.tokens, err = s.open(ctx, tokensBucket, jetstream.KeyValueConfig{
		Description: "Carillon: hashes and rights of access tokens",
	})
	return err
}

// open opens a bucket whose changes are announced.
func (s *Buckets) open(ctx context.Context, name string, cfg jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	cfg.Bucket, cfg.RePublish = s.conn.Config.Bucket(name), s.conn.Config.Republish(name)
	return s.conn.OpenBucket(ctx, cfg)
}
