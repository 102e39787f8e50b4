package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The jobs of examples/compose/jobs, their intervals, and whether the consumer prints a message's occurrence:
// storage queues assign their own message ids, and core NATS delivers only to current subscribers.
var (
	jobs   = map[string]bool{"http": true, "service-bus-queue": true, "service-bus-topic": true, "storage-queue": false, "nats": false}
	period = 10 * time.Second
)

// api is where the first scheduler of the stack answers.
const api = "http://127.0.0.1:" + port

// record is a history record.
type record struct {
	Due        time.Time `json:"expectedExecutionTime"`
	Start      time.Time `json:"startTime"`
	Status     string    `json:"status"`
	Occurrence string    `json:"occurrence"`
}

// compare checks that each occurrence of each job ran and, where the consumer can observe it, arrived.
func (r *run) compare(ctx context.Context, seen *seen) error {
	r.say("compare the history with what arrived")
	var problems []error
	for job, told := range jobs {
		records, err := history(ctx, job)
		if err != nil {
			return err
		}
		if lost := gaps(records); len(lost) > 0 {
			problems = append(problems, fmt.Errorf("%s: no completed run for %s", job, strings.Join(lost, ", ")))
		}
		for _, rec := range records {
			r.figures.Occurrences++
			if rec.Status != "Completed" {
				continue
			}
			r.figures.LatestSeconds = max(r.figures.LatestSeconds, rec.Start.Sub(rec.Due).Seconds())
		}
		if told {
			problems = append(problems, r.arrived(ctx, seen, records))
		}
	}
	return errors.Join(problems...)
}

// arrived makes sure that the consumer printed each occurrence that has completed.
func (r *run) arrived(ctx context.Context, seen *seen, records []record) error {
	var completed []string
	for _, rec := range records {
		if rec.Status == "Completed" {
			completed = append(completed, rec.Occurrence)
		}
	}
	err := seen.waitFor(ctx, completed)
	for _, occurrence := range completed {
		r.figures.Repeated += max(seen.counts()[occurrence]-1, 0)
	}
	return err
}

// gaps returns the times between the first and the last record at which a job was due and has no completed run.
func gaps(records []record) (lost []string) {
	done := map[time.Time]bool{}
	var due []time.Time
	for _, r := range records {
		at := r.Due.UTC()
		due = append(due, at)
		done[at] = done[at] || r.Status == "Completed"
	}
	if len(due) == 0 {
		return []string{"any time"}
	}
	for at, last := slices.MinFunc(due, time.Time.Compare), slices.MaxFunc(due, time.Time.Compare); !at.After(last); at = at.Add(period) {
		if !done[at] {
			lost = append(lost, at.Format(time.TimeOnly))
		}
	}
	return lost
}

// history returns the records of a job.
func history(ctx context.Context, job string) (records []record, err error) {
	next := "/jobCollections/default/jobs/" + job + "/history?$top=100"
	for next != "" {
		var page struct {
			Value []struct {
				Properties record `json:"properties"`
			} `json:"value"`
			NextLink string `json:"nextLink"`
		}
		if err := get(ctx, api+strings.TrimPrefix(next, api), &page); err != nil {
			return nil, err
		}
		for _, v := range page.Value {
			records = append(records, v.Properties)
		}
		next = page.NextLink
	}
	return records, nil
}

// get reads a JSON document.
func get(ctx context.Context, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}
