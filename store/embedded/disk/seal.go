package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

// sealName is the file below the data directory that has the checksums of a server
// that has stopped.
const sealName = "checksums.json"

// Seal notes what the files are that have no checksum of their own. Call it when the
// server has stopped; a start that follows upon a sudden end finds none.
func Seal(dir string) error {
	sums := map[string]string{}
	for _, pattern := range []string{
		streamsPattern + "/" + messagesDir + "/" + schedulesName,
		streamsPattern + "/" + messagesDir + "/" + expiriesName,
		streamsPattern + "/" + consumersDir + "/*/" + consumerState,
	} {
		files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(dir, file)
			if err != nil {
				return err
			}
			sums[filepath.ToSlash(rel)] = sumOf(data)
		}
	}
	data, err := json.Marshal(sums)
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, sealName), data)
}

// unseal takes the checksums, which hold until the server runs.
func unseal(dir string) (sums map[string]string) {
	file := filepath.Join(dir, sealName)
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &sums) != nil {
		sums = nil
	}
	_ = os.Remove(file)
	return sums
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
