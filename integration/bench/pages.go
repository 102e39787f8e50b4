package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"
)

// question is a list that is asked for, page by page.
type question struct {
	name string // of its part
	path string // of its first page, with its parameters
}

// parameters are those of a list.
type parameters map[string]string

// browses is a question for pages of the console's table of jobs.
func browses(name string, p parameters) question {
	values := url.Values{}
	for name, value := range p {
		values.Set(name, value)
	}
	return question{"console: " + name, "/console/jobs?" + values.Encode()}
}

// asks is a question for pages of 100.
func asks(name, path string, p parameters) question {
	values := url.Values{"$top": {"100"}}
	for name, value := range p {
		values.Set(name, value)
	}
	return question{name, path + "?" + values.Encode()}
}

// How many pages of a list are asked for: those that follow the first, and the first again after the last.
const (
	pagesAsked = 100
	pagesSlow  = 10 // where nothing helps to find them
)

// listPage is what is looked at of a page.
type listPage struct {
	Value    []json.RawMessage `json:"value"`
	NextLink string            `json:"nextLink"`
}

// withServing starts a scheduler, with more arguments, and lets use ask its REST API.
func (s *stage) withServing(ctx context.Context, use func(*serving) ([]part, error), args ...string) (parts []part, err error) {
	p, err := startServe(ctx, s.files.carillon, s.dir, s.engine.url, s.key, s.serveArgs(args...)...)
	if err != nil {
		return nil, err
	}
	s.adopt(p.process)
	defer func() {
		s.leave(p.process)
		err = errors.Join(err, p.alive(), p.stop())
	}()
	return use(p)
}

// answer reads an answer of the REST API. An error that is a [*refusal] tells of another status than one of success.
func (s *serving) answer(ctx context.Context, method, address string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = &refusal{method + " " + address, resp.Status, string(data)}
	}
	return data, err
}

// page reads a page of a list.
func (s *serving) page(ctx context.Context, address string) (listPage, error) {
	data, err := s.answer(ctx, http.MethodGet, address, nil)
	if err != nil {
		return listPage{}, err
	}
	if bytes.HasPrefix(data, []byte("<")) {
		return consolePage(data, s.http), nil
	}
	var p listPage
	err = json.Unmarshal(data, &p)
	return p, err
}

// What a page of the console's table of jobs is read by.
var (
	consoleRow    = []byte(`data-job="`)
	consoleBehind = []byte(`data-again="`) // the index has yet to read what was changed
	consoleNext   = regexp.MustCompile(`rel="next" href="([^"]+)"`)
)

// consolePage reads a page of the console's table of jobs.
func consolePage(data []byte, base string) listPage {
	p := listPage{Value: make([]json.RawMessage, bytes.Count(data, consoleRow))}
	if next := consoleNext.FindSubmatch(data); next != nil {
		p.NextLink = base + html.UnescapeString(string(next[1]))
	}
	return p
}

// askAll asks each question by itself, for so many pages. The names of the parts begin with prefix.
func (s *stage) askAll(ctx context.Context, from *serving, prefix string, pages int, questions []question) (parts []part, err error) {
	for _, q := range questions {
		p, err := s.ask(ctx, from, pages, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.name, err)
		}
		p.name = prefix + p.name
		parts = append(parts, p)
		took, _ := p.figures.find("page_p99_ms")
		s.progress.sayf("%s: %.1f ms", p.name, took)
	}
	return parts, nil
}

// ask asks for pages of a list.
func (s *stage) ask(ctx context.Context, from *serving, pages int, q question) (part, error) {
	var took spread
	var first time.Duration
	entries, empty := 0, 0
	spent := s.readCPU()
	for next := ""; len(took) < pages; {
		if next == "" {
			next = from.http + q.path
		}
		began := time.Now()
		p, err := from.page(ctx, next)
		if err != nil {
			return part{}, err
		}
		took = append(took, time.Since(began))
		first = took[0]
		entries += len(p.Value)
		if len(p.Value) == 0 {
			empty++
		}
		next = p.NextLink
	}
	spent = s.readCPU() - spent
	fs := figures{{"page_first_ms", ms(first)}}
	fs = append(fs, took.figures("page_")...)
	return part{q.name, append(fs,
		figure{"page_entries", float64(entries) / float64(pages)},
		figure{"pages_empty", float64(empty)},
		figure{"cpu_ms_per_page", ms(spent) / float64(pages)},
	)}, nil
}
