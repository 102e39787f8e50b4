package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// A program puts a job that is due at once, waits for its end, and reads what
// became of it. The same works with client.NewNATS.
func Example() {
	ctx := context.Background()
	server, stop, err := newHarness(ctx) // a scheduler runs already, as with "carillon dev"
	if err != nil {
		log.Panic(err)
	}
	defer func() { _ = stop() }()

	c, err := client.NewREST(client.RESTConfig{URL: server.api})
	if err != nil {
		log.Panic(err)
	}
	greet := scheduler.Key{Collection: "default", Job: "greet"}
	job := fmt.Sprintf(`{"action": {"type": "http", "request": {"method": "POST", "uri": %q, "body": "hello"}}}`, server.target)
	put, err := c.Put(ctx, greet, []byte(job), client.PutOptions{Strict: true})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(put.Name, put.Result)

	ended, err := c.WaitEnd(ctx, greet)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(ended.Name, ended.State)
	for record, err := range c.History(ctx, client.HistoryQuery{Key: greet}) {
		if err != nil {
			log.Panic(err)
		}
		fmt.Println(record.Status, record.StatusCode)
	}

	_, err = c.Put(ctx, greet, []byte(`{"action": {"type": "carrier pigeon"}}`), client.PutOptions{})
	if errors.Is(err, scheduler.ErrInvalid) {
		for _, problem := range scheduler.ProblemsIn(err) {
			fmt.Println(problem.Path)
		}
	}
	// Output:
	// default/greet created
	// default/greet completed
	// Completed 200
	// action.type
}
