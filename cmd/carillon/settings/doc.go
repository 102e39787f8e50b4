// Package settings determines the settings of a process and their sources. A setting is a flag of the command:
// the command's struct alone defines its name, type, default, help and variable. Tags of that struct define the
// rest:
//
//	live       a change of the file applies while the process runs
//	listed:"," the file can contain a list, joined by that separator for the flag
//	userinfo   the value may contain a password before an @
//	setting:"-"  the flag is not a setting: it concerns the settings, such as the name of their file
//
// Precedence: command line, environment variable, file, default.
//
//  1. A file applies completely or not at all. All its problems are reported together, with line and column, including
//     those of settings that a flag or a variable overrides. Invalid YAML and duplicate names are reported alone.
//  2. No message and no list shows a password: see [Set.Rows].
//  3. At run time, [Keeper] compares the file's content, so that it notices switched links and renamed files. It reads a
//     file in the middle of a write again once the write has ended.
package settings
