package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"evener/internal/config"
	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/store"
	"evener/internal/transcript"
)

// recordedName is what replay/… names: a session, and the decision behind which
// its replies are taken, 0 for all of them.
type recordedName struct {
	session id.Session
	from    int64
}

func (n recordedName) String() string {
	if n.from == 0 {
		return string(n.session)
	}
	return fmt.Sprintf("%s@%d", n.session, n.from)
}

func parseRecorded(s string) (n recordedName, ok bool) {
	name, from, cut := strings.Cut(s, "@")
	if n.session, ok = id.ParseSession(name); !ok {
		return n, false
	}
	if cut {
		step, err := strconv.ParseInt(from, 10, 64)
		if n.from = step; err != nil || step < 1 {
			return n, false
		}
	}
	return n, true
}

// recording reads the replies that a session's tree has, for a model that gives
// them again. window is what its own model had.
func (e *env) recording(c config.Config, name string) (r model.Recording, window int64, err error) {
	n, ok := parseRecorded(name)
	if !ok {
		return r, 0, fmt.Errorf("%s: replay/SESSION names a session by its id, and replay/SESSION@N one from decision N on", chosen(c))
	}
	home, err := e.find(c)
	if err != nil {
		return r, 0, err
	}
	if !home.Has(n.session) {
		return r, 0, fmt.Errorf("%s: no session %s in %s; evener sessions lists those there are", chosen(c), n.session, home.Sessions)
	}
	x := recorder{home: home, places: map[string]model.Recorded{}}
	if n.from > 0 {
		if bad, err := lookAt(&home, n.session, strconv.FormatInt(n.from, 10)); bad != "" || err != nil {
			return r, 0, fmt.Errorf("%s: %w", chosen(c), or(err, strings.TrimPrefix(bad, "--at ")))
		}
		x.then = &home
	}
	window, err = x.tree(n.session)
	return model.Recording{Places: x.places}, window, err
}

func or(err error, text string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s", text)
}

// recorder reads what the sessions of a tree said.
type recorder struct {
	home   store.Home
	then   *store.Home // as it was at the decision behind which the replies are taken
	places map[string]model.Recorded
}

// tree reads a session and those below it. Delegates that were there at the
// decision are not: a session that goes on from it has none of them.
func (x *recorder) tree(s id.Session) (window int64, err error) {
	root, err := x.home.TreeOf(s)
	if err != nil {
		return 0, err
	}
	t, err := store.Load(x.home, root, 0)
	if err != nil {
		return 0, err
	}
	there := map[id.Session]bool{}
	skip := 0
	if x.then != nil {
		past, err := store.Load(*x.then, root, x.then.At)
		if err != nil {
			return 0, err
		}
		for d := range past.Delegates.All {
			there[d.Session] = true
		}
		if skip, err = x.said(*x.then, s); err != nil {
			return 0, err
		}
	}
	if err := x.session("", s, skip); err != nil {
		return 0, err
	}
	places, made := map[id.Session]string{s: ""}, map[id.Session]int{}
	for d := range t.Delegates.All {
		owner, known := places[d.Owner]
		if !known || there[d.Session] || !x.home.Has(d.Session) {
			continue
		}
		made[d.Owner]++
		places[d.Session] = strings.TrimPrefix(fmt.Sprintf("%s.%d", owner, made[d.Owner]), ".")
		if err := x.session(places[d.Session], d.Session, 0); err != nil {
			return 0, err
		}
	}
	if own := t.Sessions[s]; own != nil {
		window = own.Context.ContextTokens
	}
	return window, nil
}

// session reads what a session said itself, from an entry of its conversation on.
func (x *recorder) session(place string, s id.Session, skip int) error {
	var all []transcript.Entry
	own := 0
	talk, err := x.home.Converse(context.Background(), s, func(w store.Words) bool {
		if w.Inherited() {
			own++ // of no use, and counted
		}
		return !w.Inherited()
	}, func(_ *store.Talk, e transcript.Entry, _ int64) error {
		if own++; own > skip {
			all = append(all, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	x.places[place] = model.Recorded{Session: string(s), Name: talk.Name, Entries: all}
	return nil
}

// said is how many entries a conversation has up to the last round of calls that
// are all answered.
func (x *recorder) said(h store.Home, s id.Session) (whole int, err error) {
	n, open := 0, 0
	_, err = h.Converse(context.Background(), s, nil, func(_ *store.Talk, e transcript.Entry, _ int64) error {
		n++
		switch {
		case e.Assistant != nil:
			open = len(e.Assistant.Calls)
		case e.Role == transcript.Tool:
			open--
		}
		if open == 0 {
			whole = n
		}
		return nil
	})
	return whole, err
}
