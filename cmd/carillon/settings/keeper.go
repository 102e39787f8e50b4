package settings

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"
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

	// Seen is what [Look] found before the settings were read with which the process has started: what has changed since
	// then is not missed.
	Seen string

	// Every is how often the file is looked at.
	Every time.Duration

	// Again has the settings read without a look at what has changed, and everything else that is in files.
	Again <-chan os.Signal

	// Read reads and checks all settings as a start does. take makes those count that are live.
	Read func(ctx context.Context) (next Set, take func() error, err error)

	// Logger takes what has changed, and what is wrong.
	Logger *slog.Logger
}

// Keeper keeps the live settings of a process as its file says.
type Keeper struct {
	cfg     Config
	started Set // those that need a restart are as these
	now     Set // those that are live are as these
	pending []string
	exposed []string
	seen    string // what was in the file when it was last looked at
	state   atomic.Pointer[State]
}

// State is what became of the file's last change.
type State struct {
	Refused bool      // it could not be used; the settings before it count
	Read    time.Time // when the settings were last read that count
	Pending int       // how many settings have changed that need a restart
}

// New returns a keeper of the settings that a process has started with.
func New(started Set, cfg Config) *Keeper {
	k := &Keeper{cfg: cfg, started: started, now: started, seen: cfg.Seen}
	k.state.Store(&State{Read: time.Now()})
	return k
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

// Look returns what is in a file, or why that cannot be read, for comparisons.
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
		select {
		case <-time.After(settle):
		case <-ctx.Done():
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

// read takes over what the settings are now, or none of it. A problem repeats no value that may be a password.
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
		k.state.Store(&State{Refused: true, Read: before.Read, Pending: before.Pending})
		return
	}
	changed := k.now.Changed(next, true)
	k.now = next
	k.warn(next)
	pending := k.started.Changed(next, false)
	k.state.Store(&State{Read: time.Now(), Pending: len(pending)})
	log := k.cfg.Logger
	switch {
	case len(changed) > 0:
		log.Info("settings have changed", "settings", changed)
	case before.Refused:
		log.Info("settings are in order again; none has changed")
	case asked && slices.Equal(pending, k.pending):
		log.Info("settings were read again; none has changed")
	}
	if len(pending) > 0 && !slices.Equal(pending, k.pending) {
		log.Warn("settings have changed that count after a restart only", "settings", pending)
	}
	k.pending = pending
}

// warn tells of passwords that others may read, once.
func (k *Keeper) warn(set Set) {
	exposed := set.Exposed()
	if len(exposed) > 0 && !slices.Equal(exposed, k.exposed) {
		k.cfg.Logger.Warn(Exposure, "file", k.cfg.Path, "settings", exposed, "hint", "chmod o-r "+k.cfg.Path)
	}
	k.exposed = exposed
}

// complain logs all that is wrong.
func (k *Keeper) complain(err error) {
	k.cfg.Logger.Error("changed settings cannot be used; those before stay in use")
	problems, ok := errors.AsType[Problems](err)
	if !ok {
		for _, one := range each(err) {
			k.cfg.Logger.Error("setting", "err", one.Error())
		}
		return
	}
	for _, p := range problems {
		k.cfg.Logger.Error("setting", "at", p.Place(), "err", p.Message)
	}
}
