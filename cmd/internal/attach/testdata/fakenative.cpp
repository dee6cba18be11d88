// A small engine of machine code, for the tests of attach: a thread that answers HTTP, and one that makes the words.
#include <arpa/inet.h>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace fake {

struct task { int fd; int words; };

class queue {
    std::mutex m;
    std::condition_variable c;
    std::deque<task> tasks;
public:
    __attribute__((noinline)) void post(task t);
    __attribute__((noinline)) task take();
};

void queue::post(task t) {
    std::lock_guard<std::mutex> l(m);
    tasks.push_back(t);
    c.notify_one();
}

task queue::take() {
    std::unique_lock<std::mutex> l(m);
    c.wait(l, [&] { return !tasks.empty(); });
    task t = tasks.front();
    tasks.pop_front();
    return t;
}

template <typename T> __attribute__((noinline)) T layer(T x) { return x * 1.5f + (T)getpid(); }

struct node { char other[24]; char name[32]; };

__attribute__((noinline)) float op(float x, const node * n) { return x + (float)n->name[0]; }
__attribute__((noinline)) float pair(float x, int times, const node * n) { return x * (float)times + (float)n->name[0]; }

__attribute__((noinline)) float decode(int n) {
    static const node nodes[] = {{"", "mix-0"}, {"", "node_1"}, {"", "mix-1"}, {"", "out"}};
    float x = (float)n;
    for (int i = 0; i < 3; i++) x = layer<float>(x);
    for (const node & one : nodes) x = op(x, &one);
    return pair(x, n, &nodes[2]);
}

__attribute__((noinline)) void send_chunk(int fd, const std::string & s) {
    std::string line = "data: " + s + "\n\n";
    if (write(fd, line.data(), line.size()) < 0) perror("write");
}

void loop(queue & q) {
    for (;;) {
        task t = q.take();
        for (int i = 0; i < t.words; i++) {
            if (decode(i) < 0) abort();
            send_chunk(t.fd, "{\"id\":\"r\",\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"w \"}}]}");
        }
        send_chunk(t.fd, "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}");
        send_chunk(t.fd, "[DONE]");
        close(t.fd);
    }
}

}  // namespace fake

int main(int, char ** argv) {
    fake::queue q;
    std::thread worker([&] { fake::loop(q); });
    int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in a = {};
    a.sin_family = AF_INET;
    a.sin_port = htons((unsigned short)atoi(argv[1]));
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(s, (sockaddr *)&a, sizeof a) || listen(s, 8)) { perror("bind"); return 1; }
    for (;;) {
        int fd = accept(s, nullptr, nullptr);
        std::string in;
        char buf[4096];
        while (in.find("\r\n\r\n") == std::string::npos || (in[0] == 'P' && in.find("]") == std::string::npos)) {
            ssize_t n = read(fd, buf, sizeof buf);
            if (n <= 0) break;
            in.append(buf, (size_t)n);
        }
        const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        if (write(fd, head.data(), head.size()) < 0) perror("write");
        if (in[0] == 'P') q.post({fd, 4}); else close(fd);
    }
}
