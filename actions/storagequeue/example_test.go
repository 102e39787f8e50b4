package storagequeue_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// A job that was written for Azure runs against an emulator.
func Example() {
	ctx := context.Background()
	server, err := emulator.Start(ctx, emulator.Config{Addr: "127.0.0.1:0", Keys: emulator.Lenient, AutoCreate: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close() //nolint:errcheck // it is only not to leave goroutines

	client := storagequeue.New(storagequeue.Config{Endpoints: egress.Endpoints{Default: server.URL() + "/{name}"}})
	defer client.Close()

	job, err := document.Parse([]byte(`{
		"type": "storageQueue",
		"queueMessage": {
			"storageAccount": "myStorageAccount",
			"queueName": "myqueue",
			"sasToken": "TOKEN",
			"message": "My message body"
		}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	reader := document.NewReader()
	action := actions.New(client).ReadAction("storageQueue", reader.Object(job, "action"))
	if err := reader.Err(); err != nil {
		fmt.Println(err)
		return
	}
	result := action.Invoke(ctx, scheduler.Attempt{Timeout: time.Minute})
	fmt.Println(result.Status, strings.Contains(result.Message, "put into queue 'myqueue' of account 'mystorageaccount'"))
	// Output:
	// 201 true
}
