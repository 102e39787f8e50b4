package source

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// ServiceBus is a queue, or a subscription of a topic, of Azure Service Bus.
type ServiceBus struct {
	ConnectionString document.Secret // zero: Namespace, KeyName and SASKey
	Namespace        string          // as in the action of a job
	KeyName          string          // name of the shared access policy
	SASKey           document.Secret

	Queue        string
	Topic        string
	Subscription string
	Sessions     bool // the entity has sessions: messages of a session are received in order
}

func readServiceBus(o *document.Object, t Type) *ServiceBus {
	b := &ServiceBus{}
	b.ConnectionString, _ = o.Secret("connectionString")
	b.Namespace = readText(o, "namespace")
	if ao, ok := o.Object("authentication"); ok {
		ao.Enum("type", "sharedAccessKey")
		ao.Require("sasKeyName")
		b.KeyName = readText(ao, "sasKeyName")
		b.SASKey = readSecret(ao, "sasKey")
		ao.Done()
	}
	readAccess(o, b.ConnectionString, "namespace", "authentication")
	if t == TypeQueue {
		b.Queue = requireText(o, "queueName")
	} else {
		b.Topic = requireText(o, "topicName")
		b.Subscription = requireText(o, "subscriptionName")
	}
	b.Sessions, _ = o.Bool("sessions")
	return b
}

// requireText reads a required text.
func requireText(o *document.Object, name string) string {
	o.Require(name)
	return readText(o, name)
}

// readAccess checks that an object has either a connection string or both of two other fields.
func readAccess(o *document.Object, connection document.Secret, place, key string) {
	if o.Has("connectionString") {
		for _, name := range []string{place, key} {
			if o.Has(name) {
				o.Problem(name, "does not go with connectionString, which contains it")
			}
		}
		if connection.IsZero() && connection.Ref() == "" && !o.Describes() {
			o.Problem("connectionString", "must not be empty")
		}
		return
	}
	given := o.RequireOne("connectionString", place)
	if len(given) > 0 && !o.Describes() {
		o.Require(key)
	}
}

// StorageQueue is a queue of Azure Storage.
type StorageQueue struct {
	ConnectionString document.Secret // zero: Account and SASToken
	Account          string          // name or endpoint, as in the action of a job
	SASToken         document.Secret
	Queue            string

	// Visibility is how long a received message is hidden from other receivers. It is renewed. Default: 1 min.
	Visibility time.Duration

	// MaxDequeue is the number of deliveries after which a message that the store does not accept within a minute is
	// moved to the queue <name>-poison. Default: 5.
	MaxDequeue int
}

// Defaults of a storage queue.
const (
	DefaultVisibility = time.Minute
	DefaultMaxDequeue = 5
)

func readStorageQueue(o *document.Object) *StorageQueue {
	q := &StorageQueue{Visibility: DefaultVisibility, MaxDequeue: DefaultMaxDequeue}
	q.ConnectionString, _ = o.Secret("connectionString")
	q.Account = readText(o, "storageAccount")
	q.SASToken, _ = o.Secret("sasToken")
	readAccess(o, q.ConnectionString, "storageAccount", "sasToken")
	q.Queue = requireText(o, "queueName")
	if err := checkReceived(q.Queue); q.Queue != "" && err != nil {
		o.Problem("queueName", "%v", err)
	}
	if d, ok := o.ExactDuration("visibilityTimeout", time.Second, 7*24*time.Hour); ok {
		q.Visibility = d
		if d%time.Second != 0 {
			o.Problem("visibilityTimeout", "must be whole seconds")
		}
	}
	if n, ok := o.Int("maxDequeueCount", 1, 1000); ok {
		q.MaxDequeue = int(n)
	}
	return q
}

// PoisonSuffix follows the name of a queue in that of its poison queue, as in Azure Functions.
const PoisonSuffix = "-poison"

// maxQueue is the maximum length of a queue's name.
const maxQueue = 63

// checkReceived checks the name of a queue that has a poison queue.
func checkReceived(name string) error {
	if err := CheckQueue(name); err != nil {
		return err
	}
	if most := maxQueue - len(PoisonSuffix); len(name) > most {
		return fmt.Errorf("has a length of %d, at most %d are allowed: refused messages move to the queue <name>%s",
			len(name), most, PoisonSuffix)
	}
	return nil
}

// CheckQueue checks the name of a queue of Azure Storage.
func CheckQueue(name string) error {
	const rule = "a queue's name has 3 to 63 lower-case letters, digits and single dashes between them"
	bad := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }
	switch i := strings.IndexFunc(name, bad); {
	case i >= 0 && !strings.ContainsFunc(strings.ToLower(name), bad):
		return fmt.Errorf("has upper-case letters: write %s", strings.ToLower(name))
	case i >= 0:
		first, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Errorf("has %q in it: %s", first, rule)
	case len(name) < 3 || len(name) > maxQueue:
		return fmt.Errorf("has a length of %d: %s", len(name), rule)
	case name[0] == '-' || name[len(name)-1] == '-':
		return fmt.Errorf("begins or ends with a dash: %s", rule)
	case strings.Contains(name, "--"):
		return fmt.Errorf("has two dashes together: %s", rule)
	}
	return nil
}
