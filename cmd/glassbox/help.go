package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

const description = "An LLM inference engine that you can see through. With no command it serves the model in the binary, and a page on which one chat request can be walked step by step with the arrow keys."

// examples come first in the help of each command.
var examples = map[string]string{
	"": `  glassbox                                          serve on http://127.0.0.1:8080
  glassbox --model FILE.gguf --addr :9000           another model, another address
  glassbox trace "Why is the sky blue?" -o sky.gbx  record one request
  glassbox model info FILE.gguf                     what is in a file`,
	"serve": `  glassbox serve
  glassbox serve --workshop                         for a room: an address, a QR code, pages that follow
  glassbox serve --addr 127.0.0.1:9000 --model FILE.gguf --traces ./recordings
  glassbox serve --upstream http://127.0.0.1:8000    a recording gateway before vLLM, SGLang or llama-server
  curl -s localhost:8080/v1/chat/completions -H 'X-Glassbox-Trace: 1' -d '{"messages":[{"role":"user","content":"Hi"}]}'`,
	"trace": `  glassbox trace "Why is the sky blue?" --temp 0 --max-tokens 48 -o sky.gbx
  echo "a long prompt" | glassbox trace - -o out.json
  glassbox trace --raw "Once upon a time" -o story.gbx
  python3 -c 'import json; r = json.load(open("out.json")); print(len(r["spans"]))'`,
	"export": `  glassbox export sky.gbx --to perfetto -o sky.perfetto.json
  glassbox export sky.gbx --to html -o sky.html
  glassbox export sky.gbx --view lens --to csv -o - | head
  glassbox export --to site -o public`,
	"import": `  glassbox import rank0.pt.trace.json.gz --engine vllm -o profile.gbx
  glassbox import spans.otlp.json --engine vllm
  glassbox import server.log --engine llamacpp -o times.json`,
	"attach": `  glassbox attach --engine vllm -o vllm.gbx -- python -m vllm.entrypoints.openai.api_server --model DIR
  glassbox attach --engine sglang -o sglang.gbx -- python -m sglang.launch_server --model-path DIR --sleep-on-idle
  glassbox attach --engine vllm --request chat.json --url http://127.0.0.1:9000 -o v.gbx -- python -m ... --port 9000
  glassbox attach --engine llamacpp -o llamacpp.gbx -- llama-server --model FILE.gguf   as root, on Linux
  glassbox attach --engine llamacpp --pid $(pidof llama-server) -o llamacpp.gbx`,
	"steps check": `  glassbox steps check vllm --src ~/src/vllm
  glassbox steps check vllm --src ~/src/vllm --write steps   then read the pages of what was renamed`,
	"roof": `  glassbox roof
  glassbox roof --threads 1 --json`,
	"model info": `  glassbox model info
  glassbox model info FILE.gguf --json`,
}

// helpWithExamples prints the examples, then what kong prints.
func helpWithExamples(o kong.HelpOptions, ctx *kong.Context) error {
	name := ""
	for n := ctx.Selected(); n != nil && n.Type == kong.CommandNode; n = n.Parent {
		name = strings.TrimSpace(n.Name + " " + name)
	}
	if text, ok := examples[name]; ok {
		fmt.Fprintf(ctx.Stdout, "Examples:\n%s\n\n", text)
	}
	return kong.DefaultHelpPrinter(o, ctx)
}
