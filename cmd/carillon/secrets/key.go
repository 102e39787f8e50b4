package secrets

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// KeyFlags are the flags that name the keys of secrets. A key itself is never a
// flag: the list of processes shows those.
type KeyFlags struct {
	SecretKeyFile string `name:"secret-key-file" help:"File of the keys that seal secrets (\"carillon secrets keygen\"): the first seals, all open. The environment variable CARILLON_SECRET_KEY may hold its text instead. Without either, jobs with secrets are refused." env:"CARILLON_SECRET_KEY_FILE" placeholder:"FILE"`
}

// keyVariable holds the text of a key file.
const keyVariable = "CARILLON_SECRET_KEY"

// keyFileError describes a problem of a key file.
func keyFileError(file string, err error) error {
	return fmt.Errorf("secret key file %s: %w", file, terminal.WithoutPath(err))
}

// Keys reads the keys from the file or the environment; nil when neither is
// given.
func (f KeyFlags) Keys(t *terminal.Terminal) (*seal.Keyring, error) {
	text, _ := t.Lookup(keyVariable)
	switch {
	case text != "" && f.SecretKeyFile != "":
		return nil, terminal.Usagef("--secret-key-file and the variable %s are both given; one is enough", keyVariable)
	case text != "":
		keys, err := seal.ParseKeys(text)
		if err != nil {
			return nil, terminal.Hinted(fmt.Errorf("variable %s: %w", keyVariable, err), keygenHint)
		}
		return keys, nil
	case f.SecretKeyFile != "":
		if _, err := os.Stat(f.SecretKeyFile); err != nil {
			return nil, terminal.Hinted(terminal.Usage(keyFileError(f.SecretKeyFile, err)), keygenHint)
		}
		return readKeys(f.SecretKeyFile, othersOf(f.SecretKeyFile, t))
	}
	return nil, nil //nolint:nilnil // no keys are a way to run
}

const keygenHint = `"carillon secrets keygen" makes a key`

// othersMay are the permission bits that a key file must not have.
const othersMay fs.FileMode = 0o077

// groupReads is the permission bit that a systemd credential seems to have: it belongs to root, and its access
// list, which contains the service's user, shows its maximum in the place of the group.
const groupReads fs.FileMode = 0o040

// othersOf are the permissions that others must not have on a file.
func othersOf(file string, t *terminal.Terminal) fs.FileMode {
	if dir, _ := t.Lookup("CREDENTIALS_DIRECTORY"); dir != "" && filepath.Dir(file) == filepath.Clean(dir) {
		return othersMay &^ groupReads
	}
	return othersMay
}

// readKeys reads a key file, on which others must not have these permissions.
func readKeys(file string, others fs.FileMode) (*seal.Keyring, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, terminal.Hinted(keyFileError(file, err), keygenHint)
	}
	if mode := info.Mode().Perm(); mode&others != 0 && runtime.GOOS != "windows" {
		return nil, terminal.Hinted(keyFileError(file, fmt.Errorf("others may read or change it (mode %04o)", mode)),
			fmt.Sprintf("run: chmod 600 %s; where that cannot be, give the text in %s", file, keyVariable))
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, keyFileError(file, err)
	}
	keys, err := seal.ParseKeys(string(data))
	if err != nil {
		return nil, terminal.Hinted(keyFileError(file, err), keygenHint)
	}
	return keys, nil
}

// KeyFileName is the key file that `carillon dev` makes in its data directory.
const KeyFileName = "secret.key"

// OwnKeys reads the key file of this program, and creates a missing one atomically.
func OwnKeys(file string) (*seal.Keyring, error) {
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return readKeys(file, othersMay)
	}
	k, err := seal.NewKey(keyID("dev-"))
	if err != nil {
		return nil, err
	}
	if err := writeKey(file, k); err != nil {
		return nil, terminal.Unavailable(keyFileError(file, err))
	}
	return readKeys(file, othersMay)
}

// keyID returns an id for a new key: today's date, and random characters, so
// that two keys of one day are not taken for each other.
func keyID(prefix string) string {
	return prefix + time.Now().UTC().Format(time.DateOnly) + "-" + strings.ToLower(rand.Text()[:4])
}

// writeKey writes the file of a new key.
func writeKey(file string, k seal.Key) error {
	return terminal.ReplaceFile(file, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "# Seals the secrets of jobs. Without this key, they are lost.\n"+k.Text()+"\n")
		return err
	})
}
