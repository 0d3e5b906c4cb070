#include "core/slab.h"

enum hs_status hs_slab_read(const struct hs_slab *slab, const struct hs_stored *stored,
                            int64_t from, int64_t to, double *out, struct hs_error *err)
{
    const int64_t all = hs_stored_layers(stored), plane = hs_stored_plane(stored);
    enum hs_status st = HS_OK;
    for (int64_t k = from, count; k < to && !st; k += count) {
        const int64_t there = slab ? hs_slab_layer(slab, k) : k;
        count = to - k < all - there ? to - k : all - there;
        const struct hs_box box = hs_stored_box(stored, there, count);
        st = stored->read(stored, &box, out + (k - from) * plane, err);
    }
    return st;
}
