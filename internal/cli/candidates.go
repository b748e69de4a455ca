package cli

import (
	"cmp"
	"flag"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"evener/internal/config"
	"evener/internal/job"
	"evener/internal/store"
	"evener/internal/tree"
)

// maxCompleted bounds the journal that is read for the ids of jobs, in bytes: who
// presses a key must not wait for a large one.
const maxCompleted = 16 << 20

// world is where the line would look: with the flags that it has so far.
type world struct {
	env   *env
	given map[string]string
}

// enter goes into the folder of --dir. Where that fails there is nothing to offer,
// and the command will say why.
func (w world) enter() {
	if dir := w.given["dir"]; dir != "" {
		_ = w.env.enter(dir)
	}
}

// values are what a flag may be given; lead is what stands before it in the same word.
func (w world) values(t topic, f *flag.Flag, typed, lead string) []candidate {
	var all []candidate
	switch valueName(f) {
	case "FILE":
		return []candidate{anyFile}
	case "FOLDER":
		return []candidate{anyFolder}
	case "SESSION":
		all = w.sessionWords()
	case "PROVIDER/NAME":
		all = w.modelWords()
	case "FORM":
		all = words(config.Choices(f.Name)...)
	case "KINDS":
		all = words(store.Kinds()...)
	case "KIND":
		all = words(tree.Delegates, tree.Jobs, tree.Watches)
	case "jsonl":
		all = words("jsonl")
	}
	for i := range all {
		all[i].word = lead + all[i].word
	}
	return fitting(all, typed)
}

func words(all ...string) []candidate {
	out := make([]candidate, len(all))
	for i, w := range all {
		out[i].word = w
	}
	return out
}

// arguments are what may stand where no flag does, by the usage of the command.
func (w world) arguments(t topic, typed string) []candidate {
	var all []candidate
	takes := func(name string) bool { return strings.Contains(t.args, name) }
	switch {
	case takes("PROMPT"): // a prompt may name files
		return []candidate{anyFile}
	case takes("COMMAND"):
		return fitting(append(commandWords(), candidate{runTopic, runUsage.summary}), typed)
	case t.name == completionCommand.name:
		return fitting(words("bash", "zsh", "fish"), typed)
	case takes("PROVIDER"):
		if c, err := w.env.load(config.Flags{}); err == nil {
			all = words(providerNames(c)...)
		}
	case takes("JOB_ID"):
		all = slices.Concat(w.jobWords(), w.sessionWords())
		if ref, _, ok := strings.Cut(typed, ":"); ok {
			all = refWords(ref+":", all)
		}
	case takes("SESSION"):
		all = w.sessionWords()
	}
	found := fitting(all, typed)
	switch {
	case len(found) == 0 && takes("FILE"):
		return []candidate{anyFile}
	case len(found) == 0 && (takes("FOLDER") || takes("DIR")):
		return []candidate{anyFolder}
	}
	return found
}

// refWords are the ids that such a ref may have.
func refWords(lead string, ids []candidate) []candidate {
	var out []candidate
	for _, c := range ids {
		if ref, _ := refOf(c.word); strings.HasPrefix(ref, lead) {
			out = append(out, candidate{ref, c.about})
		}
	}
	return out
}

// listed are the root sessions that can be read, the latest first.
func (w world) listed() (store.Home, []store.Listed) {
	set := config.Flags{}
	if dir := w.given["state-dir"]; dir != "" {
		set["state_dir"] = dir
	}
	home, _, err := w.env.home(set)
	if err != nil {
		return home, nil
	}
	all, err := home.List()
	if err != nil {
		return home, nil
	}
	return home, slices.DeleteFunc(all, func(s store.Listed) bool { return s.Err != nil || s.OfDelegate() })
}

func (w world) sessionWords() []candidate {
	var out []candidate
	_, all := w.listed()
	for _, s := range all {
		about := s.Last.Local().Format("2006-01-02 15:04") + " " + cmp.Or(s.Name, s.Title)
		if s.Archived {
			about = "archived, " + about
		}
		out = append(out, candidate{string(s.Session), about})
	}
	return out
}

// jobWords are the jobs of the session that jobs shows.
func (w world) jobWords() []candidate {
	home, all := w.listed()
	i := slices.IndexFunc(all, func(s store.Listed) bool { return !s.Archived })
	if i < 0 || all[i].JournalSize > maxCompleted {
		return nil
	}
	t, err := store.Load(home, all[i].Session, 0)
	if err != nil {
		return nil
	}
	var out []candidate
	for _, x := range slices.Backward(t.Session().Jobs()) {
		r := job.RowOf(x, job.Live{})
		out = append(out, candidate{string(x.ID), cmp.Or(r.Description, r.Command)})
	}
	return out
}

// modelWords are the models that are known without asking a server.
func (w world) modelWords() []candidate {
	c, err := w.env.load(config.Flags{})
	if err != nil {
		return nil
	}
	var out []candidate
	if c.Model != "" {
		out = words(c.Model)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Exec)) {
		out = append(out, candidate{"exec/" + name, "a command"})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		for _, m := range c.Providers[name].Models {
			out = append(out, candidate{word: name + "/" + m})
		}
	}
	scripts, _ := fs.Glob(builtinScripts(), "*.json") // the pattern is well formed
	for _, s := range scripts {
		out = append(out, candidate{"script/builtin:" + strings.TrimSuffix(s, ".json"), "a script"})
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return strings.Compare(a.word, b.word) })
	return slices.CompactFunc(out, func(a, b candidate) bool { return a.word == b.word })
}
