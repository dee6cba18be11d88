// nodetimes runs a prompt through llama.cpp and tells what each node of its graph took, by the library's public callback.
//
//   nodetimes MODEL THREADS TOKENS WARM < ids
//
// Standard input holds the prompt's token ids, so that both engines compute the same. It decodes greedily TOKENS times, once
// without the callback and once with it, after WARM runs, and prints one line of JSON for each: the time of every decode pass,
// and with the callback, for every node, its name, its operation, which of the nodes of this name in a pass it is, how often it
// ran and the median of its times. A node's time is from the callback's question whether it is wanted to the answer that it is
// done; the threads are gathered anew for each.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "ggml.h"
#include "llama.h"

namespace {

long long now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct entry {
    std::string name, op;
    int nth;
    std::vector<long long> ns;
};

struct watch {
    bool on = false;      // in a decode pass that counts
    long long began = 0;
    std::map<std::string, int> seen;      // in this pass
    std::map<std::string, size_t> places; // in nodes
    std::vector<entry> nodes;
};

long long median(std::vector<long long> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

bool empty(enum ggml_op op) {  // nodes that compute nothing
    return op == GGML_OP_NONE || op == GGML_OP_VIEW || op == GGML_OP_RESHAPE || op == GGML_OP_PERMUTE || op == GGML_OP_TRANSPOSE;
}

bool eval(struct ggml_tensor * t, bool ask, void * data) {
    watch * w = (watch *) data;
    if (ask) {
        if (empty(t->op)) return false;  // runs with the next one
        w->began = now();
        return true;
    }
    const long long ns = now() - w->began;
    if (w->on) {
        const std::string what = std::string(t->name) + "|" + ggml_op_desc(t);
        const int nth = w->seen[what]++;
        const auto at = w->places.emplace(what + "|" + std::to_string(nth), w->nodes.size());
        if (at.second) w->nodes.push_back({t->name, ggml_op_desc(t), nth, {}});
        w->nodes[at.first->second].ns.push_back(ns);
    }
    return true;
}

void fail(const char * what) {
    fprintf(stderr, "nodetimes: %s\n", what);
    exit(1);
}

void run(llama_model * model, const std::vector<llama_token> & prompt, int threads, int tokens, int warm, bool timed) {
    watch w;
    llama_context_params p = llama_context_default_params();
    p.n_ctx = 2048;
    p.n_batch = p.n_ubatch = 512;
    p.n_threads = p.n_threads_batch = threads;
    p.no_perf = true;
    if (timed) {
        p.cb_eval = eval;
        p.cb_eval_user_data = &w;
    }
    llama_context * ctx = llama_init_from_model(model, p);
    if (!ctx) fail("wanted a context, found none");
    const int vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
    std::vector<long long> passes;
    std::string out;
    for (int k = 0; k <= warm; k++) {
        llama_memory_clear(llama_get_memory(ctx), true);
        w.on = false;
        std::vector<llama_token> in = prompt;
        for (int i = 0; i <= tokens; i++) {  // the prompt, then one pass a token
            w.on = k == warm && i > 0;
            w.seen.clear();
            const long long t = now();
            if (llama_decode(ctx, llama_batch_get_one(in.data(), (int) in.size())) != 0) fail("llama_decode failed");
            llama_synchronize(ctx);
            if (w.on) passes.push_back(now() - t);
            const float * logits = llama_get_logits_ith(ctx, -1);
            llama_token best = 0;
            for (int v = 1; v < vocab; v++) if (logits[v] > logits[best]) best = v;
            if (k == warm && i < tokens) out += (out.empty() ? "" : ",") + std::to_string(best);
            in.assign(1, best);
        }
    }
    printf("{\"timed\":%s,\"tokens\":[%s],\"passes\":[", timed ? "true" : "false", out.c_str());
    for (size_t i = 0; i < passes.size(); i++) printf("%s%lld", i ? "," : "", passes[i]);
    printf("],\"nodes\":[");
    for (size_t i = 0; i < w.nodes.size(); i++) {
        const entry & e = w.nodes[i];
        printf("%s{\"name\":\"%s\",\"op\":\"%s\",\"nth\":%d,\"calls\":%zu,\"ns\":%lld}", i ? "," : "", e.name.c_str(), e.op.c_str(), e.nth, e.ns.size(), median(e.ns));
    }
    printf("]}\n");
    fflush(stdout);
    llama_free(ctx);
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc != 5) fail("usage: nodetimes MODEL THREADS TOKENS WARM < ids");
    llama_log_set([](enum ggml_log_level, const char *, void *) {}, nullptr);
    std::vector<llama_token> prompt;
    for (int id; scanf("%d", &id) == 1;) prompt.push_back(id);
    if (prompt.empty()) fail("wanted token ids on standard input, found none");
    llama_backend_init();
    llama_model_params m = llama_model_default_params();
    m.n_gpu_layers = 0;
    m.use_extra_bufts = getenv("NODETIMES_REPACK") != nullptr;
    llama_model * model = llama_model_load_from_file(argv[1], m);
    if (!model) fail("the model does not load");
    for (bool timed : {false, true}) run(model, prompt, atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), timed);
    llama_model_free(model);
    return 0;
}
