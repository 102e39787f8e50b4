package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A column is a client in the table.
type column struct {
	client, version string
	cells           map[string]result // by operation; "" is the whole client
}

// columns groups results by client.
func columns(results []result) []*column {
	var all []*column
	for _, r := range results {
		i := slices.IndexFunc(all, func(c *column) bool { return c.client == r.Client })
		if i < 0 {
			i = len(all)
			all = append(all, &column{client: r.Client, cells: make(map[string]result)})
		}
		if r.Version != "" {
			all[i].version = r.Version
		}
		all[i].cells[r.Operation] = r
	}
	return all
}

// has reports whether the client reports one of the operations.
func (c *column) has(operations []string) bool {
	return slices.ContainsFunc(operations, func(operation string) bool { _, ok := c.cells[operation]; return ok })
}

// printTable prints a table per service, then failures, skipped clients and counts. It reports whether nothing
// failed.
func printTable(w io.Writer, results []result) (ok bool) {
	all := columns(results)
	printService(w, "Service Bus", serviceBus, all)
	printService(w, "Storage queues", storageQueue, all)
	printService(w, "Scheduler", azureScheduler, all)
	printService(w, "Events on NATS", natsEvents, all)
	printSends(w, results)
	counts := make(map[string]int)
	printReasons(w, "FAIL", fail, results, counts)
	printReasons(w, "NOT RUN", notRun, results, counts)
	for _, r := range results {
		if r.Result == pass {
			counts[pass]++
		}
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d not run\n", counts[pass], counts[fail], counts[notRun])
	return counts[fail] == 0
}

// printService prints the table of a service, with a letter for each client that has an operation of it.
func printService(w io.Writer, title string, operations []string, all []*column) {
	var some []*column
	for _, c := range all {
		if c.has(operations) {
			some = append(some, c)
		}
	}
	if len(some) == 0 {
		return
	}
	fmt.Fprintf(w, "%s\n\n", title)
	letters := []string{fmt.Sprintf("%-28s", "")}
	for i, c := range some {
		fmt.Fprintf(w, "  %s  %s %s\n", letter(i), c.client, strings.TrimSpace("("+c.version+")"))
		letters = append(letters, fmt.Sprintf("%-5s", letter(i)))
	}
	fmt.Fprintf(w, "\n%s\n", strings.TrimRight(strings.Join(letters, ""), " "))
	for _, operation := range operations {
		row := []string{fmt.Sprintf("%-28s", operation)}
		for _, c := range some {
			row = append(row, fmt.Sprintf("%-5s", c.cell(operation)))
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(row, ""), " "))
	}
	fmt.Fprintf(w, "\nok: passed   FAIL: failed   n/r: NOT RUN   . : the client or its suite does not have it\n\n")
}

func (c *column) cell(operation string) string {
	switch r, ok := c.cells[operation]; {
	case !ok:
		return "."
	case r.Result == pass:
		return "ok"
	case r.Result == fail:
		return "FAIL"
	default:
		return "n/r"
	}
}

// printSends prints how fast messages went one after the other.
func printSends(w io.Writer, results []result) {
	title := "Milliseconds from a message to the next, sent one after the other\n\n"
	for _, r := range results {
		if r.MillisPerSend > 0 {
			fmt.Fprintf(w, "%s%8.2f  %s: %s\n", title, r.MillisPerSend, r.Client, r.Operation)
			title = ""
		}
	}
	if title == "" {
		fmt.Fprintln(w)
	}
}

// printReasons prints and counts the results of a kind.
func printReasons(w io.Writer, title, kind string, results []result, counts map[string]int) {
	for _, r := range results {
		if r.Result != kind {
			continue
		}
		counts[kind]++
		what := r.Client
		if r.Operation != "" {
			what += ": " + r.Operation
		}
		fmt.Fprintf(w, "%s %s: %s\n", title, what, r.Error)
	}
	if counts[kind] > 0 {
		fmt.Fprintln(w)
	}
}

// letter names a column: a to z, then A and on.
func letter(i int) string { return "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[i : i+1] }
