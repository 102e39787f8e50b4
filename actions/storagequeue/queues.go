package storagequeue

import (
	"container/list"
	"fmt"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
)

// maxQueues is how many of the SDK's clients are kept: the queues of a process that are in use at one time. A client less
// costs some microseconds to make it anew.
const maxQueues = 512

// door is what opens a queue.
type door struct {
	endpoint, queue string
	secret          string // the token as it was revealed
}

// queue is an SDK client of one queue.
type queue struct {
	door

	token  token
	client *azqueue.QueueClient
}

// queues keeps the clients used last. The zero value is empty.
type queues struct {
	mu     sync.Mutex
	byDoor map[door]*list.Element // values: *queue
	recent list.List              // the one used last in front
}

// open returns the client for a door. The error says what is wrong with the secret.
func (q *queues) open(d door, t transport) (*queue, error) {
	if known := q.find(d); known != nil {
		return known, nil
	}
	token, err := parseToken(d.secret)
	if err != nil {
		return nil, fmt.Errorf("sasToken %w", err)
	}
	client, err := azqueue.NewQueueClientWithNoCredential(d.endpoint+"/"+d.queue+"?"+token.query, options(t))
	if err != nil {
		return nil, err
	}
	made := &queue{d, token, client}
	q.keep(made)
	return made, nil
}

// options are new for every client: the SDK writes into them.
func options(t transport) *azqueue.ClientOptions {
	return &azqueue.ClientOptions{ClientOptions: policy.ClientOptions{
		Retry:     policy.RetryOptions{MaxRetries: -1},
		Telemetry: policy.TelemetryOptions{ApplicationID: "Carillon"},
		Transport: t,
	}}
}

func (q *queues) find(d door) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, ok := q.byDoor[d]
	if !ok {
		return nil
	}
	q.recent.MoveToFront(e)
	return e.Value.(*queue)
}

func (q *queues) keep(made *queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byDoor == nil {
		q.byDoor = map[door]*list.Element{}
	}
	if _, ok := q.byDoor[made.door]; ok {
		return // another attempt was faster
	}
	q.byDoor[made.door] = q.recent.PushFront(made)
	if q.recent.Len() > maxQueues {
		oldest := q.recent.Remove(q.recent.Back()).(*queue)
		delete(q.byDoor, oldest.door)
	}
}
