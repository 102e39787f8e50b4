package rest

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/ical"
)

// The refresh interval for calendar programs, and the lifetime of an answer.
const (
	calendarRefresh = time.Hour
	calendarAge     = "private, max-age=300"
)

// runs answers with the upcoming runs of a job, a collection or all jobs, as a calendar.
func (a *server) runs(w http.ResponseWriter, r *http.Request) error {
	asked, err := read(askingOf(r.Context()).operation, r, false)
	if err != nil {
		return err
	}
	q := control.RunsQuery{Key: asked.Key, Sees: auth.Sees(r.Context()), Days: asked.Number("days"), Most: asked.Number("max")}
	runs, err := a.Service.Runs(r.Context(), q)
	if err != nil {
		return err
	}
	body := calendarOf(r, q.Key, runs)
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body)))
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", calendarAge)
	if match := r.Header.Get("If-None-Match"); match == "*" || match != "" && strings.Contains(match, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write([]byte(body))
	return nil
}

// calendarOf returns a calendar of runs. It changes only when a run changes or has ended.
func calendarOf(r *http.Request, k scheduler.Key, runs []control.Run) string {
	feed := ical.Feed{Name: "Carillon", Product: "carillon", Refresh: calendarRefresh}
	switch {
	case k.Job != "":
		feed.Name = k.String()
	case k.Collection != "":
		feed.Name = k.Collection
	}
	for i := range runs {
		j := runs[i].Job
		zone := j.Plan.Zone()
		text := j.Schedule()
		if j.Def.Description != "" {
			text = j.Def.Description + "\n" + text
		}
		text += "\n" + runs[i].Due.In(zone).Format("2006-01-02 15:04:05 MST") + ", " + zone.String()
		feed.Events = append(feed.Events, ical.Event{
			Identity: j.UID + " " + scheduler.OccurrenceID(j.Key, runs[i].Nominal), Name: j.Key.String(), Description: text,
			URL: jobURL(r, j.Key), Stamp: j.Updated, At: runs[i].Due,
		})
	}
	return feed.String()
}

// jobURL returns the URL of a job.
func jobURL(r *http.Request, k scheduler.Key) string {
	return here(r, "/jobCollections/"+k.Collection+"/jobs/"+k.Job)
}
