package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"evener/internal/regular"
	"evener/internal/schema"
	"evener/internal/session"
	"evener/internal/text"
)

// maxSchemaFile bounds what is read of a schema, in bytes: no setting allows as much.
const maxSchemaFile = 1 << 20

// outputSchema reads the schema of a run's output, of at most so many bytes; none
// where no file is named.
func outputSchema(path string, most int64) (json.RawMessage, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := regular.Read(path, maxSchemaFile)
	if err != nil {
		return nil, fmt.Errorf("the output schema cannot be read: %w", err)
	}
	_, err = schema.Compile(raw, most)
	if e, ok := errors.AsType[*schema.Error](err); ok {
		at := path
		if e.Line > 0 {
			at = fmt.Sprintf("%s:%d", path, e.Line)
		}
		return nil, fmt.Errorf("%s: the output schema cannot be used: %w", at, e)
	}
	return text.JSON(json.RawMessage(raw))
}

// reportText is what standard output gets of a report: its message, or with a
// schema the value that fits it, and nothing where none does.
func (r *runner) reportText(run session.Run) string {
	a := run.Answer
	switch {
	case a == nil:
		return ""
	case run.Schema == nil:
		return a.Text
	case a.Reported && len(a.Violations) == 0:
		return string(a.Output)
	}
	return ""
}
