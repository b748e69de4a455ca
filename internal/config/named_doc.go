package config

const providersDoc = `## Named providers

` + "`--model NAME/MODEL`" + ` asks a model server that the user's file names. The keys without a name set the ` + "`openai`" + ` provider; a named one
takes from them only what the table says. An address and a key always belong together: a stronger file that sets a NAME
again replaces it whole.

` + "```json" + `
{
  "model": "lab/qwen3-coder",
  "providers": {
    "lab": {
      "base_url": "https://models.lab.example/v1",
      "api_key_env": "LAB_KEY",
      "headers": {"X-Team": "core", "X-Gateway": "Token ${LAB_GATEWAY}"},
      "ca_file": "/etc/ssl/lab-ca.pem",
      "context_tokens": 32768
    },
    "ollama": {"base_url": "http://127.0.0.1:11434/v1", "models": ["qwen3-coder:30b"]}
  }
}
` + "```" + `

Values of headers are secrets: they are not printed, and not written anywhere else. So that they need not stand in the file,
` + "`${VARIABLE}`" + ` in one is replaced by that environment variable. A variable that the configuration names must be set when
the provider is used, and no command of a session gets it.
`

const execDoc = `## Commands as models

` + "`--model exec/NAME`" + ` runs a command for each reply; [exec-model.md](exec-model.md) has what it reads and writes.

` + "```json" + `
{"exec": {"mine": {"command": ["/home/me/bin/my-model", "--fast"], "key_env": ["MY_KEY"], "timeout_ms": 120000}}}
` + "```" + `

It runs in evener's working directory with evener's environment, less every variable that holds a key (OPENAI_API_KEY,
ANTHROPIC_API_KEY and what the configuration names) but those of its own key_env.
`
