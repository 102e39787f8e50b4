package storagequeue

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/payload"
)

// maxText is the length of the longest message in bytes of UTF-8, after its encoding (Azure Storage REST API, Put Message).
const maxText = 64 << 10

// The encodings of a message.
const (
	encodeNone   = "none"
	encodeBase64 = "base64"
)

// invalidText says why a text cannot be a message.
type invalidText struct {
	status int // that the service answers, or would
	reason string
}

// encode returns a text as it is put into the queue.
func encode(text, encoding string) (string, *invalidText) {
	if encoding == encodeBase64 {
		if n := base64.StdEncoding.EncodedLen(len(text)); n > maxText {
			return "", tooLong(n, " in base64")
		}
		return base64.StdEncoding.EncodeToString([]byte(text)), nil
	}
	if len(text) > maxText {
		return "", tooLong(len(text), "")
	}
	for i, r := range text {
		switch _, size := utf8.DecodeRuneInString(text[i:]); {
		case r == utf8.RuneError && size == 1:
			return "", &invalidText{http.StatusBadRequest, fmt.Sprintf("is not UTF-8 from byte %d on: use messageEncoding base64", i)}
		case !payload.InXML(r):
			return "", &invalidText{http.StatusBadRequest, fmt.Sprintf("has the character %U at byte %d, "+
				"which XML cannot carry: use messageEncoding base64", r, i)}
		}
	}
	return text, nil
}

func tooLong(n int, how string) *invalidText {
	return &invalidText{http.StatusRequestEntityTooLarge, fmt.Sprintf("is %d bytes long%s, at most %d are allowed", n, how, maxText)}
}
