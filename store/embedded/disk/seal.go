package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

// sealName is the file below the data directory that says what a server has left.
const sealName = "checksums.json"

// seal is what a server has left. Paths are below the data directory, with slashes.
type seal struct {
	Streams []string          `json:"streams"`        // their folders
	Sums    map[string]string `json:"sums,omitempty"` // of files that have no checksum of their own; none while a server runs
}

// Seal notes which streams there are, and what the files are that have no checksum of
// their own. Call it when the server has stopped; a start that follows upon a sudden
// end knows the streams of the start before.
func Seal(dir string) error {
	s := seal{Sums: map[string]string{}}
	var err error
	if s.Streams, err = glob(dir, streamsPattern); err != nil {
		return err
	}
	for _, pattern := range []string{
		messagesDir + "/" + schedulesName, messagesDir + "/" + expiriesName, consumersDir + "/*/" + consumerState,
	} {
		files, err := glob(dir, streamsPattern+"/"+pattern)
		if err != nil {
			return err
		}
		for _, file := range files {
			data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
			if err != nil {
				return err
			}
			s.Sums[file] = sumOf(data)
		}
	}
	return s.write(dir)
}

// unseal returns what was sealed. The checksums hold until the server runs, so they
// are there once.
func unseal(dir string) (seal, error) {
	var s seal
	data, err := os.ReadFile(filepath.Join(dir, sealName))
	if err != nil || json.Unmarshal(data, &s) != nil {
		return seal{}, nil //nolint:nilerr // of a first start, or damaged itself: nothing is known
	}
	return s, seal{Streams: s.Streams}.write(dir)
}

func (s seal) write(dir string) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, sealName), data)
}

// glob lists the paths below a directory that match a pattern.
func glob(dir, pattern string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	for i, path := range found {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return nil, err
		}
		found[i] = filepath.ToSlash(rel)
	}
	return found, err
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
