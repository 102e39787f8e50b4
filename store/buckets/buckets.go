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
	conn      *conn.Conn
	opened    map[string]jetstream.KeyValue // by name; fixed when the store is open
	jobStream jetstream.Stream
	deaf      sync.Map // buckets whose changes are not announced to this process
	snapshots jetstream.ObjectStore
}

// New returns the buckets on a connection. It does no I/O.
func New(c *conn.Conn) *Buckets { return &Buckets{conn: c, opened: map[string]jetstream.KeyValue{}} }

// Open opens all buckets.
func (s *Buckets) Open(ctx context.Context) (err error) {
	for _, cfg := range []jetstream.KeyValueConfig{
		{Bucket: jobsBucket, Description: "Carillon: job definitions", History: jobRevisions, LimitMarkerTTL: markerAge},
		{Bucket: collectionsBucket, Description: "Carillon: job collections", History: jobRevisions},
		{Bucket: secretsBucket, Description: "Carillon: shared secrets, sealed"},
		{Bucket: operationsBucket, Description: "Carillon: operations on many jobs, and acknowledged failures", TTL: operationAge},
		{Bucket: listenersBucket, Description: "Carillon: what the triggers of jobs listen to"},
		{Bucket: sourcesBucket, Description: "Carillon: sources of events"},
	} {
		if err := s.open(ctx, cfg); err != nil {
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
func (s *Buckets) OpenTokens(ctx context.Context) error {
	return s.open(ctx, jetstream.KeyValueConfig{Bucket: tokensBucket, Description: "Carillon: hashes and rights of access tokens"})
}

// open opens a bucket whose changes are announced.
func (s *Buckets) open(ctx context.Context, cfg jetstream.KeyValueConfig) (err error) {
	name := cfg.Bucket
	cfg.Bucket, cfg.RePublish = s.conn.Config.Bucket(name), s.conn.Config.Republish(name)
	s.opened[name], err = s.conn.OpenBucket(ctx, cfg)
	return err
}
