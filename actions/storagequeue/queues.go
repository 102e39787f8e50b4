package storagequeue

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
)

// maxQueues is how many of the SDK's clients are kept: the queues of a process that are in use at one time. A client less
// costs some microseconds to make it anew.
const maxQueues = 512

// access is where a queue is, and what gives access to it.
type access struct {
	endpoint, queue string
	secret          string // the token as it was revealed
}

// queue is an SDK client of one queue.
type queue struct {
	token  token
	client *azqueue.QueueClient
}

// open returns the client of a queue. The error says what is wrong with the secret.
func (c *Client) open(a access) (*queue, error) {
	return c.queues.Get(a, func() (*queue, error) {
		token, err := parseToken(a.secret)
		if err != nil {
			return nil, fmt.Errorf("sasToken %w", err)
		}
		client, err := azqueue.NewQueueClientWithNoCredential(a.endpoint+"/"+a.queue+"?"+token.query, options(c.transport))
		if err != nil {
			return nil, err
		}
		return &queue{token, client}, nil
	})
}

// options are new for every client: the SDK writes into them.
func options(t transport) *azqueue.ClientOptions {
	return &azqueue.ClientOptions{ClientOptions: policy.ClientOptions{
		Retry:     policy.RetryOptions{MaxRetries: -1},
		Telemetry: policy.TelemetryOptions{ApplicationID: "Carillon"},
		Transport: t,
	}}
}
