package terminal

import (
	"errors"
	"os"
)

// WritePrivate writes a file that its owner alone may read, also where one of another mode was there: payloads and URLs in it
// may be confidential.
func WritePrivate(path string, data []byte) error {
	const mode = 0o600
	return errors.Join(os.WriteFile(path, data, mode), os.Chmod(path, mode))
}
