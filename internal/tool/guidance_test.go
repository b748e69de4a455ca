package tool

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// described is the description of a tool with the texts of its parameters.
func described(t *testing.T, tool string) string {
	t.Helper()
	for _, d := range Definitions() {
		if d.Name == tool {
			all := d.Description
			for _, p := range parameters(t, tool).Properties {
				all += "\n" + p.Description
			}
			return all
		}
	}
	t.Fatalf("no tool %s", tool)
	return ""
}

// section is the part of the system prompt under a heading.
func section(t *testing.T, title string) string {
	t.Helper()
	_, after, found := strings.Cut(SystemPrompt(Env{Agents: "project text", Allowance: 2}), "\n# "+title+"\n")
	if !found {
		t.Fatalf("no section %s", title)
	}
	text, _, _ := strings.Cut(after, "\n# ")
	return text
}

const (
	jobsSection      = "Background jobs"
	delegatesSection = "Delegates"
)

// TestGuidance holds the wording that the contract fixes. A row names where
// the words stand: a tool, or a section of the system prompt.
func TestGuidance(t *testing.T) {
	for _, row := range []struct {
		name, where string
		words       []string
	}{
		// clause: JC-031
		{"foreground", "shell", []string{`mode="foreground" is the default and returns inline output for quick commands.`}},
		// clause: JC-032
		{"background", "shell", []string{
			`mode="background" launches and returns a session-owned job`,
			`Foreground commands that exceed the session-default wait (normally 120 s) become durable background jobs and return a job_id`}},
		// clause: JC-033
		{"detached", "shell", []string{
			`mode="detached": only to immediately disown a process that needs no Evener job visibility, output, notification or stop control.`,
			`It returns only a PID`}},
		// clause: JC-126
		{"servers", "shell", []string{`a server or other process that must keep running belongs in mode="detached", not mode="background"`}},
		// clause: JC-134
		{"absolute paths", "shell", []string{`Give a detached command absolute paths for its output and every file it reads`}},
		// clause: JC-006
		{"logs", "shell", []string{`keep its logs outside the session scratch (EVENER_SCRATCH_DIR): that is deleted, the process may live on`}},
		{"logs, prompt", jobsSection, []string{`Keep its logs outside the session scratch.`}},
		// clause: JC-042
		{"go on", jobsSection, []string{
			`Keep the job_id and continue useful work or respond to the user.`,
			`Do not immediately wait, poll job_list or loop on job_status; use them once, to orient yourself`}},
		{"go on, status", "job_status", []string{`calling this in a loop is polling`}},
		{"job notification", jobsSection, []string{`Evener injects a <job-notification> when it ends`}},
		{"job notification, shell", "shell", []string{`The end of a background job is announced by a <job-notification>; there is nothing to call, so do not poll.`}},
		{"metadata", "job_status", []string{`Metadata-only, for orientation and recovery: it never waits.`, `job:<job_id>`}},
		{"phases", "job_status", []string{`phase (starting, process_running, stopping, finalizing or ended)`}},
		{"settles", "job_status", []string{`Reading your own ended job here also settles its pending notification.`}},
		// clause: JC-049
		{"stop", "job_stop", []string{
			`Use it only when the intent is to cancel or stop work`,
			`It deletes no output or history and acknowledges no result.`}},
		{"stop, prompt", jobsSection, []string{`Use job_stop only to cancel or stop work`, `It deletes no output or history and acknowledges no result.`}},
		// clause: JC-050
		{"inventory", "job_list", []string{
			`Use it to recover known job_... and dlg_... identities and inspect durable state; do not call it repeatedly to wait for completion`,
			`Branch on status; reason is diagnostic detail, except runtime_lost, run_timeout and stop_pending.`}},
		{"inventory, prompt", jobsSection, []string{`Branch on status. Treat reason as detail, except runtime_lost, run_timeout and stop_pending.`}},
		// clause: JC-373
		{"inventory of both", "job_list", []string{`known job_... and dlg_... identities`}},
		// clause: JC-052
		{"no waiting read", "read_transcript", []string{`Completion is notification-driven; do not poll this waiting for a job to finish.`}},
		// clause: JC-053
		{"no cleanup", "job_stop", []string{`Request cancellation/stop; retained history/output remains.`}},
		// clause: JC-058
		{"by intent", jobsSection, []string{
			`Pick the call by intent, and do not poll.`,
			`To run a command and use its output: a plain shell call.`,
			`To launch a long command without waiting: shell(mode="background"). It returns the job_id of a session-owned job immediately.`}},
		// clause: JC-059
		{"the end", jobsSection, []string{
			`To learn when a backgrounded job finishes there is nothing to call`,
			`shell(mode="detached"). It returns only a PID; after that no job tools apply`}},
		// clause: JC-637
		{"no polling", "job_list", []string{`do not call it repeatedly to wait for completion, which is announced by a notification`}},
		{"no polling, prompt", jobsSection, []string{`poll job_list`}},
		// clause: JC-639
		{"no reading in a loop", jobsSection, []string{`Do not re-read it in a loop to learn that the job finished.`}},
		// clause: JC-643
		{"no stop to look", "job_stop", []string{`not merely to inspect output, not as cleanup, not as acknowledgement`}},
		{"no stop to look, prompt", jobsSection, []string{`never merely to inspect output, and not as cleanup or acknowledgement`}},
		// clause: JC-644
		{"nested", "job_list", []string{`A nested job is not hidden from its parent`}},
		{"nested, prompt", jobsSection, []string{`A nested job is not hidden from its parent`}},
		// clause: JC-645
		{"history stays", "job_stop", []string{`It deletes no output or history`}},
		{"restart", jobsSection, []string{`Shell processes do not resume by themselves after a restart of Evener`, `stopped with reason runtime_lost`}},
		{"refs", jobsSection, []string{`Job tools take a job_id, never a transcript_ref.`}},
		{"output only", "read_transcript", []string{`A job: ref is shell output only.`, `Search is retrospective evidence`, `it consumes and acknowledges nothing`}},
		{"evidence", jobsSection, []string{`To see a job's stdout and stderr: read_transcript(transcript_ref="job:<job_id>").`}},
		{"limits of stop", "job_stop", []string{`clamped to 1000..60000, negative ones refused. 0 or absent: return once the stop is signalled.`}},
		{"limits of list", "job_list", []string{`1 or more; default 50; above 100 means 100`, `0 or more; default 0`}},
		// clause: JC-048 JC-057
		{"conversations", "read_transcript", []string{
			`job: reads shell output; use the stable delegate's session transcript_ref for its conversation.`, `A job: ref is shell output only.`}},
		{"limits of reads", "read_transcript", []string{`16 KiB page`, `0 to 20`}},
		{"limits of tasks", "tasks", []string{`At most 100 tasks; title 200 characters, prompt 8 KiB, note 500 characters.`}},
		// clause: JC-034
		{"create", "delegate", []string{
			`It returns once one stable delegate_id and its initial input are durable`, `It takes no max_wait_ms`, `no handle of a run`}},
		// clause: JC-035
		{"brief", "delegate", []string{`prompt is the brief.`, `task_list seeds its task list, one item per step.`}},
		// clause: JC-037
		{"created", "delegate", []string{`delegate_id (dlg_...), child_session_id, transcript_ref, status and resumable, never job_...`}},
		// clause: JC-054
		{"fresh", "delegate", []string{`Start a fresh stable delegate conversation`}},
		// clause: JC-163
		{"facts", "delegate", []string{`The session starts clean by default`, `put the relevant facts, decisions and excerpts into it`}},
		{"what a brief says", "delegate", []string{`what the delegate owns, how to verify the result, and what to report back`}},
		// clause: JC-036
		{"a copy", "delegate", []string{`The session starts clean by default`, `fork_context=true only when the assignment requires your full context and history`}},
		{"a copy, prompt", delegatesSection, []string{`The brief is all that it knows without fork_context.`}},
		// clause: JC-171
		{"the brief of a copy", "delegate", []string{`what the delegate owns, how to verify the result, and what to report back. fork_context=true only`, `the prompt still states all that.`}},
		// clause: RC-005
		{"proof, prompt", delegatesSection, []string{`completed does not prove that the work is right`, `run the task's acceptance check`}},
		// clause: JC-038 JC-055
		{"follow up", "delegate_send", []string{
			`Send a follow-up message to a delegate_id; running delegates receive it live, while idle delegates start their next private run through the same call when resumable.`}},
		{"follow up, prompt", delegatesSection, []string{
			`A running delegate is steered and reads the message at its next step; an idle, resumable one starts its next private run through the same call`}},
		// clause: JC-039 JC-245
		{"own ones", "delegate_send", []string{
			`It reaches only your own delegates`, `A delegate reaches its parent only through communicate: end_turn=false for an update, end_turn=true for its final report.`}},
		{"own ones, prompt", delegatesSection, []string{
			`To follow up: delegate_send(to="dlg_...").`, `It reaches only your own delegates.`,
			`A delegate reaches its parent only through communicate: end_turn=false for an update, end_turn=true for its final report.`}},
		{"limits of send", "delegate_send", []string{`wait so long for its answer, at most 60000`, `timed_out=true means only that the wait ended`}},
		// clause: JC-040
		{"updates", "delegate's communicate", []string{
			`send one only when the parent needs to know something or act, never as narration`, `end_turn=true is your final report: it ends the turn and the parent receives it; finish with it.`}},
		// clause: JC-043
		{"frames", delegatesSection, []string{`Evener injects a <delegate-notification delegate_id="dlg_..." kind="report"> when its run ends`}},
		{"frames, delegate", "delegate", []string{`<delegate-notification delegate_id="dlg_..." kind="report">`}},
		// clause: JC-044
		{"children's attention", delegatesSection, []string{`Your delegates handle their own children's attention`}},
		// clause: JC-047
		{"metadata of delegates", "job_status", []string{
			`running or idle, last_outcome, times, resumable and the transcript_ref of its session; never its report, which comes by itself and is not settled by looking`}},
		// clause: JC-640
		{"no resuming", jobsSection, []string{`Shell processes do not resume by themselves after a restart of Evener`}},
		{"no resuming, delegates", delegatesSection, []string{`A run does not resume by itself after a restart of Evener: it is reported as failed with reason runtime_lost`}},
		// clause: JC-641
		// clause: JC-635
		{"its history", delegatesSection, []string{`read_transcript(transcript_ref="local:...") shows its report, what it was told and what it did.`}},
		{"no replacement", delegatesSection, []string{`A job: ref is shell output only and no replacement for that.`}},
		// clause: JC-642
		{"refs are no targets", jobsSection, []string{`Job tools take a job_id, never a transcript_ref.`}},
		{"refs are no targets, delegates", delegatesSection, []string{
			`Control tools take dlg_..., never a transcript_ref.`, `delegate never continues a conversation that exists.`}},
		{"refs are no targets, delegate", "delegate", []string{`An existing delegate goes on through delegate_send, never through delegate.`}},
		// clause: JC-045
		// clause: JC-056
		{"bounded frames", "job_watch", []string{`Deliver bounded frame/excerpt metadata when the watch condition is met.`}},
		// clause: JC-246
		{"observers", delegatesSection, []string{
			`a delegate with watch_parent=true that calls job_watch(source="parent"), without triggers for the default stream or with events/event_filter`}},
		// clause: JC-250
		{"observers' briefs", delegatesSection, []string{`narrow and frame-driven: which frame fields to read, what to do, when to stop`}},
		// clause: JC-252
		{"observed talk", delegatesSection, []string{`Clear long-lived session watches before a free-form conversation that should not be observed.`}},
		{"watches", "job_watch", []string{
			`When output/event/progress conditions happen`, `self, parent (granted to a delegate by watch_parent), your own dlg_..., or a job_... of yours or below you.`}},
		// clause: JC-046
		{"what a source takes", "job_watch", []string{
			`to the watcher that created the watch`, `A job_... takes output_match, progress_interval_ms and job.notification events; self, parent and dlg_... take events`}},
		// clause: JC-051 JC-638
		{"no watch of completion", "job_watch", []string{
			`When output/event/progress conditions happen, deliver a bounded watch notification/frame to the watcher that created the watch.`,
			`Not for completion: the end of a job or delegate is announced by itself.`}},
		{"no watch of completion, prompt", jobsSection, []string{`It is not for completion.`}},
		// clause: JC-005
		{"timers", "job_watch", []string{`Clear timers no longer needed; read retained evidence when a frame alone cannot answer.`}},
		// clause: JC-060
		{"what to watch", jobsSection, []string{
			`job_watch create with output_match for future output, progress_interval_ms for running jobs, after_seconds/repeat_seconds with a note to wake yourself`}},
		// clause: JC-352
		{"a future match", "read_transcript", []string{`Search is retrospective evidence; use job_watch(output_match=...) when a future match should wake you.`}},
		// clause: JC-247
		{"an observer's word", "delegate's communicate", []string{
			`end_turn=false is an update that the parent receives and may be woken by: send one only when the parent needs to know something or act`}},
		{"whole subtree", "job_stop", []string{`A delegate (dlg_...) is stopped with everything below it, always`}},
		{"ends", "communicate", []string{`end_turn=true is your final report and ends the turn; end_turn=false is a checkpoint`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := ""
			switch row.where {
			case jobsSection, delegatesSection:
				text = section(t, row.where)
			case "delegate's communicate":
				text = communicateDelegateText
			default:
				text = described(t, row.where)
			}
			for _, w := range row.words {
				if !strings.Contains(text, w) {
					t.Errorf("%s does not say: %s", row.where, w)
				}
			}
		})
	}
}

// The guidance stands in both places: in the descriptions, for a model that
// reads only the tool it calls, and under the prompt's heading.
//
// clause: JC-030
func TestGuidanceTwice(t *testing.T) {
	descriptions := ""
	for _, name := range names() {
		descriptions += described(t, name)
	}
	prompt := section(t, jobsSection)
	for _, words := range []string{
		`mode="foreground" is the default and returns inline output for quick commands`,
		`session-owned job`, `session-default wait`, `mode="detached"`, `returns only a PID`, `no job tools apply`,
		`<job-notification>`, `poll`, `read_transcript`, `transcript_ref="job:<job_id>"`,
		`deletes no output or history and acknowledges no result`, `to cancel or stop work`,
		`runtime_lost, run_timeout and stop_pending`, `Branch on status`,
	} {
		if !strings.Contains(descriptions, words) {
			t.Errorf("no description says: %s", words)
		}
		if !strings.Contains(prompt, words) {
			t.Errorf("the section %q does not say: %s", jobsSection, words)
		}
	}
}

// all is every text that the model is given.
func all(t *testing.T) map[string]string {
	texts := map[string]string{
		"the system prompt": SystemPrompt(Env{Allowance: 2}), "the communicate of a delegate": communicateDelegateText,
		"the prompt of a coordinator": SystemPrompt(Env{Delegate: true, Allowance: 1}), "the prompt of a leaf": SystemPrompt(Env{Delegate: true}),
	}
	for _, name := range names() {
		texts[name] = described(t, name)
	}
	return texts
}

// TestBannedPhrases: wording that trains bad habits. Where a text warns of
// one, the warning is listed here in full; anything else is found.
//
// clause: JC-052 JC-053 JC-054 JC-055
func TestBannedPhrases(t *testing.T) {
	banned := regexp.MustCompile(`(?i)` + strings.Join([]string{
		`subscri\w+`,
		`clean(s|ing)?[ -]?up`,
		`acknowledg\w*`,
		`(wait|block)(s|ing)? (for|until|till)`,
		`to wait`,
		`poll(s|ing)?\b`,
		`resumes? (an? |the )?(old|earlier|existing|previous)`,
		`idle[ -]policy`,
		`(prior|old|earlier|previous) agent`,
		`unbounded`,
		`free(s|ing)? (the )?(output|history)`,
		`job: reads? (a |the )?delegate`,
	}, "|"))
	warnings := []string{
		`there is nothing to call, so do not poll.`,
		`max_wait_ms then waits for its answer`,
		`wait so long for its answer`,
		`calling this in a loop is polling.`,
		`do not call it repeatedly to wait for completion`,
		`not as cleanup, not as acknowledgement.`,
		`not as cleanup or acknowledgement.`,
		`It deletes no output or history and acknowledges no result.`,
		`it consumes and acknowledges nothing.`,
		`do not poll this waiting for a job to finish.`,
		`Pick the call by intent, and do not poll.`,
		`Do not immediately wait, poll job_list or loop on job_status`,
	}
	met := map[string]bool{}
	for where, text := range all(t) {
		for _, w := range warnings {
			met[w] = met[w] || strings.Contains(text, w)
			text = strings.ReplaceAll(text, w, "")
		}
		if at := banned.FindStringIndex(text); at != nil {
			t.Errorf("%s: …%s…", where, text[max(0, at[0]-60):at[1]])
		}
	}
	for _, w := range warnings {
		if !met[w] {
			t.Errorf("no text says: %s", w)
		}
	}
}

// TestNamesOnlyExistingTools: a text that names a tool sends the model there.
func TestNamesOnlyExistingTools(t *testing.T) {
	known := []string{
		"delegate", "delegate_send", "job_watch", "job_status", "job_list", "job_stop", "job_kill", "job_ack", "wait_job", "close_agent",
		"read_transcript", "find_session_transcripts", "communicate", "ask_user", "shell", "read_file", "write_file", "edit_file", "web_fetch",
		"grep_search", "glob", "agent_id", "subagent",
	}
	word := regexp.MustCompile(`[a-z_]+`)
	for where, text := range all(t) {
		for _, w := range word.FindAllString(text, -1) {
			if slices.Contains(known, w) && !slices.Contains(names(), w) {
				t.Errorf("%s names %s", where, w)
			}
		}
	}
}
