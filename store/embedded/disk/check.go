package disk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server"
)

// The names of the server's files.
const (
	streamsPattern = "jetstream/*/streams/*" // below the data directory
	settingsName   = "meta.inf"
	settingsSum    = "meta.sum"
	settingsKey    = "meta.key"
	messagesDir    = "msgs"
	consumersDir   = "obs"
	consumerState  = "o.dat"
	blockSuffix    = ".blk"
	indexName      = "index.db"
	schedulesName  = "sched.db"
	expiriesName   = "thw.db"
)

// keptDir is the folder below the data directory that has damaged files as they were.
const keptDir = "damaged"

// Check looks through the data directory of a server that does not run, mends what it
// can, and returns what was wrong. It reads all of it, about a gigabyte a second. The
// error is that of a file that cannot be read or written.
func Check(ctx context.Context, dir string) ([]Damage, error) {
	streams, err := glob(dir, streamsPattern)
	if err != nil {
		return nil, err
	}
	c := &checker{dir: dir, kept: filepath.Join(keptDir, time.Now().UTC().Format("20060102T150405.000Z"))}
	left, err := unseal(dir)
	if err != nil {
		return nil, err
	}
	c.sums = left.Sums
	for _, path := range left.Streams {
		if !slices.Contains(streams, path) && !strings.HasPrefix(filepath.Base(path), ".") {
			err := c.tell(filepath.Base(path), filepath.Join(dir, filepath.FromSlash(path)),
				"it is missing: unless somebody has deleted the stream, all of it is lost", nil)
			if err != nil {
				return c.found, err
			}
		}
	}
	for _, path := range streams {
		name := filepath.Base(path)
		if strings.HasPrefix(name, ".") { // being deleted
			continue
		}
		if err := c.stream(ctx, name, filepath.Join(dir, filepath.FromSlash(path))); err != nil {
			return c.found, err
		}
	}
	return c.found, nil
}

// checker is one check.
type checker struct {
	dir   string
	kept  string // below dir
	sums  map[string]string
	found []Damage
	named uint64 // messages that were told of at the end of the last block that was looked at
}

func (c *checker) below(path string) string {
	rel, err := filepath.Rel(c.dir, path)
	if err != nil {
		return path
	}
	return rel
}

// tell notes a damage. What is at the path goes to where it is kept, unless the
// problem is that it is not there.
func (c *checker) tell(stream, path, problem string, messages []string) error {
	kept, err := c.keep(stream, path)
	if err != nil {
		return err
	}
	d := Damage{Stream: stream, File: c.below(path), Problem: problem, Messages: messages, Kept: kept}
	c.found = append(c.found, d)
	return nil
}

// keep copies a file to where it is kept, and returns that; "" when there is none.
func (c *checker) keep(stream, path string) (string, error) {
	kept := filepath.Join(c.dir, c.kept, stream, filepath.Base(path))
	if filepath.Base(path) == consumerState {
		kept = filepath.Join(filepath.Dir(kept), filepath.Base(filepath.Dir(path))+"-"+consumerState)
	}
	data, err := os.ReadFile(path)
	info, failed := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), failed == nil && info.IsDir():
		return "", nil
	case err != nil:
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return "", err
	}
	return c.below(kept), os.WriteFile(kept, data, 0o600)
}

// stream checks one stream.
func (c *checker) stream(ctx context.Context, name, path string) error {
	if _, err := os.Stat(filepath.Join(path, settingsKey)); err == nil {
		return nil // encrypted
	}
	queue := isQueue(filepath.Join(path, settingsName))
	if err := c.settings(name, path); err != nil {
		return err
	}
	if err := c.states(name, path); err != nil {
		return err
	}
	before := len(c.found)
	if err := c.blocks(ctx, name, path); err != nil || !queue || len(c.found) == before {
		return err
	}
	return c.restartConsumers(name, path)
}

// isQueue reports whether the settings in a file are those of a stream that removes what is acknowledged. In doubt it is.
func isQueue(file string) bool {
	var settings struct {
		Retention server.RetentionPolicy `json:"retention"`
	}
	data, err := os.ReadFile(file)
	return err != nil || json.Unmarshal(data, &settings) != nil || settings.Retention == server.WorkQueuePolicy
}

// restartConsumers has the consumers of a queue begin anew whose messages are damaged. A message that was acknowledged and
// removed may be back, or one has a sequence that was given before: a consumer that believes itself past these would never
// deliver them, and whoever waits for them would wait for ever.
func (c *checker) restartConsumers(name, path string) error {
	consumers, err := filepath.Glob(filepath.Join(path, consumersDir, "*", consumerState))
	for _, file := range consumers {
		if err == nil {
			_, err = c.keep(name, file)
		}
		if err == nil {
			err = os.Remove(file)
		}
	}
	if len(consumers) > 0 {
		c.found[len(c.found)-1].Problem += "; the consumers of the stream begin anew, with all that is there"
	}
	return err
}

// settings checks the settings of a stream.
func (c *checker) settings(name, path string) error {
	file := filepath.Join(path, settingsName)
	data, err := os.ReadFile(file)
	want, failed := os.ReadFile(filepath.Join(path, settingsSum))
	if err == nil && failed == nil {
		key := sha256.Sum256([]byte(name))
		sum, err := highwayhash.New64(key[:])
		if err != nil {
			return err
		}
		sum.Write(data)
		if hex.EncodeToString(sum.Sum(nil)) == string(want) && json.Valid(data) {
			return nil
		}
	}
	err = c.tell(name, file, "the settings of the stream cannot be read; it is made anew, with the messages that are there", nil)
	for _, left := range []string{file, filepath.Join(path, settingsSum)} { // the server would take what is there for its own
		if failed := os.Remove(left); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// states checks the files that the server believes without a checksum.
func (c *checker) states(name, path string) error {
	for _, file := range []string{filepath.Join(path, messagesDir, schedulesName), filepath.Join(path, messagesDir, expiriesName)} {
		if err := c.state(name, file, "it was changed since the server stopped; it is made anew from the messages", true); err != nil {
			return err
		}
	}
	consumers, err := filepath.Glob(filepath.Join(path, consumersDir, "*", consumerState))
	if err != nil {
		return err
	}
	for _, file := range consumers {
		problem := "where a consumer is was changed since the server stopped; it begins anew with all messages that are there"
		if err := c.state(name, file, problem, false); err != nil {
			return err
		}
	}
	return nil
}

// state removes a file that is not as it was when the server stopped. One of which
// that is not known goes, too, if it can be derived.
func (c *checker) state(stream, file, problem string, derived bool) error {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	want, known := c.sums[filepath.ToSlash(c.below(file))]
	switch {
	case known && want == sumOf(data):
		return nil
	case known:
		if err := c.tell(stream, file, problem, nil); err != nil {
			return err
		}
	case !derived:
		return nil
	}
	return os.Remove(file)
}

// blocks checks the messages of a stream.
func (c *checker) blocks(ctx context.Context, name, path string) error {
	dir := filepath.Join(path, messagesDir)
	numbers, err := blockNumbers(dir)
	if err != nil {
		return err
	}
	indexFile := filepath.Join(dir, indexName)
	if len(numbers) == 0 && !exists(indexFile) {
		return c.tell(name, dir, "no messages are there: the server always leaves a file for them, so all are lost", nil)
	}
	var x index
	if data, err := os.ReadFile(indexFile); err == nil {
		if read, ok := readIndex(name, data); ok {
			x = read
		}
	}
	var last uint64 // of the sequences that are there
	var changed, fresh bool
	for i, number := range numbers {
		if err := ctx.Err(); err != nil {
			return err
		}
		file := filepath.Join(dir, strconv.Itoa(number)+blockSuffix)
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(data, []byte("cmp")) {
			return nil // compressed
		}
		end, mended, err := c.block(name, file, number, data)
		if err != nil {
			return err
		}
		last, changed = max(last, end), changed || mended
		if i == len(numbers)-1 {
			fresh = len(data) >= recordSum && bytes.Equal(data[len(data)-recordSum:], x.sum[:])
			continue
		}
		early, err := c.endsEarly(name, file, x.blocks[number], end, mended)
		if err != nil {
			return err
		}
		changed = changed || early
	}
	missing, err := c.missing(name, dir, x, numbers, last, fresh)
	if err == nil && fresh && (changed || missing) { // the server would believe its index
		err = os.Remove(indexFile)
	}
	return err
}

// endsEarly tells of a block that ends before the sequence that its index has.
func (c *checker) endsEarly(stream, file string, known indexed, end uint64, mended bool) (bool, error) {
	if mended || known.messages == 0 || end >= known.last {
		return false, nil
	}
	return true, c.tell(stream, file, fmt.Sprintf("it ends early: up to %d messages are lost, of sequence %d to %d",
		known.last-end, end+1, known.last), nil)
}

// missing tells of what the index has behind the last sequence that is there, and, when it is not older than the
// blocks, of those that are not there.
func (c *checker) missing(stream, dir string, x index, numbers []int, last uint64, fresh bool) (found bool, err error) {
	if x.last > last+c.named {
		err = c.tell(stream, filepath.Join(dir, indexName), fmt.Sprintf(
			"up to %d messages at the end are lost, of sequence %d to %d", x.last-last, last+1, x.last,
		), nil)
	}
	for _, number := range slices.Sorted(maps.Keys(x.blocks)) {
		b := x.blocks[number]
		if err != nil || !fresh || b.messages == 0 || slices.Contains(numbers, number) {
			continue
		}
		found = true
		err = c.tell(stream, filepath.Join(dir, strconv.Itoa(number)+blockSuffix), fmt.Sprintf(
			"it is missing: %d messages are lost, of sequence %d to %d", b.messages, b.first, b.last,
		), nil)
	}
	return found, err
}

// block checks one block and takes out what is bad. last is the last sequence in it.
func (c *checker) block(stream, file string, number int, data []byte) (last uint64, mended bool, err error) {
	b, err := newBlock(stream, number, data)
	if err != nil {
		return 0, false, err
	}
	sound, bad, last := b.scan()
	c.named = 0
	if n := len(bad) - 1; n >= 0 && !bad[n].cut && bad[n].offset+bad[n].length == len(data) {
		c.named = uint64(len(bad[n].subjects))
	}
	if len(bad) == 0 {
		return last, false, nil
	}
	problem, messages := describe(bad)
	if err := c.tell(stream, file, problem, messages); err != nil {
		return last, false, err
	}
	return last, true, replace(file, bytes.Join(sound, nil))
}

// replace writes a file such that a crash leaves the old one or the new.
func replace(file string, data []byte) error {
	draft := file + ".mended"
	f, err := os.OpenFile(draft, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(draft, file)
}

// blockNumbers lists the blocks of a folder in order.
func blockNumbers(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var numbers []int
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), blockSuffix)
		if number, err := strconv.Atoi(digits); ok && err == nil {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
