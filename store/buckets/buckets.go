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
	deaf        sync.Map // buckets whose changes are not announced to this process
}

// New returns the buckets on a connection. It does no I/O.
func New(c *conn.Conn) *Buckets { return &Buckets{conn: c} }

// Open opens all buckets.
func (s *Buckets) Open(ctx context.Context) (err error) {
	s.jobs, err = s.conn.OpenBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.conn.Config.Bucket(jobsBucket), Description: "Carillon: job definitions",
		History: jobRevisions, LimitMarkerTTL: markerAge, RePublish: s.conn.Config.Republish(jobsBucket),
	})
	if err != nil {
		return err
	}
	s.jobStream, err = s.conn.JS.Stream(ctx, "KV_"+s.conn.Config.Bucket(jobsBucket))
	if err != nil {
		return conn.Translate(err)
	}
	s.collections, err = s.conn.OpenBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.conn.Config.Bucket(collectionsBucket), Description: "Carillon: job collections", History: jobRevisions,
		RePublish: s.conn.Config.Republish(collectionsBucket),
	})
	if err != nil {
		return err
	}
	s.secrets, err = s.conn.OpenBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.conn.Config.Bucket(secretsBucket), Description: "Carillon: shared secrets, sealed", History: 1,
		RePublish: s.conn.Config.Republish(secretsBucket),
	})
	if err != nil {
		return err
	}
	s.operations, err = s.conn.OpenBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.conn.Config.Bucket(operationsBucket), Description: "Carillon: operations on many jobs", History: 1, TTL: operationAge,
		RePublish: s.conn.Config.Republish(operationsBucket),
	})
	if err != nil {
		return err
	}
	return s.OpenTokens(ctx)
}

// OpenTokens opens only the bucket of access tokens.
func (s *Buckets) OpenTokens(ctx context.Context) (err error) {
	s.tokens, err = s.conn.OpenBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.conn.Config.Bucket(tokensBucket), Description: "Carillon: hashes of access tokens, and what they may do", History: 1,
		RePublish: s.conn.Config.Republish(tokensBucket),
	})
	return err
}
