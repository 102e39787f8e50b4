package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// What the jobs that are searched for are told apart by: one in so many has each value.
const (
	searchTeams  = 100
	searchOrders = 10_000
	searchOff    = 50 // one in so many is disabled
)

// search looks for jobs among many.
func search(ctx context.Context, b *bench) ([]part, error) {
	st, err := b.newStage(ctx)
	if err != nil {
		return nil, err
	}
	defer st.close()
	c := b.distant()
	c.members = searched
	filled, err := st.withSystem(ctx, func(sys *system) (figures, error) {
		took, err := sys.putAll(ctx, st.progress, c, st.sink.url)
		return figures{{"register_s", took.Seconds()}, {"register_per_s", float64(st.n) / took.Seconds()}}, err
	})
	if err != nil {
		return nil, err
	}
	began, spent := time.Now(), st.readCPU()
	return st.withServing(ctx, func(p *serving) ([]part, error) {
		filled = append(filled, figure{"api_s", time.Since(began).Seconds()})
		if err := st.awaitIndex(ctx, p, indexLook, func() (bool, error) { return p.indexed(ctx) }); err != nil {
			return nil, err
		}
		filled = append(filled, figure{"index_s", time.Since(began).Seconds()}, figure{"index_cpu_s", (st.readCPU() - spent).Seconds()})
		live, err := p.heapStats(ctx, "&gc=1")
		if err != nil {
			return nil, err
		}
		filled = append(filled, figure{"worker_heap_bytes_per_job", float64(live["HeapAlloc"]) / float64(st.n)})
		parts, err := st.askAll(ctx, p, "", pagesAsked, searchQuestions(c))
		return append([]part{{partIndex, filled}}, parts...), err
	})
}

// partIndex is the part of a scenario with what comes before the questions.
const partIndex = "index"

// searched are the labels and the state of job i.
func searched(i int) string {
	state := ""
	if i%searchOff == 0 {
		state = `"state":"disabled",`
	}
	return fmt.Sprintf(`%s"labels":{"team":"t%d","order":"o%d"},`, state, i%searchTeams, i%searchOrders)
}

// How long it may take until there is an index, and how often it is looked for.
const (
	indexPatience = 15 * time.Minute
	indexLook     = 100 * time.Millisecond
)

// awaitIndex waits until a scheduler has an index.
func (s *stage) awaitIndex(ctx context.Context, p *serving, look time.Duration, has func() (bool, error)) error {
	s.progress.sayf("waiting for the index")
	for until := time.Now().Add(indexPatience); time.Now().Before(until); {
		there, err := has()
		if err = errors.Join(err, p.alive()); err != nil || there {
			return err
		}
		if err := sleep(ctx, time.Now().Add(look)); err != nil {
			return err
		}
	}
	return fmt.Errorf("there is no index after %s", indexPatience)
}

// indexed reports whether the scheduler has its index of jobs.
func (s *serving) indexed(ctx context.Context) (bool, error) {
	var status struct {
		Indexed bool `json:"indexed"`
	}
	data, err := s.answer(ctx, http.MethodGet, s.http+"/readyz", nil)
	if _, busy := errors.AsType[*refusal](err); busy {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &status)
	}
	return status.Indexed, err
}

// searchQuestions are what is asked of the jobs of a calendar.
func searchQuestions(c calendar) []question {
	const jobs = "/jobs"
	instant := func(part int) string { return c.start(c.jobs * part / 100).Format(time.RFC3339) }
	prefix := c.job(c.jobs - 1).Job
	prefix = prefix[:max(len(prefix)-3, len(c.prefix)+1)] // of a thousand jobs, where there are as many
	text := c.job(c.jobs / 2).Job
	text = text[max(len(text)-3, 0):] // the end of one name in a thousand
	return []question{
		asks("all", jobs, nil),
		asks("all, from the middle", jobs, parameters{"$skiptoken": c.job(c.jobs / 2).String()}),
		asks("all, half skipped", jobs, parameters{"$skip": strconv.Itoa(c.jobs / 2)}),
		asks("label, 1 in 100", jobs, parameters{"labelSelector": "team=t7"}),
		asks("label, 1 in 10,000", jobs, parameters{"labelSelector": "order=o77"}),
		asks("label, none", jobs, parameters{"labelSelector": "team=nobody"}),
		asks("not the label", jobs, parameters{"labelSelector": "team!=t7"}),
		asks("prefix", jobs, parameters{"prefix": prefix}),
		asks("disabled, 1 in 50", jobs, parameters{"$filter": "state eq Disabled"}),
		asks("enabled", jobs, parameters{"$filter": "state eq Enabled"}),
		asks("faulted, none", jobs, parameters{"$filter": "state eq Faulted"}),
		asks("next runs, 1 in 2", jobs, parameters{"nextAfter": instant(50)}),
		asks("next runs, 1 in 100", jobs, parameters{"nextAfter": instant(50), "nextBefore": instant(51)}),
		asks("label and next run", jobs, parameters{"labelSelector": "team=t7", "nextAfter": instant(50), "nextBefore": instant(51)}),
		asks("label, state and prefix", jobs, parameters{
			"labelSelector": "team in (t0, t50)", "$filter": "state eq Disabled", "prefix": c.prefix + "9",
		}),
		asks("label, half skipped", jobs, parameters{"labelSelector": "team=t7", "$skip": strconv.Itoa(c.jobs / searchTeams / 2)}),
		browses("all, by name", nil),
		browses("all, by name, descending", parameters{"order": "descending"}),
		browses("all, by next run", parameters{"sort": "next"}),
		browses("all, by last run, descending", parameters{"sort": "last", "order": "descending"}),
		browses("text in a name, 1 in 1,000", parameters{"q": strings.ToUpper(text)}),
		browses("text in a label, 1 in 10,000", parameters{"q": "ORDER=O77"}),
		browses("text nowhere", parameters{"q": "nowhere"}),
		browses("label, by next run", parameters{"label": "team=t7", "sort": "next"}),
		browses("never ran, by next run", parameters{"outcome": "never", "sort": "next", "order": "descending"}),
		browses("disabled, text", parameters{"state": "disabled", "q": "t50"}),
	}
}
