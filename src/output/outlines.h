/* Shapes of a body in a run's file, /body/shapes, from which pictures have the materials' outlines.
 * A body of labels or measured fields has none. */
#ifndef HS_OUTPUT_OUTLINES_H
#define HS_OUTPUT_OUTLINES_H

#include "core/body.h"
#include "output/h5.h"

void hs_outlines_write(struct hs_h5 *h5, hid_t root, const struct hs_body *body);

struct hs_outlines {
    struct hs_solid *solid; /* [count] */
    int count;
};

/* Those of a file; none where it has none. */
struct hs_outlines hs_outlines_read(hid_t file);
void hs_outlines_release(struct hs_outlines *outlines);

/* Place of the material at a point; -1: none. */
int hs_outlines_material(const struct hs_outlines *outlines, int dims, const double at[HS_AXES]);

#endif
