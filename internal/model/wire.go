package model

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// The chat completions answer, in the shapes that servers give it. Fields that
// we do not use are not listed; a field of an unexpected type reads as absent
// where that is harmless, so that one oddity does not cost the reply.

// chunk is one event of a stream, or a whole plain answer.
type chunk struct {
	Model   looseText       `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Timings json.RawMessage `json:"timings"` // llama.cpp
	Error   json.RawMessage `json:"error"`
	Object  looseText       `json:"object"`
	Message looseText       `json:"message"` // of a flat error
}

type choice struct {
	Delta   *delta    `json:"delta"`
	Message *delta    `json:"message"`
	Finish  looseText `json:"finish_reason"`
}

type delta struct {
	Content          content    `json:"content"`
	Refusal          looseText  `json:"refusal"`
	ReasoningContent content    `json:"reasoning_content"`
	Reasoning        content    `json:"reasoning"`
	Calls            []wireCall `json:"tool_calls"`
}

type wireCall struct {
	Index    looseIndex `json:"index"`
	ID       looseText  `json:"id"`
	Function struct {
		Name      looseText `json:"name"`
		Arguments wireArgs  `json:"arguments"`
	} `json:"function"`
}

// looseText is a string; a number reads as its digits, anything else as empty.
type looseText string

func (t *looseText) UnmarshalJSON(b []byte) error {
	*t = ""
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = looseText(s)
	} else if _, err := strconv.ParseFloat(string(b), 64); err == nil {
		*t = looseText(b)
	}
	return nil
}

// looseIndex is a number or a string of one; -1 is absent.
type looseIndex struct {
	n   int
	set bool
}

func (i *looseIndex) UnmarshalJSON(b []byte) error {
	n, err := strconv.Atoi(strings.Trim(string(b), `"`))
	*i = looseIndex{n, err == nil}
	return nil
}

// content is a string, null, or a list of parts with text or thinking in them.
type content struct{ text, thinking string }

func (c *content) UnmarshalJSON(b []byte) error {
	*c = content{}
	if b[0] != '[' {
		var t looseText
		_ = t.UnmarshalJSON(b) // never fails
		c.text = string(t)
		return nil
	}
	var parts []struct {
		Text     looseText `json:"text"`
		Thinking content   `json:"thinking"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text += string(p.Text)
		c.thinking += p.Thinking.text
	}
	return nil
}

// wireArgs is a piece of a call's arguments: a string as it is, an object (or
// anything else) as its compact JSON, null as nothing.
type wireArgs string

func (a *wireArgs) UnmarshalJSON(b []byte) error {
	*a = ""
	var s string
	switch {
	case isNull(b):
	case b[0] == '"':
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*a = wireArgs(s)
	default:
		var buf bytes.Buffer
		if err := json.Compact(&buf, b); err != nil {
			return err
		}
		*a = wireArgs(buf.String())
	}
	return nil
}

// count is a token count; what is no sensible number reads as zero.
type count int64

func (n *count) UnmarshalJSON(b []byte) error {
	*n = count(number(b))
	return nil
}

// readUsage takes what there is from a usage object; ok is false for null, nothing and the unreadable.
func readUsage(raw json.RawMessage) (u Usage, ok bool) {
	var w *struct {
		Prompt     count `json:"prompt_tokens"`
		Completion count `json:"completion_tokens"`
		CacheHit   count `json:"prompt_cache_hit_tokens"`
		PromptHas  struct {
			Cached count `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionHas struct {
			Reasoning count `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	if json.Unmarshal(raw, &w) != nil || w == nil {
		return Usage{}, false
	}
	return Usage{
		Input: int64(w.Prompt), Output: int64(w.Completion),
		CacheRead: int64(max(w.PromptHas.Cached, w.CacheHit)), Reasoning: int64(w.CompletionHas.Reasoning),
	}, true
}

// readTimings is llama.cpp's own count, for streams without usage.
func readTimings(raw json.RawMessage) (Usage, bool) {
	var w *struct {
		Prompt    count `json:"prompt_n"`
		Cache     count `json:"cache_n"`
		Predicted count `json:"predicted_n"`
	}
	if json.Unmarshal(raw, &w) != nil || w == nil {
		return Usage{}, false
	}
	return Usage{Input: int64(w.Prompt + w.Cache), Output: int64(w.Predicted), CacheRead: int64(w.Cache)}, true
}
