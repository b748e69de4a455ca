// Package config is the program's configuration: one table (table.go) that
// decodes, bounds, prints and documents every key.
//
// Rules:
//
//   - A value comes from the first of: flag, environment, the project's file,
//     the user's file, the default.
//   - Anything unknown or out of bounds is an error that names file, line and
//     key. Nothing is corrected or ignored.
//   - A project's file comes with a cloned repository. Where requests go, what
//     they carry and which program answers as the model it may say only while
//     the user trusts the folder (trust.go), and where state lies never. What a
//     key allows stands in its row; anything else in the file is refused.
//   - Secrets come from the environment alone and are never printed.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"evener/internal/enclosure"
	"evener/internal/regular"
)

// FallbackCommandTimeoutMS is the foreground wait of a session that has no
// provider profile yet, in milliseconds.
const FallbackCommandTimeoutMS = 10_000

// Config holds every effective value. Load makes it; the zero value is not
// usable. Keys, bounds and units stand in the table.
type Config struct {
	Endpoint                // of the openai provider
	Model                   string
	APIKey                  string
	Providers               map[string]*Provider
	Exec                    map[string]*Exec
	StateDir                string
	StateHome               string
	Output                  string
	OutputSchema            string
	Trace                   string
	DefaultCommandTimeoutMS int64
	MaxCommandTimeoutMS     int64
	StopGraceMS             int64
	OutputCapBytes          int64
	OutputKeepTotalBytes    int64
	InlineOutputBytes       int64
	JobListChars            int64
	JobListLines            int64
	ReadTranscriptChars     int64
	WaitJobsMS              int64
	MaxTurns                int64
	MaxToolRounds           int64
	MaxConcurrentShells     int64
	MaxSubagentDepth        int64
	MaxConcurrentDelegates  int64
	AttentionDriveLimit     int64
	AttentionDriveTimeoutMS int64
	AttentionDrivePaceMS    int64
	MaxRetainedTerminal     int64
	IdleReleaseMS           int64
	ResultSchemaBytes       int64
	RecentWatches           int64
	WatchFrameChars         int64
	RearmWatches            bool
	NameSessions            bool
	QuietWatchdogMS         int64

	origins map[string]Origin
}

// Origin says where a value came from.
type Origin struct {
	Source Source
	At     string // FILE:LINE, the variable or the flag; empty for a default
}

// Source is one of the five places.
type Source string

const (
	Default Source = "default"
	User    Source = "user"
	Project Source = "project"
	// Trusted is the project's file, once the user trusts it. No value says that it comes from there.
	Trusted Source = "project if trusted"
	Env     Source = "env"
	Flag    Source = "flag"
)

// Sources are the places to read. A file that does not exist is an empty one;
// an empty path is no file. Getenv may be nil.
type Sources struct {
	UserFile    string
	ProjectFile string
	Getenv      func(string) string
	Flags       Flags
	Trust       Trust
}

// Error is a fault in one source. It prints as one line.
type Error struct {
	At   string // FILE, FILE:LINE, a variable or a flag
	Key  string // empty when the source as a whole is at fault
	Text string
}

func (e *Error) Error() string {
	if e.Key == "" {
		return e.At + ": " + e.Text
	}
	return e.At + ": " + e.Key + ": " + e.Text
}

// UserFile is where the user's configuration stands, by the environment:
// $XDG_CONFIG_HOME/evener/config.json, else $HOME/.config/evener/config.json.
// It is empty when neither variable is an absolute path.
func UserFile(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "evener", "config.json")
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "evener", "config.json")
	}
	return ""
}

// Load reads all sources. The error is an *Error, the first that is met from
// the weakest source to the strongest.
func Load(s Sources) (Config, error) {
	return loadAll(s, func(data []byte) string { return s.Trust.Doubt(s.ProjectFile, data) })
}

// loadAll reads them; doubt says why the project's file is not trusted, if it is not.
func loadAll(s Sources, doubt func(data []byte) string) (Config, error) {
	c := Config{origins: map[string]Origin{}}
	for i := range table {
		if table[i].named == nil {
			table[i].store(&c, table[i].def)
		}
		c.origins[table[i].name] = Origin{Source: Default}
	}
	for _, file := range []struct {
		path string
		from Source
	}{{s.UserFile, User}, {s.ProjectFile, Project}} {
		if err := c.loadFile(file.path, file.from, doubt); err != nil {
			return Config{}, err
		}
	}
	if err := c.loadEnv(s.Getenv); err != nil {
		return Config{}, err
	}
	for i := range table {
		k := &table[i]
		text, ok := s.Flags[k.name]
		if !ok {
			continue
		}
		if err := c.set(k, text, Origin{Flag, "--" + k.flagName()}); err != nil {
			return Config{}, err
		}
	}
	c.inherit()
	return c, nil
}

func (c *Config) loadFile(path string, from Source, doubt func([]byte) string) error {
	if path == "" {
		return nil
	}
	data, err := regular.Read(path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &Error{At: path, Text: "reading the configuration: " + enclosure.Reason(err)}
	}
	f, settings, err := parseFile(path, data)
	if err != nil {
		return err
	}
	f.doubt = sync.OnceValue(func() string { return doubt(data) })
	for _, s := range settings {
		k := find(s.key)
		switch {
		case k == nil:
			return &Error{At: f.at(s), Text: fmt.Sprintf("unknown key %q; evener config lists the keys", s.key)}
		case !k.allows(from) && !(from == Project && k.allows(Trusted)):
			return f.fault(s, k.misplaced(from))
		case from == Project && !k.allows(from) && f.doubt() != "":
			return f.fault(s, k.doubted("set it", f.doubt()))
		case k.named != nil:
			err = c.loadNamed(f, k, s, from)
		default:
			err = c.take(f, k, s, from)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take takes the value of one setting.
func (c *Config) take(f *source, k *key, s setting, from Source) error {
	value, bad := k.fromJSON(s.value)
	if bad == "" && from == Project && k.risky != nil && k.risky(value) && f.doubt() != "" {
		bad = k.doubted(fmt.Sprintf("choose %v", value), f.doubt())
	}
	if bad != "" {
		return f.fault(s, bad)
	}
	k.store(c, value)
	c.origins[k.name] = Origin{from, f.at(s)}
	return nil
}

// loadEnv takes the variables of the keys that have one. An empty variable is
// an unset one.
func (c *Config) loadEnv(getenv func(string) string) error {
	if getenv == nil {
		return nil
	}
	for i := range table {
		k := &table[i]
		if k.env == "" {
			continue
		}
		if text := getenv(k.env); text != "" {
			if err := c.set(k, text, Origin{Env, k.env}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Config) set(k *key, text string, at Origin) error {
	value, bad := k.fromText(text)
	if bad != "" {
		return &Error{At: at.At, Text: bad}
	}
	k.store(c, value)
	c.origins[k.name] = at
	return nil
}

// Origin says where a key's value came from; the zero value for no key.
func (c Config) Origin(key string) Origin { return c.origins[key] }

// StatePlace is the state_dir or the state_home that counts, the other being
// empty: the one from the stronger place, and of one place state_dir.
func (c Config) StatePlace() (dir, home string) {
	if c.StateHome == "" || c.StateDir != "" && c.origins["state_dir"].Source.rank() >= c.origins["state_home"].Source.rank() {
		return c.StateDir, ""
	}
	return "", c.StateHome
}

// rank orders the places, the strongest last.
func (s Source) rank() int {
	return slices.Index([]Source{Default, User, Project, Env, Flag}, s)
}

// ForegroundWaitMS is how long a foreground command is waited for before it
// becomes a background job: default_command_timeout_ms, at most
// max_command_timeout_ms. Without a provider profile the built-in default is
// FallbackCommandTimeoutMS; a value that somebody set holds either way.
func (c Config) ForegroundWaitMS(profile bool) int64 {
	wait := c.DefaultCommandTimeoutMS
	if !profile && c.origins["default_command_timeout_ms"].Source == Default {
		wait = FallbackCommandTimeoutMS
	}
	return min(wait, c.MaxCommandTimeoutMS)
}
