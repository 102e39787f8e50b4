// Command publish schedules a job with only a NATS client: it publishes the job's spec, and prints the
// scheduler's result and the job's history.
//
//	go run ./examples/publish                                  # next to `carillon dev`
//	go run ./examples/publish nats://host:4222 https://target  # anywhere else
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

func main() {
	server, target := nats.DefaultURL, "http://127.0.0.1:8080/echo"
	if len(os.Args) == 3 {
		server, target = os.Args[1], os.Args[2]
	}
	if err := publish(os.Stdout, server, target); err != nil {
		log.Fatal(err)
	}
}

// patience is how long each answer may take.
const patience = 10 * time.Second

// publish puts a job that calls the target once, now.
func publish(out io.Writer, server, target string) error {
	nc, err := nats.Connect(server)
	if err != nil {
		return err
	}
	defer nc.Close()
	job := fmt.Sprintf("published-%d", time.Now().UnixMilli())
	spec := fmt.Sprintf(`{"action": {"type": "http", "request": {"method": "POST", "uri": %q, "body": "hello"}}}`, target)

	verdict, err := nc.SubscribeSync("carillon.spec-result.*.default." + job)
	if err != nil {
		return err
	}
	history, err := nc.SubscribeSync("carillon.history.default." + job + ".*")
	if err != nil {
		return err
	}
	// As a request, because JetStream's reply says that the spec is stored.
	if _, err := nc.Request("carillon.spec.put.default."+job, []byte(spec), patience); err != nil {
		return fmt.Errorf("is carillon running on %s? %w", server, err)
	}
	// A job that is due immediately may run before its result arrives, so each has a separate subscription.
	for _, answers := range []*nats.Subscription{verdict, history} {
		m, err := answers.NextMsg(patience)
		if err != nil {
			return fmt.Errorf("nothing came on %s within %s: %w", answers.Subject, patience, err)
		}
		fmt.Fprintf(out, "%s\n%s\n\n", m.Subject, m.Data)
		if strings.Contains(m.Subject, ".rejected.") {
			return fmt.Errorf("the spec of %s was rejected", job)
		}
	}
	return nil
}
