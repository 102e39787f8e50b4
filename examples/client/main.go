// Command client schedules a job with package client, waits until it has ended, and prints its history.
//
//	go run ./examples/client                                                        # next to `carillon dev`, over REST
//	go run ./examples/client nats://127.0.0.1:4222 http://127.0.0.1:8080/echo       # over NATS
//	go run ./examples/client https://carillon.example https://target.example/hook   # anywhere else
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

func main() {
	server, target := "http://127.0.0.1:8080", "http://127.0.0.1:8080/echo"
	if len(os.Args) == 3 {
		server, target = os.Args[1], os.Args[2]
	}
	if err := schedule(context.Background(), os.Stdout, server, target); err != nil {
		log.Fatal(err)
	}
}

// patience is how long the job may take to run.
const patience = time.Minute

// schedule puts a job that calls the target once, now.
func schedule(ctx context.Context, out io.Writer, server, target string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, done, err := connect(server)
	if err != nil {
		return err
	}
	defer done()
	k := scheduler.Key{Collection: scheduler.DefaultCollection, Job: fmt.Sprintf("from-go-%d", time.Now().UnixMilli())}
	job := fmt.Appendf(nil, `{"action": {"type": "http", "request": {"method": "POST", "uri": %q, "body": "hello"}}}`, target)
	put, err := c.Put(ctx, k, job, client.PutOptions{OnlyNew: true})
	if err != nil {
		return err // scheduler.ProblemsIn returns every problem in it, with its path
	}
	fmt.Fprintln(out, put.Name, put.Result)
	ended, err := c.WaitEnd(ctx, k)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, ended.Name, ended.State)
	for record, err := range c.History(ctx, client.HistoryQuery{Key: k}) {
		if err != nil {
			return err
		}
		fmt.Fprintln(out, record.Status, record.StatusCode, record.Message)
	}
	return nil
}

// connect returns a client of a scheduler, over NATS or REST as the address says.
func connect(server string) (c *client.Client, done func(), err error) {
	if !strings.HasPrefix(server, "nats://") {
		c, err = client.NewREST(client.RESTConfig{URL: server, Token: os.Getenv("CARILLON_TOKEN")})
		return c, func() {}, err
	}
	nc, err := nats.Connect(server)
	if err != nil {
		return nil, nil, err
	}
	return client.NewNATS(client.NATSConfig{Conn: nc}), nc.Close, nil
}
