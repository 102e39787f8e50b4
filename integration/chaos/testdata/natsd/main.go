// Command natsd is a NATS server with JetStream in a separate process, for tests that stop or kill it. It writes
// its URL to a file once it is ready, and runs until it is terminated.
package main

import (
	"context"
	"flag"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/carillon-sched/carillon/store/embedded"
)

func main() {
	dir := flag.String("dir", "", "data directory")
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	file := flag.String("ports-file", "", "file that takes the URL")
	flag.Parse()
	if err := run(*dir, *addr, *file); err != nil {
		log.Fatal(err)
	}
}

func run(dir, addr, file string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := embedded.Start(ctx, embedded.Config{Dir: dir, Addr: addr, Logger: slog.Default()})
	if err != nil {
		return err
	}
	defer server.Close()
	if err := os.WriteFile(file+".new", []byte(`{"nats":"`+server.URL()+`"}`), 0o600); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
