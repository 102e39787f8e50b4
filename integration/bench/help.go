package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// writeHelp explains the scenarios, the flags and the figures.
func writeHelp(w io.Writer) {
	fmt.Fprint(w, `bench measures Carillon: NATS server, scheduler, load and HTTP sink in one process or, with -shape processes, each in
a process of its own, as users run them. Then nats-server and carillon are built of this source, once for a command,
jobs are put through the API on NATS, and processor time and memory are told of each.

usage: go run ./integration/bench -scenario NAME -n N [flags]

    go run ./integration/bench -scenario herd -shape processes -runs 3
    go run ./integration/bench -scenario profile -n 20000 -profiles /tmp/profiles
    go tool pprof -top /tmp/profiles/carillon-server.cpu.pb.gz

Scenarios:
`)
	for _, s := range scenarios {
		fmt.Fprintf(w, "\n  %s", s.name)
		if s.n > 0 {
			fmt.Fprintf(w, " (-n %d unless given)", s.n)
		}
		fmt.Fprintf(w, "\n    %s\n", strings.ReplaceAll(s.about, "\n", "\n    "))
	}
	fmt.Fprint(w, "\nFlags:\n\n")
	var o options
	f := o.flags()
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprint(w, "\nFigures:\n\n")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, t := range glossary {
		fmt.Fprintf(tw, "  %s\t%s\n", t.name, t.meaning)
	}
	_ = tw.Flush()
	fmt.Fprint(w, `
The exit status is 0 when all went well, 1 when something was lost, early, stray, unsettled, rejected, not answered or found by
the audit, or went wrong, and 2 for a wrong command line.
`)
}
