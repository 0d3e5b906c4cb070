/*
 * Stands in for kernels/cuda/bulk.cuh: copies complete at once, stores as late as possible.
 */
#ifndef HS_EMULATOR_BULK_H
#define HS_EMULATOR_BULK_H

#include <map>
#include <vector>

namespace bulk
{

using spot = uintptr_t;
inline spot spot_of(const void *shared)
{
    return (spot)shared;
}
template <typename V>
V &value(spot s)
{
    return *(V *)s;
}
inline bool is_over(spot b, unsigned parity)
{
    return __mbarrier_try_wait_parity((barrier *)b, parity != 0, 0);
}
inline bool is_over(barrier *b, unsigned parity)
{
    return is_over(spot_of(b), parity);
}
inline uint64_t nanoseconds()
{
    return 0;
}
inline bool is_leader()
{
    return emulator_lane() == 0;
}
inline void pause()
{
}
inline void publish()
{
}
inline uint64_t policy(keep)
{
    return 0;
}
/* What a phase still waits for: bytes, and arrivals that take effect once the bytes are there. */
struct due {
    int64_t bytes;
    int arrivals;
};
inline std::map<barrier *, due> &missing()
{
    static std::map<barrier *, due> of;
    return of;
}
inline void after_loads()
{
}
inline void drain(barrier *b)
{
    for (due &d = missing()[b]; d.bytes == 0 && d.arrivals > 0; d.arrivals--)
        __mbarrier_arrive(b);
}
inline void arrive_with(barrier *b, unsigned bytes)
{
    due &d = missing()[b];
    d.bytes += bytes, d.arrivals++;
    drain(b);
}
inline void copy(void *to, const void *from, unsigned bytes, barrier *b, uint64_t)
{
    emulator_check_alignment(to, 16);
    emulator_check_alignment(from, 16);
    emulator_expect(bytes % 16 == 0, "a bulk copy of no multiple of 16 bytes");
    memcpy(to, from, bytes);
    missing()[b].bytes -= bytes;
    drain(b);
}

inline void copy(void *to, const void *from, unsigned bytes, barrier *b)
{
    copy(to, from, bytes, b, 0);
}
inline void arrive_with(spot b, unsigned bytes)
{
    arrive_with((barrier *)b, bytes);
}
inline void copy(spot to, const void *from, unsigned bytes, spot b)
{
    copy((void *)to, from, bytes, (barrier *)b, 0);
}
/* The stores that each thread has not awaited, in groups; executed as late as possible. */
struct stored {
    void *to;
    const void *from;
    unsigned bytes;
};
inline std::vector<std::vector<stored>> &stores()
{
    static std::map<unsigned, std::vector<std::vector<stored>>> of;
    auto &mine = of[threadIdx.x];
    if (mine.empty())
        mine.emplace_back();
    return mine;
}
inline void store(void *to, const void *from, unsigned bytes)
{
    emulator_check_alignment(to, 16);
    emulator_check_alignment(from, 16);
    emulator_expect(bytes % 16 == 0, "a bulk store of no multiple of 16 bytes");
    stores().back().push_back({to, from, bytes});
}
inline void store(void *to, spot from, unsigned bytes)
{
    store(to, (const void *)from, bytes);
}
inline void end_stores()
{
    stores().emplace_back();
}
template <int LEFT>
void await_stores()
{
    auto &groups = stores();
    while (groups.size() > LEFT + 1) {
        for (const stored &s : groups.front())
            memcpy(s.to, s.from, s.bytes);
        groups.erase(groups.begin());
    }
}

} // namespace bulk

#endif
