// Package secrets manages the secrets of jobs: it seals them for the store, opens them for attempts, resolves shared
// secrets by name, redacts them from records, and rotates the keys. Package [seal] defines which fields are sealed and
// how.
//
// # Main types
//
//	Vault      seals and opens; one per process, shared by its service and worker
//	Manager    carries out user requests for shared secrets and keys
//	Redactor   redacts the results of one attempt
//
// # Guarantees
//
//  1. The store contains secrets only in sealed form. Without a key, a job with a secret and a shared secret are
//     refused.
//  2. No code path loses a secret that cannot be opened: it is stored again in its sealed form.
//  3. A changed shared secret takes effect with the next attempt. An attempt waits at most five seconds for the store
//     to return a shared secret.
//  4. No view, error or log contains the text of a secret. Undecryptable secrets are reported by key ID and by the
//     names of their owners.
//  5. A rotation seals every secret with the first key, one compare-and-set per entry, and changes nothing else of a
//     job: neither its generation, nor its schedule, nor the retention of a finished job. Secrets that cannot be opened
//     stay unchanged and are reported. You can interrupt and repeat a rotation at any time.
//  6. A shared secret with references from jobs that may still run is deleted only by force. The check may miss a job
//     that is put at the same moment.
//  7. A result contains no text that was revealed in its attempt: neither plain, nor escaped up to three times (JSON,
//     programming languages, URLs, HTML), nor in base64 or hexadecimal, nor truncated at the end of the result. Texts
//     shorter than four bytes are not redacted, because they occur everywhere.
package secrets
