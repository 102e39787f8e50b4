// Package secrets keeps the secrets of jobs: it seals them for the store and
// opens them again, finds shared ones by their names, keeps what was revealed
// out of records, and changes the keys. Package [seal] says what is sealed, and
// how.
//
// # Parts
//
// A [Vault] serves a process: its service and its worker. A [Manager] does what
// users ask for of shared secrets and keys. A [Redactor] serves one attempt.
//
// # Guarantees
//
//  1. The store gets secrets sealed or not at all: without a key a job with a
//     secret, and a shared secret, is refused.
//  2. A secret that cannot be opened is lost on no way through a process: it is
//     stored again as it was.
//  3. A shared secret counts from the next attempt on when it was changed. An
//     attempt that needs one waits for the store five seconds at most.
//  4. No view, error or log has the text of a secret. Undecryptable ones are told
//     by their keys, and by the names of what has them.
//  5. A rotation seals everything with the first key, each by compare-and-set,
//     and changes nothing else of a job: neither its generation, nor its schedule,
//     nor how long a finished one is kept. What cannot be opened stays as it is
//     and is told. It may be cut short and repeated at any time.
//  6. A shared secret that jobs refer to which may still run is deleted only by
//     force; a job that is put at the same moment is not seen.
//  7. A result shows nothing of a text that was revealed in its attempt: as it
//     is, escaped up to three times over as in JSON, programming languages, URLs
//     or HTML, in base64 or hexadecimal, and cut off at its end. Texts of less
//     than four bytes are not looked for: they are found everywhere.
package secrets
