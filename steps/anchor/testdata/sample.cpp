// void comment() { }
#include "x.h"
#define MACRO(x) do { if (x) { y(); } } while (0)
namespace a::b {
struct point { int x; int y; };
enum class kind { one, two };
static const int table[] = { 1, 2, 3 };
template <typename T, int N = 3>
static T twice(T x) { return x + x; }
class queue : public base<int> {
public:
    explicit queue(int n) : size{n}, buf(new int[n]{0}) {
        for (int i = 0; i < n; i++) { buf[i] = i; }
    }
    ~queue();
    int post(const std::string & s = "{", char c = '}') const noexcept {
        auto f = [&](int x) { return x; };
        return f(1'000);
    }
    bool operator==(const queue & o) const { return true; }
private:
    int size; int * buf;
};
queue::~queue() { delete[] buf; }
namespace {
int hidden(
    int a,
    int b
) {
    return R"(} { )" ? a : b;
}
}
#if defined(FAST)
int choose(int x) {
#else
int choose(int x, int y) {
#endif
    return x;
}
} // namespace a::b
extern "C" {
void c_function(void) {
}
}
std::vector<int> a::b::outside::method(std::function<void(int)> f) {
    return {};
}
int declared(int x);
