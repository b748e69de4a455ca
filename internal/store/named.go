package store

import (
	"cmp"
	"fmt"

	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
)

// wellNamed refuses an event that introduces what is no id. Ids become the names of
// folders and files, and a journal may come from anybody: one with ".." in it would
// lead out of the state folder.
func wellNamed(e session.Event) error {
	switch e := e.(type) {
	case session.Created:
		return cmp.Or(named("session_id", e.Session, id.ParseSession), named("root_session_id", e.Root, id.ParseSession),
			namedIfAny("parent_session_id", e.Parent, id.ParseSession), namedIfAny("delegate_id", e.Delegate, id.ParseDelegate))
	case session.Forked:
		return named("parent_session_id", e.Parent, id.ParseSession)
	case delegate.Created:
		return cmp.Or(named("delegate_id", e.Delegate, id.ParseDelegate), named("child_session_id", e.Session, id.ParseSession),
			named("owner_session_id", e.Owner, id.ParseSession), namedIfAny("parent_delegate_id", e.Parent, id.ParseDelegate))
	case job.Intended:
		return named("job_id", e.Job, id.ParseJob)
	}
	return nil
}

func named[ID ~string](field string, x ID, parse func(string) (ID, bool)) error {
	if _, ok := parse(string(x)); !ok {
		return fmt.Errorf("%s is %.80q, which is no id", field, string(x))
	}
	return nil
}

func namedIfAny[ID ~string](field string, x ID, parse func(string) (ID, bool)) error {
	if x == "" {
		return nil
	}
	return named(field, x, parse)
}
