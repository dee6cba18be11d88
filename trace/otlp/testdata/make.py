"""Makes python.pb: what OpenTelemetry's Python exporter sends for a span as vLLM makes it (opentelemetry-sdk 1.45.2).

With an address as argument it sends the span there too, over gRPC or over HTTP:  make.py grpc|http URL TRACEPARENT
"""
import sys
import time

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
memory = InMemorySpanExporter()
exporter, now = memory, 1_767_323_045_000_000_000
if len(sys.argv) > 2:
    kind, url, parent = sys.argv[1:]
    if kind == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        exporter = OTLPSpanExporter(endpoint=url, insecure=True)
    else:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import Compression, OTLPSpanExporter
        exporter = OTLPSpanExporter(endpoint=url + "/v1/traces", compression=Compression.Gzip)
    now = time.time_ns()
provider = TracerProvider(resource=Resource({"service.name": "vllm", "vllm.process_id": "7"}))
provider.add_span_processor(SimpleSpanProcessor(exporter))
span = provider.get_tracer("vllm.llm_engine").start_span(
    "llm_request", kind=SpanKind.SERVER, start_time=now, context=TraceContextTextMapPropagator().extract({"traceparent": parent}),
    attributes={"gen_ai.latency.time_in_queue": 0.004, "gen_ai.latency.time_in_model_prefill": 0.010, "gen_ai.latency.time_in_model_decode": 0.020,
                "gen_ai.latency.time_to_first_token": 0.014, "gen_ai.latency.e2e": 0.035, "gen_ai.usage.prompt_tokens": 11,
                "gen_ai.usage.completion_tokens": 2, "gen_ai.request.id": "chatcmpl-1", "gen_ai.request.temperature": 0.5})
span.add_event("first", {"n": 1, "list": [1, 2], "yes": True}, timestamp=now + 14_000_000)
span.end(now + 35_000_000)
provider.shutdown()
if exporter is memory:
    open("python.pb", "wb").write(encode_spans(memory.get_finished_spans()).SerializeToString())
