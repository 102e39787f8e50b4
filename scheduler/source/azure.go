package source

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// ServiceBus is a queue, or a subscription of a topic, of Azure Service Bus.
type ServiceBus struct {
	ConnectionString document.Secret
	Queue            string
	Topic            string
	Subscription     string
	Sessions         bool // the entity has sessions: messages of a session are received in order
}

func readServiceBus(o *document.Object, t Type) *ServiceBus {
	b := &ServiceBus{ConnectionString: readSecret(o, "connectionString")}
	if t == TypeQueue {
		b.Queue = requireText(o, "queueName")
	} else {
		b.Topic = requireText(o, "topicName")
		b.Subscription = requireText(o, "subscriptionName")
	}
	b.Sessions, _ = o.Bool("sessions")
	return b
}

func requireText(o *document.Object, name string) string {
	o.Require(name)
	return readText(o, name)
}

// StorageQueue is a queue of Azure Storage.
type StorageQueue struct {
	ConnectionString document.Secret
	Queue            string
}

func readStorageQueue(o *document.Object) *StorageQueue {
	q := &StorageQueue{ConnectionString: readSecret(o, "connectionString"), Queue: requireText(o, "queueName")}
	if err := checkReceived(q.Queue); q.Queue != "" && err != nil {
		o.Problem("queueName", "%v", err)
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
