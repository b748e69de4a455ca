package supervisor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"evener/internal/model"
)

// toolSets keeps the recorded tools that were read last. Every request of a
// session has the same, mostly those of all sessions of a tree: reading 20 KB of
// JSON for each would be a good part of what a busy delegate costs.
type toolSets struct {
	mu   sync.Mutex
	sets []toolSet // those used last stand first
}

type toolSet struct {
	raw   json.RawMessage
	tools []model.Tool
}

const maxToolSets = 8

// read gives the tools that a context recorded. The list is shared: nobody changes it.
func (s *toolSets) read(raw json.RawMessage) ([]model.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.sets, func(x toolSet) bool { return bytes.Equal(x.raw, raw) })
	if i < 0 {
		tools, err := readTools(raw)
		if err != nil {
			return nil, err
		}
		i = len(s.sets)
		s.sets = append(s.sets, toolSet{raw, tools})
	}
	x := s.sets[i]
	s.sets = slices.Insert(slices.Delete(s.sets, i, i+1), 0, x)
	s.sets = s.sets[:min(len(s.sets), maxToolSets)]
	return x.tools, nil
}

func readTools(raw json.RawMessage) ([]model.Tool, error) {
	var recorded []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	if err := json.Unmarshal(raw, &recorded); err != nil {
		return nil, fmt.Errorf("read the recorded tools: %w", err)
	}
	var tools []model.Tool
	for _, x := range recorded {
		tools = append(tools, model.Tool{Name: x.Name, Description: x.Description, Parameters: x.Parameters})
	}
	return tools, nil
}
