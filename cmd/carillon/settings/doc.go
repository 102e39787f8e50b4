// Package settings finds out what a process is set to, and by what. A setting is a flag of the command: its name, type,
// default, help and variable stand in the struct of the command and nowhere else. Tags of that struct say the rest:
//
//	live       the setting counts while the process runs, once the file has changed
//	listed:"," in the file it may be a list, of which the flag has the elements with that between
//	userinfo   its text may hold a password before an @
//	setting:"-"  the flag is none: it is about the settings, such as the name of their file
//
// What counts is the flag on the command line, else the variable, else the file, else the default.
//
//  1. A file is taken as a whole or not at all. All that is wrong with it is told at once, with line and column, also of
//     settings that a flag or a variable overrides. Only a text that is no YAML, or gives a name twice, is told alone.
//  2. A password is in no message and in no list: see [Set.Rows].
//  3. While the process runs, [Keeper] looks at the file's content: links that are switched and files that are renamed
//     are seen, and one that is written to is read when that has ended.
package settings
