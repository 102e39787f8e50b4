package source

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Type is where a source's events come from. It is also the name of the field with its settings.
type Type string

// The types of sources.
const (
	TypeNATS         Type = "nats"
	TypeWebhook      Type = "webhook"
	TypeQueue        Type = "serviceBusQueue"
	TypeSubscription Type = "serviceBusSubscription"
	TypeStorageQueue Type = "storageQueue"
)

// types are all types, as words of a document.
var types = []string{string(TypeNATS), string(TypeWebhook), string(TypeQueue), string(TypeSubscription), string(TypeStorageQueue)}

// Source is a source of events. It is immutable.
type Source struct {
	Key      scheduler.Key // Key.Job is the name of the source and of its events
	UID      string        // of this incarnation: a source that is deleted and created again has another
	Revision uint64
	Created  time.Time
	Updated  time.Time

	Type        Type
	State       scheduler.State // enabled or disabled; "" in a document that does not name one
	Description string
	Labels      map[string]string

	NATS         *NATS         // nil: another type
	Webhook      *Webhook      // nil: another type
	ServiceBus   *ServiceBus   // of both types of Service Bus; nil: another type
	StorageQueue *StorageQueue // nil: another type

	refs       []document.SecretRef
	properties document.Value // canonical, without state and status
}

// Topic returns the topic of the source's events.
func (s *Source) Topic() scheduler.Topic {
	return scheduler.Topic{Collection: s.Key.Collection, Name: s.Key.Job}
}

// Enabled reports whether the source receives events.
func (s *Source) Enabled() bool { return s.State == scheduler.Enabled }

// Refers reports whether the source refers to a shared secret.
func (s *Source) Refers(secret string) bool {
	return slices.ContainsFunc(s.refs, func(ref document.SecretRef) bool { return ref.Name == secret })
}

// Document returns the source's properties, without its state. Their encoding omits secrets.
func (s *Source) Document() document.Value { return s.properties }

// Replacing returns s, as it was read, as the replacement of before, nil for a new source: the incarnation stays, and so
// does the state if the document of s has none.
func (s *Source) Replacing(before *Source, uid string, now time.Time) *Source {
	next := *s
	next.UID, next.Created, next.Updated = uid, now, now
	if before != nil {
		next.UID, next.Created, next.Revision = before.UID, before.Created, before.Revision
	}
	if next.State == "" {
		next.State = scheduler.Enabled
		if before != nil {
			next.State = before.State
		}
	}
	return &next
}

// Equals reports whether both sources have the same settings and state.
func (s *Source) Equals(other *Source) bool {
	return s.State == other.State && s.properties.Equal(other.properties)
}

// Check reports problems with the secrets of a document to o, the object of its properties. Package secrets implements
// it.
type Check func(o *document.Object, properties document.Value) error

// Read reads the document of a source: its properties, with or without their envelope. The error matches
// scheduler.ErrInvalid and holds every problem with its path, unless check itself fails.
func Read(k scheduler.Key, v document.Value, check Check) (*Source, error) {
	if err := ValidateKey(k); err != nil {
		return nil, err
	}
	v = document.Merge(document.ObjectValue(), v) // drops null fields and copies the tree
	r := document.NewReader()
	o := r.Object(v, "")
	inner, properties := readEnvelope(o, k)
	s := &Source{Key: k}
	s.read(inner)
	inner.Done()
	if inner != o {
		o.Done()
	}
	return s.finish(inner, properties(v), check)
}

// finish checks the secrets of a source that was read from o.
func (s *Source) finish(o *document.Object, properties document.Value, check Check) (*Source, error) {
	if check != nil {
		if err := check(o, properties); err != nil {
			return nil, err
		}
	}
	if err := o.Reader().Err(); err != nil {
		return nil, scheduler.AsInvalid(err)
	}
	s.refs, s.properties = o.Reader().SecretRefs(), properties.Without("state", "status")
	return s, nil
}

// Patched returns the source merged with a patch (RFC 7396). Secrets that the patch omits stay: each contains the
// place to which it belongs, or is not sent.
func (s *Source) Patched(patch document.Value, check Check) (*Source, error) {
	if patch.Kind() != document.KindObject {
		return nil, scheduler.Invalid("", "must be an object, not "+patch.Kind().String())
	}
	pr := document.NewReader()
	_, properties := readEnvelope(pr.Object(patch, ""), s.Key)
	if err := pr.Err(); err != nil {
		return nil, scheduler.AsInvalid(err)
	}
	merged := document.Merge(s.Settings(), properties(patch)).Clone() // a copy, because reading marks it
	return (&Source{Key: s.Key}).readTree(merged, false, check)
}

// readTree reads properties without an envelope.
func (s *Source) readTree(tree document.Value, isStored bool, check Check) (*Source, error) {
	r := document.NewReader()
	r.Stored = isStored
	o := r.Object(tree, "")
	s.read(o)
	o.Done()
	return s.finish(o, tree, check)
}

// envelopeNames are the fields next to the properties. They name the source.
var envelopeNames = []string{"kind", "id", "etag", "name", "collection", "result"}

// Kind is the value of the field kind, which distinguishes sources from jobs.
const Kind = "source"

// readEnvelope reads the fields around the properties, and returns the object of the properties and a function that
// returns their tree.
func readEnvelope(o *document.Object, k scheduler.Key) (*document.Object, func(document.Value) document.Value) {
	o.Ignore("id", "etag", "result")
	o.Enum("kind", Kind)
	inner, at := scheduler.ReadEnvelope(o, k, Kind)
	return inner, func(v document.Value) document.Value {
		if at == "" {
			return v.Except(envelopeNames...)
		}
		v, _ = v.Member(at)
		return v
	}
}

// ValidateKey checks the names of a source and its collection.
func ValidateKey(k scheduler.Key) error {
	if err := scheduler.ValidateCollection(k.Collection); err != nil {
		return err
	}
	return scheduler.ValidateName("source", k.Job)
}

func (s *Source) read(o *document.Object) {
	o.Ignore("status")
	if state, ok := o.Enum("state", string(scheduler.Enabled), string(scheduler.Disabled)); ok {
		s.State = scheduler.State(state)
	}
	s.Labels, s.Description = scheduler.ReadNotes(o)
	o.Require("type")
	word, _ := o.Enum("type", types...)
	s.Type = Type(word)
	for _, name := range types {
		switch {
		case o.Describes() || name == word:
			s.readSettings(o, Type(name))
		case word != "":
			o.Refuse(name, "goes with the type %s, and this source has the type %s", name, word)
		default:
			o.Ignore(name)
		}
	}
}

func (s *Source) readSettings(o *document.Object, t Type) {
	if !o.Describes() {
		o.Require(string(t))
	}
	so, ok := o.Object(string(t))
	if !ok {
		return
	}
	defer so.Done()
	switch t {
	case TypeNATS:
		s.NATS = readNATS(so)
	case TypeWebhook:
		s.Webhook = readWebhook(so)
	case TypeQueue, TypeSubscription:
		s.ServiceBus = readServiceBus(so, t)
	case TypeStorageQueue:
		s.StorageQueue = readStorageQueue(so)
	}
}

// Shape returns the shape of a document with an envelope.
func Shape() *document.Shape {
	return document.ShapeOf(func(o *document.Object) {
		inner, _ := readEnvelope(o, scheduler.Key{})
		new(Source).read(inner)
		inner.Done()
		o.Done()
	})
}

// stored is the head of a stored source. The properties follow it, as in a stored job, so that a rotation of keys
// handles both.
type stored struct {
	UID     string          `json:"uid"`
	Created time.Time       `json:"created"`
	Updated time.Time       `json:"updated"`
	State   scheduler.State `json:"state"`
}

// SealKey returns the name to which the secrets of a source are bound. A job of the same name has another.
func SealKey(k scheduler.Key) scheduler.Key {
	return scheduler.Key{Collection: "source:" + k.Collection, Job: k.Job}
}

// Encode returns the stored form, with sealed secrets.
func (s *Source) Encode(secrets scheduler.Sealer) ([]byte, error) {
	properties, err := secrets.Seal(SealKey(s.Key), s.properties)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(stored{s.UID, s.Created, s.Updated, s.State})
	if err != nil {
		return nil, err
	}
	return scheduler.JoinStored(head[:len(head)-1], properties.JSON()), nil
}

// Decode decodes a stored source. Secrets without a key stay locked. The error is a [*scheduler.DamagedError].
func Decode(k scheduler.Key, revision uint64, data []byte, secrets scheduler.Sealer) (s *Source, err error) {
	var m stored
	var tree document.Value
	head, properties, err := scheduler.SplitStored(data)
	if err == nil {
		err = json.Unmarshal(append(slices.Clone(head), '}'), &m)
	}
	if err == nil {
		tree, err = document.Parse(properties)
	}
	if err == nil {
		s, err = (&Source{Key: k}).readTree(secrets.Unseal(SealKey(k), tree), true, nil)
	}
	if err != nil {
		return nil, &scheduler.DamagedError{Key: k, Revision: revision, Reason: err.Error()}
	}
	s.UID, s.Revision, s.Created, s.Updated, s.State = m.UID, revision, m.Created, m.Updated, m.State
	return s, nil
}

// StoredKey parses the name of a stored source, <collection>.<name>.
func StoredKey(name string) (k scheduler.Key, err error) {
	err = k.UnmarshalText([]byte(name))
	return k, err
}

// StoredName returns the name of a source in its bucket.
func StoredName(k scheduler.Key) string { return k.Collection + "." + k.Job }
