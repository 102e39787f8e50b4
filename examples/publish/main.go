// Command publish schedules a job with nothing but a NATS client: it publishes
// the job's spec, and prints what the scheduler answers and what the job did.
//
//	go run ./examples/publish                                  # beside `carillon dev`
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

// publish puts a job that calls the target once, now.
func publish(out io.Writer, server, target string) error {
	nc, err := nats.Connect(server)
	if err != nil {
		return err
	}
	defer nc.Close()
	job := fmt.Sprintf("published-%d", time.Now().UnixMilli())
	spec := fmt.Sprintf(`{"action": {"type": "http", "request": {"method": "POST", "uri": %q, "body": "hello"}}}`, target)

	answers := make(chan *nats.Msg, 8)
	for _, subject := range []string{"carillon.spec-result.*.default." + job, "carillon.history.default." + job + ".*"} {
		if _, err := nc.ChanSubscribe(subject, answers); err != nil {
			return err
		}
	}
	// As a request, because JetStream's reply says that the spec is stored.
	if _, err := nc.Request("carillon.spec.put.default."+job, []byte(spec), 5*time.Second); err != nil {
		return fmt.Errorf("is carillon running on %s? %w", server, err)
	}
	for range 2 { // the verdict, then the first record of the history
		m := <-answers
		fmt.Fprintf(out, "%s\n%s\n\n", m.Subject, m.Data)
		if strings.Contains(m.Subject, ".rejected.") {
			return fmt.Errorf("the spec of %s was rejected", job)
		}
	}
	return nil
}
