package main

import (
	"encoding/json"
	"io/fs"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"evener/internal/audit"
	"evener/internal/id"
	"evener/internal/schema"
	"evener/internal/store"
	"evener/internal/tool"
)

// replayed fails a script whose sessions, as it leaves them, do not come out of
// their causes again. What a script damaged is not judged.
func replayed(e *testscript.Env) {
	rules := audit.Rules{Decode: tool.Decode, Fits: schema.Violations}
	err := filepath.WalkDir(e.WorkDir, func(path string, d fs.DirEntry, err error) error {
		s, ok := id.ParseSession(filepath.Base(filepath.Dir(path)))
		if err != nil || !ok || d.Name() != "session.jsonl" {
			return nil
		}
		h := store.Home{Sessions: filepath.Dir(filepath.Dir(path))}
		if root, err := h.TreeOf(s); err != nil || root != s {
			return nil
		}
		if _, err := store.Load(h, s, 0); err != nil {
			return nil
		}
		v := &audit.Verified{}
		if v.Tree(h, s); v.Damaged() {
			text, _ := json.MarshalIndent(v.Findings, "", " ") // plain values always encode
			e.T().Fatal("a session does not verify:", string(text))
		}
		r, err := audit.Replay(h, s, rules)
		if err != nil {
			return err
		}
		if r.Diff != nil && !r.Repaired {
			text, _ := json.MarshalIndent(r.Diff, "", " ") // plain values always encode
			e.T().Fatal("a decision comes out otherwise:", string(text))
		}
		return nil
	})
	if err != nil {
		e.T().Fatal(err)
	}
}
