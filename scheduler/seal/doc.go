// Package seal encrypts the secrets of jobs for the store.
//
// A sealed text is
//
//	v1.<key id>.<base64url of nonce and ciphertext>
//
// made with XChaCha20-Poly1305 (RFC 8439 with the 24-byte nonce of
// draft-irtf-cfrg-xchacha) under a random nonce. Version, key id and the place
// where the secret stands are authenticated with it: a sealed text that was
// changed, or copied to another job, another member or another name, does not
// open.
//
// A [Keyring] holds one key or more. The first seals; every one opens, which is
// how keys are rotated without a moment in which something cannot be read. A
// key file has one key on each line, an id and 32 bytes in base64:
//
//	# made by carillon secrets keygen
//	2026-03:q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJq80=
//
// No error of this package, and nothing that prints one of its values, shows a
// key or a secret.
package seal
