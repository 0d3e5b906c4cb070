/* The outlines of a body's materials in pictures, from its shapes in a run's file, /body/shapes, or
 * its labels (output/labels.h). Measured fields have no materials. */
#ifndef HS_OUTPUT_PICTURES_OUTLINES_H
#define HS_OUTPUT_PICTURES_OUTLINES_H

#include "core/body.h"
#include "output/labels.h"
#include "output/pictures/file.h"

void hs_outlines_write(struct hs_h5 *h5, hid_t root, const struct hs_body *body);

struct hs_outlines {
    struct hs_solid *solid; /* [count] */
    int count;
    struct hs_label_plane labels; /* of the cut */
};

/* Reads the outlines of a file, for a picture of a plane or a line; none if the file has none.
 * Warns if its labels cannot be read. */
struct hs_outlines hs_outlines_read(const struct hs_picture_file *file, const struct hs_cut *cut,
                                    struct hs_error *err);
void hs_outlines_release(struct hs_outlines *outlines);

/* Number of the material of the last shape that covers a point; -1: none. */
int hs_outlines_material(const struct hs_outlines *outlines, int dims, const double at[HS_AXES]);

#endif
