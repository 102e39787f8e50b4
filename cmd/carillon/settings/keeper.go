package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Every is how often the file is looked at, and settle how long its content must stay the same before it counts: an
// editor may still be writing.
const (
	Every  = 5 * time.Second
	settle = 250 * time.Millisecond
)

// Config says what a [Keeper] keeps. All but Path is required.
type Config struct {
	// Path is the file. Default: none; only Again has the settings read then.
	Path string

	// Seen is the result of [Look] from before the settings of the start were read, so that no later change is
	// missed.
	Seen string

	// Every is how often the file is looked at.
	Every time.Duration

	// Again triggers a reload of the settings and all other files, changed or not.
	Again <-chan os.Signal

	// Read reads and checks all settings as a start does. take makes those count that are live.
	Read func(ctx context.Context) (next Set, take func() error, err error)

	// Logger receives changes and problems.
	Logger *slog.Logger
}

// Keeper keeps the live settings of a process as its file says.
type Keeper struct {
	cfg     Config
	started Set // those that need a restart are as these
	now     Set // those that are live are as these
	pending []string
	exposed []string
	seen    string // content of the file at the last check
	state   atomic.Pointer[State]
}

// State is what became of the file's last change.
type State struct {
	Refused bool      // it could not be used; the settings before it count
	Read    time.Time // when the settings were last read that count
	Pending int       // how many settings have changed that need a restart
	Rows    []Row     // the settings that count
}

// New returns a keeper of the settings that a process has started with.
func New(started Set, cfg Config) *Keeper {
	k := &Keeper{cfg: cfg, started: started, now: started, seen: cfg.Seen}
	k.state.Store(&State{Read: time.Now(), Rows: k.rows()})
	return k
}

// rows returns the settings that count: the live ones as they are now, the others as at the start.
func (k *Keeper) rows() []Row {
	rows, now := k.started.Rows(), k.now.Rows()
	for i := range rows {
		if rows[i].Live {
			rows[i] = now[i]
		}
	}
	return rows
}

// State says what became of the last change.
func (k *Keeper) State() State { return *k.state.Load() }

// Run looks at the file again and again until ctx is done.
func (k *Keeper) Run(ctx context.Context) {
	k.warn(k.started)
	var look <-chan time.Time
	if k.cfg.Path != "" {
		tick := time.NewTicker(k.cfg.Every)
		defer tick.Stop()
		look = tick.C
	}
	for {
		select {
		case <-look:
			if k.changed(ctx) {
				k.read(ctx, false)
			}
		case <-k.cfg.Again:
			k.seen = Look(k.cfg.Path)
			k.read(ctx, true)
		case <-ctx.Done():
			return
		}
	}
}

// Look returns the content of a file, or its error, for comparisons.
func Look(path string) string {
	if path == "" {
		return ""
	}
	data, err := load(path)
	if err != nil {
		return "\x00" + err.Error() // which no text begins with
	}
	return string(data)
}

// changed reports whether there is something else in the file than before, once it has settled.
func (k *Keeper) changed(ctx context.Context) bool {
	found := Look(k.cfg.Path)
	if found == k.seen {
		return false
	}
	for {
		if !flow.Pause(ctx, settle) {
			return false
		}
		again := Look(k.cfg.Path)
		if again == found {
			break
		}
		found = again
	}
	changed := found != k.seen
	k.seen = found
	return changed
}

// read applies all current settings, or none. Problems contain no value that may be a password.
func (k *Keeper) read(ctx context.Context, asked bool) {
	next, take, err := k.cfg.Read(ctx)
	before := k.State()
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		err = take()
	}
	if err != nil {
		k.complain(err)
		k.state.Store(&State{Refused: true, Read: before.Read, Pending: before.Pending, Rows: before.Rows})
		return
	}
	changed := k.now.Changed(next, true)
	k.now = next
	k.warn(next)
	pending := k.started.Changed(next, false)
	k.state.Store(&State{Read: time.Now(), Pending: len(pending), Rows: k.rows()})
	log := k.cfg.Logger
	switch {
	case len(changed) > 0:
		log.Info("settings have changed", "settings", changed)
	case before.Refused:
		log.Info("settings are valid again; none changed")
	case asked && slices.Equal(pending, k.pending):
		log.Info("settings reloaded; none changed")
	}
	if len(pending) > 0 && !slices.Equal(pending, k.pending) {
		log.Warn("changed settings need a restart", "settings", pending)
	}
	k.pending = pending
}

// warn logs, once, passwords that other users can read.
func (k *Keeper) warn(set Set) {
	exposed := set.Exposed()
	if len(exposed) > 0 && !slices.Equal(exposed, k.exposed) {
		k.cfg.Logger.Warn(Exposure, "file", k.cfg.Path, "settings", exposed, "hint", "chmod o-r "+k.cfg.Path)
	}
	k.exposed = exposed
}

// complain logs all that is wrong.
func (k *Keeper) complain(err error) {
	k.cfg.Logger.Error("changed settings are invalid; keeping the previous ones")
	problems, ok := errors.AsType[Problems](err)
	if !ok {
		for _, one := range terminal.Split(err) {
			k.cfg.Logger.Error("setting", "err", one.Error())
		}
		return
	}
	for _, p := range problems {
		k.cfg.Logger.Error("setting", "at", p.Place(), "err", p.Message)
	}
}

// Apply sets the flags of a parsed command from a file, unless the command line or the environment sets them,
// and calls check, whose errors begin with their flag. An empty path means no file. The error is [Problems] if
// the file has a problem, else that of check.
func Apply(command *kong.Context, path string, lookup func(string) (string, bool), check func() error) (Set, error) {
	f := &file{path: path}
	if path != "" {
		if f = read(path); f.problems != nil {
			return nil, f.problems
		}
	}
	typed := map[*kong.Flag]bool{}
	for _, step := range command.Path {
		typed[step.Flag] = true
	}
	flags := Flags(command.Selected())
	set := make(Set, len(flags))
	for i, flag := range flags {
		set[i] = Setting{Name: flag.Name, flag: flag, Origin: given(flag, typed, lookup)}
		value, ok := f.take(flag.Name)
		if !ok {
			continue
		}
		read, err := decode(flag, value)
		switch {
		case err != nil:
			f.problem(flag.Name, err.Error())
		case set[i].Origin == Origin{}:
			flag.Target.Set(read)
			set[i].Origin.File = path
			set[i].Origin.Line, set[i].Origin.column = f.place(flag.Name)
		}
	}
	misread := f.problems
	f.unknown(flags)
	var wrong []error
	for _, err := range terminal.Split(check()) {
		if !misread.about(err) { // it would say what follows from that
			wrong = append(wrong, err)
		}
	}
	return set, set.located(f.problems, wrong)
}

// given returns the source of a parsed flag's value, ignoring the file.
func given(flag *kong.Flag, typed map[*kong.Flag]bool, lookup func(string) (string, bool)) Origin {
	if typed[flag] {
		return Origin{Flag: true}
	}
	for _, name := range flag.Tag.Envs {
		if _, ok := lookup(name); ok {
			return Origin{Variable: name}
		}
	}
	return Origin{}
}

// Problems are all that is wrong with settings.
type Problems []jobfile.Problem

// Setting is one of a command's flags, with its value and where that comes from.
type Setting struct {
	Name   string
	Origin Origin

	flag *kong.Flag
}

// Origin is where a value comes from: the command line, a variable, a line of a file, or, if none of these has it, the
// default.
type Origin struct {
	Flag     bool
	Variable string // its name
	File     string
	Line     int // from 1; 0: not in a file

	column int
}

// String returns it as people read it.
func (o Origin) String() string {
	switch {
	case o.Flag:
		return "flag"
	case o.Variable != "":
		return "variable " + o.Variable
	case o.Line > 0:
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	return "default"
}

// Set is all settings of a command, in the order in which its help has them.
type Set []Setting

// Flags are the flags of a command that are settings.
func Flags(command *kong.Node) (all []*kong.Flag) {
	for _, flag := range command.Flags {
		if flag.Name != "help" && flag.Tag.Get("setting") != "-" {
			all = append(all, flag)
		}
	}
	return all
}

// Live reports whether the setting counts without a restart.
func (s Setting) Live() bool { return s.flag.Tag.Has("live") }

func (s Setting) value() any { return s.flag.Target.Interface() }

// Changed returns the names of those settings of a command whose values are others in next.
func (s Set) Changed(next Set, live bool) (names []string) {
	for i, one := range s {
		if one.Live() == live && !reflect.DeepEqual(one.value(), next[i].value()) {
			names = append(names, one.Name)
		}
	}
	return names
}

// maxFile is more than any settings take.
const maxFile = 1 << 20

// load returns the content of a file. It refuses pipes, because a file is read repeatedly and must not block.
func load(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		err = errors.New("is a folder")
	case !info.Mode().IsRegular():
		err = errors.New("is a pipe or a device; settings are read again and again, from a file")
	case info.Size() > maxFile:
		err = fmt.Errorf("has %d bytes; settings have at most %d", info.Size(), maxFile)
	default:
		return os.ReadFile(path)
	}
	return nil, &fs.PathError{Op: "read", Path: path, Err: err}
}

// othersRead is the permission of every user of the machine to read a file.
const othersRead fs.FileMode = 0o004

// Exposed returns the settings with a password in a file that every user of the machine can read; [Set.Rows]
// says which values count as passwords.
func (s Set) Exposed() (names []string) {
	for _, one := range s {
		if one.Origin.Line == 0 || !one.secret() {
			continue
		}
		if info, err := os.Stat(one.Origin.File); err == nil && info.Mode()&othersRead != 0 && runtime.GOOS != "windows" {
			names = append(names, one.Name)
		}
	}
	return names
}

// Exposure is the warning about a password in a file that others can read.
const Exposure = "every user of this machine can read a password in the file of settings"

// secret reports whether a value has a part that is not shown.
func (s Setting) secret() bool {
	hides := func(text string) bool { return masked(s.flag, text) != text }
	switch v := s.value().(type) {
	case string:
		return hides(v)
	case []string:
		return slices.ContainsFunc(v, hides)
	case map[string]string:
		for _, text := range v {
			if hides(text) {
				return true
			}
		}
	}
	return false
}
