package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// report tells what became of job files. problems are of files whose jobs were
// not put.
func report(t *terminal.Terminal, problems []jobfile.Problem, results []jobfile.Result) error {
	for _, r := range results {
		problems = append(problems, r.Problems...)
	}
	if err := firstUnavailable(problems); err != nil {
		return err
	}
	problems = onePerCollection(problems)
	for _, r := range results {
		if !t.JSON {
			printResult(t, r)
			warn(t, r)
		}
	}
	return terminal.Hinted(jobfile.Report(t, problems), applyHint(problems))
}

// warn tells of a job what its writer might not expect.
func warn(t *terminal.Terminal, r jobfile.Result) {
	for _, w := range r.Warned {
		t.Complain("warning", w.String())
	}
}

func printResult(t *terminal.Terminal, r jobfile.Result) {
	if r.Result == "" {
		return
	}
	line := fmt.Sprintf("%-9s %s", r.Result, r.Job.Name())
	if r.After != nil {
		line += " (dry run)"
	}
	if r.Over != "" {
		line += ": " + t.Paint(terminal.Yellow, r.Over)
	}
	t.Printf("%s\n", line)
	if r.After == nil {
		return
	}
	colours := map[byte]string{'+': terminal.Green, '-': terminal.Red, '~': terminal.Dim}
	lines := jobfile.Diff(r.Before, r.After)
	if len(lines) == 0 && r.Result == view.Updated {
		lines = []jobfile.Line{{Mark: '~', Text: "secrets, which are not shown"}}
	}
	for _, l := range lines {
		t.Printf("    %s\n", t.Paint(colours[l.Mark], strings.TrimRight(string(l.Mark)+" "+l.Text, " ")))
	}
	if r.DryRun == nil {
		return
	}
	for i, at := range r.DryRun.NextRuns[:min(len(r.DryRun.NextRuns), rehearsed)] {
		label := "          "
		if i == 0 {
			label = "next runs "
		}
		t.Printf("    %s%s\n", label, t.Time(at, terminal.Dated))
	}
	for _, note := range r.DryRun.Notes {
		t.Printf("    %s %s\n", t.Paint(terminal.Yellow, "note:"), note)
	}
}

// rehearsed is how many of the next runs people are shown of each job.
const rehearsed = 5

// applied is what became of a job, for programs.
type applied struct {
	Job      string          `json:"job"` // or "collection NAME"
	File     string          `json:"file"`
	Result   view.Result     `json:"result"`
	Message  string          `json:"message,omitempty"` // of a job at its end
	Warnings []spec.Warning  `json:"warnings,omitempty"`
	Before   json.RawMessage `json:"before,omitempty"` // of a dry run, as below: the properties as they are
	After    json.RawMessage `json:"after,omitempty"`  // and as they would be
	DryRun   *view.DryRun    `json:"dryRun,omitempty"`
}

func printResults(t *terminal.Terminal, results []jobfile.Result, problems []jobfile.Problem) error {
	jobs, all := appliedOf(results, problems)
	return t.PrintJSON(map[string]any{"jobs": jobs, "problems": all})
}

// appliedOf returns the jobs that were put, and all problems.
func appliedOf(results []jobfile.Result, problems []jobfile.Problem) (jobs []applied, all []jobfile.Problem) {
	jobs, all = []applied{}, append([]jobfile.Problem{}, problems...)
	for _, r := range results {
		all = append(all, r.Problems...)
		if r.Result != "" {
			jobs = append(jobs, applied{
				r.Job.Name(), r.Job.File, r.Result, r.Over, r.Warnings, r.Before, r.After, r.DryRun,
			})
		}
	}
	return jobs, all
}

// firstUnavailable returns the first error that is no fault of a file: one
// message is enough for all jobs.
func firstUnavailable(problems []jobfile.Problem) error {
	for _, p := range problems {
		if errors.Is(p.Cause, scheduler.ErrUnavailable) || errors.Is(p.Cause, context.Canceled) {
			return p.Cause
		}
	}
	return nil
}

// onePerCollection keeps the first of the problems about a collection that does not exist, and says how many jobs share it.
func onePerCollection(problems []jobfile.Problem) []jobfile.Problem {
	var kept []jobfile.Problem
	first, jobs := map[string]int{}, map[string]int{}
	for _, p := range problems {
		collection, _, _ := strings.Cut(p.Job, "/")
		if !errors.Is(p.Cause, scheduler.ErrNotFound) || !strings.HasPrefix(p.Message, "collection ") {
			kept = append(kept, p)
			continue
		}
		jobs[collection]++
		if jobs[collection] == 1 {
			first[collection] = len(kept)
			kept = append(kept, p)
		}
	}
	for collection, i := range first {
		if n := jobs[collection]; n > 1 {
			kept[i].Message += fmt.Sprintf(" (%d jobs are for it)", n)
		}
	}
	return kept
}

// nearFile returns the file beside one that is not there which was probably meant, or "".
func nearFile(file string) string {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if near := document.Nearest(filepath.Base(file), names); near != "" {
		return filepath.Join(filepath.Dir(file), near)
	}
	return ""
}

// applyHint says what to do about the most frequent mistake.
func applyHint(problems []jobfile.Problem) string {
	for _, p := range problems {
		switch {
		case echoHint(p) != "":
			return echoHint(p)
		case errors.Is(p.Cause, scheduler.ErrNotFound):
			collection, _, _ := strings.Cut(p.Job, "/")
			return fmt.Sprintf("create the collection first: %q", "carillon collection create "+collection)
		case (strings.HasSuffix(p.Path, ".sasToken") || strings.HasSuffix(p.Path, ".sasKey")) && p.Message == "is required":
			member := p.Path[strings.LastIndexByte(p.Path, '.')+1:]
			return fmt.Sprintf("keep it as a secret, with %q, and write %s: {secretRef: NAME}", "carillon secrets set NAME", member)
		case errors.Is(p.Cause, fs.ErrNotExist) && nearFile(p.File) != "":
			return "did you mean " + nearFile(p.File) + "?"
		}
	}
	return "mend the files and apply again; what is in order already stays as it is"
}
